"""Sweeps on a Ray cluster.

    import ray, undertone as ut, undertone.ray

    ray.init("auto")
    result = undertone.ray.run(ut.Sweep("paper-2kb", {"network.loss": [0.0, 0.01]}, seeds=100), out="results")

Each run is a task. A task whose worker dies is made again, and rows are kept in the folder as they come: what was stopped goes
on with the same call. Workers need this package, and no files.
"""

from __future__ import annotations

import os
from typing import Any

import ray as _ray

from . import _native
from ._progress import Asked, SweepProgress, shown
from ._sweep import Sweep, SweepResult

__all__ = ["run"]


def _rows(resolved: str, name: str, seed: int) -> bytes:
    """Makes one run, on a worker."""
    scenario = _native.NativeScenario.from_resolved(resolved, name, [])
    return _native.run(scenario, seed, 1).rows()


def run(
    sweep: Sweep,
    *,
    out: str | os.PathLike[str] | None = None,
    retries: int = 5,
    in_flight: int | None = None,
    progress: Asked[SweepProgress] = None,
    **options: Any,
) -> SweepResult:
    """Makes the runs that are not in the folder ``out`` yet, and sums up what is there.

    ``retries`` is how often a run is made again whose worker died; ``in_flight`` how many runs wait or are made at a time,
    four for each processor of the cluster if not given; ``options`` are those of ``ray.remote``, such as ``memory``.
    """
    task = _ray.remote(**{"num_cpus": 1, "max_retries": retries, **options})(_rows)
    folder = sweep.folder(out)
    missing = sweep._native.missing(folder)
    at_once = in_flight or 4 * max(1, int(_ray.cluster_resources().get("CPU", 1)))
    waiting = iter(missing)
    scenarios: dict[int, tuple[Any, str]] = {}
    made_by: dict[Any, tuple[str, int, int]] = {}
    failed: list[tuple[int, int, str]] = []
    ended = 0

    def begin() -> None:
        for name, point, seed in waiting:
            if point not in scenarios:
                native = sweep._native.scenario(point)
                scenarios[point] = (_ray.put(native.resolved()), native.name)
            made_by[task.remote(*scenarios[point], seed)] = (name, point, seed)
            if len(made_by) >= at_once:
                return

    with shown(progress, sweep.name, "runs", lambda now: (now.ended, now.all)) as report:
        try:
            begin()
            while made_by:
                ready, _ = _ray.wait(list(made_by), num_returns=1)
                name, point, seed = made_by.pop(ready[0])
                try:
                    sweep._native.keep(folder, name, _ray.get(ready[0]))
                except _ray.exceptions.RayError as error:
                    failed.append((point, seed, str(error)))
                ended += 1
                report(SweepProgress(ended, len(failed), len(missing)))
                begin()
        finally:
            for left in made_by:
                _ray.cancel(left, force=True)
    return sweep._collect(folder, ended - len(failed), failed)
