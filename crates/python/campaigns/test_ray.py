"""A sweep on a local Ray cluster of three worker processes, one of which is killed in the middle."""

import os
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import polars as pl
import pytest
import ray
import ray.util.state
import undertone as ut
import undertone.ray


@pytest.fixture(scope="module", autouse=True)
def cluster() -> Iterator[None]:
    ray.init(num_cpus=3, include_dashboard=True, log_to_driver=False)
    yield
    ray.shutdown()


def kill_a_worker(killed: list[int]) -> None:
    """Kills the process of a run that is being made."""
    while not killed:
        time.sleep(0.2)
        for task in ray.util.state.list_tasks(filters=[("state", "=", "RUNNING")], detail=True):
            if task.worker_pid:
                os.kill(task.worker_pid, signal.SIGKILL)
                killed.append(task.worker_pid)
                return


def test_a_killed_worker_loses_nothing(tmp_path: Path) -> None:
    sweep = ut.Sweep("paper-2kb", {"network.loss": [0.0, 0.01]}, seeds=6, set={"scenario.nodes": 300})
    killed: list[int] = []
    killer = threading.Thread(target=kill_a_worker, args=(killed,), daemon=True)
    killer.start()
    result = undertone.ray.run(sweep, out=tmp_path / "ray", progress=False)
    killer.join(timeout=1)
    assert len(killed) == 1
    assert (result.made, result.left, result.failures) == (12, 0, [])
    here = sweep.run(out=tmp_path / "here", progress=False)
    assert len(here.files) == 12
    for one, other in zip(result.files, here.files, strict=True):
        assert pl.read_parquet(one).equals(pl.read_parquet(other))
        assert one.read_bytes() == other.read_bytes()


def test_what_is_there_is_not_run_again(tmp_path: Path) -> None:
    sweep = ut.Sweep("small", {"network.loss": [0.0, 0.01]}, seeds=2)
    assert sweep.run(out=tmp_path, shard=(1, 2), progress=False).made == 2
    seen: list[ut.SweepProgress] = []
    assert undertone.ray.run(sweep, out=tmp_path, in_flight=1, progress=seen.append).made == 2
    assert [now.ended for now in seen] == [1, 2]
