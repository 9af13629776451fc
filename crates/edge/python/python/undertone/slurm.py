"""Sweeps on Slurm, by submitit.

    import undertone as ut, undertone.slurm

    sweep = ut.Sweep("paper-2kb", {"network.loss": [0.0, 0.01]}, seeds=100)
    result = undertone.slurm.run(sweep, out="/shared/results", jobs=20, slurm_partition="cpu", cpus_per_task=8)

The sweep is divided among the jobs of an array. All of them write into the folder ``out``, which every machine must see, and what
is there is not made again: after a job was killed, the same call makes the rest.
"""

from __future__ import annotations

import os
from typing import Any

import submitit

from ._sweep import Sweep, SweepResult

__all__ = ["run", "submit"]


def _part(sweep: Sweep, out: str, number: int, of: int) -> int:
    """Makes the runs of one job."""
    return sweep.run(out=out, shard=(number, of), progress=False).made


def submit(
    sweep: Sweep,
    *,
    out: str | os.PathLike[str],
    jobs: int,
    logs: str | os.PathLike[str] = "slurm-logs",
    cluster: str | None = None,
    **parameters: Any,
) -> list[Any]:
    """Submits an array of jobs, and returns them without waiting; ``sweep.collect(out)`` sums up what is there.

    ``parameters`` are those of submitit, such as ``slurm_partition``, ``cpus_per_task`` and ``timeout_min``. ``cluster`` is
    "local" for processes of this machine.
    """
    executor = submitit.AutoExecutor(folder=os.fspath(logs), cluster=cluster)
    executor.update_parameters(**parameters)
    folder = os.path.abspath(os.fspath(out))
    numbers = list(range(1, jobs + 1))
    submitted: list[Any] = executor.map_array(_part, [sweep] * jobs, [folder] * jobs, numbers, [jobs] * jobs)
    return submitted


def run(sweep: Sweep, *, out: str | os.PathLike[str], jobs: int, **parameters: Any) -> SweepResult:
    """Submits an array of jobs as ``submit`` does, waits for all of them, and sums up what is there.

    A job that failed raises its exception, after all others have ended.
    """
    submitted = submit(sweep, out=out, jobs=jobs, **parameters)
    failed = [error for error in (job.exception() for job in submitted) if error is not None]
    if failed:
        raise failed[0]
    return sweep._collect(sweep.folder(out), sum(job.result() for job in submitted), [])
