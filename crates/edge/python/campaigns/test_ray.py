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
import undertone as ut
import undertone.ray


@pytest.fixture(scope="module", autouse=True)
def cluster() -> Iterator[None]:
    ray.init(num_cpus=3, include_dashboard=False, log_to_driver=False)
    yield
    ray.shutdown()


def parent(process: Path) -> int:
    """The parent of a process, from its status, in which its name may have spaces."""
    return int((process / "stat").read_text().rpartition(")")[2].split()[1])


def is_ours(process: Path) -> bool:
    """Whether a process was started by this one, directly or not."""
    while process.name not in ("0", "1"):
        if int(process.name) == os.getpid():
            return True
        process = process.parent / str(parent(process))
    return False


def workers() -> list[int]:
    """Worker processes that make a run; Ray names them after the function."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if b"ray::_rows" in (process / "cmdline").read_bytes() and is_ours(process):
                found.append(int(process.name))
        except OSError:
            continue
    return found


def kill_a_worker(killed: list[int]) -> None:
    """Kills the process of a run that is being made."""
    while not killed:
        time.sleep(0.05)
        for worker in workers()[:1]:
            os.kill(worker, signal.SIGKILL)
            killed.append(worker)


def test_a_killed_worker_loses_nothing(tmp_path: Path) -> None:
    sweep = ut.Sweep("paper-2kb", {"network.loss": [0.0, 0.01]}, seeds=6, set={"scenario.nodes": 300})
    killed: list[int] = []
    killer = threading.Thread(target=kill_a_worker, args=(killed,), daemon=True)
    killer.start()
    result = undertone.ray.run(sweep, out=tmp_path / "ray", progress=False)
    killer.join(timeout=1)
    assert len(killed) == 1
    assert (result.made, result.left, result.failures) == (12, 0, [])
    assert "12 of 12 runs, 12 of them made now" in str(result)
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
