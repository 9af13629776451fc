"""Sweeps: one scenario over values of its keys and over seeds."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from . import _native
from ._page import Page, as_table, as_text
from ._progress import Asked, SweepProgress, shown
from ._scenario import Scenario
from ._toml import overrides, value_text


_SHOWN = 50
"""Points that a notebook shows."""


def span(
    start: float,
    stop: float,
    steps: int | None = None,
    *,
    scale: str = "linear",
    whole: bool | None = None,
) -> dict[str, Any]:
    """Range of values of a key, both ends included: ``steps`` of them in a grid, any of them in a sample."""
    values: dict[str, Any] = {"from": start, "to": stop, "scale": scale}
    if steps is not None:
        values["steps"] = steps
    if whole is not None:
        values["whole"] = whole
    return values


@dataclass(frozen=True)
class FailedRun:
    """A run that could not be made, violated a rule, or delivered nothing."""

    seed: int
    why: str
    replay: str
    """Command line that repeats the run."""


class SweepResult:
    """What is in the folder of a sweep."""

    def __init__(self, folder: Path, native: _native.SweepOutcome) -> None:
        self.folder = folder
        """Folder with a file of rows for each run, and with the table, ``sweep.csv``."""
        self._native = native
        self.runs_expected, self.made, self.left = native.counts
        self.failures = [FailedRun(*failure) for failure in native.failures]
        """Runs that failed."""

    @cached_property
    def points(self) -> _native.Table:
        """One row per point: its values, runs, and medians over seeds with 95 % bands (``p50_ms``, ``p50_ms_low``, ...)."""
        return self._native.points()

    @cached_property
    def runs(self) -> _native.Table:
        """One row per run: the values of its point, seed, figures, and the file with its deliveries."""
        return self._native.runs()

    @property
    def files(self) -> list[Path]:
        """Files with the deliveries of every run, for ``polars.scan_parquet`` and the like."""
        return self._native.files

    def html(self, path: str | os.PathLike[str] | None = None) -> Page:
        """The figures over the values of the keys in pictures; written to a file if one is named."""
        page = Page(self._native.html(self.folder.name))
        if path is not None:
            page.save(path)
        return page

    def __str__(self) -> str:
        return self._native.text()

    def _repr_html_(self) -> str:
        return as_text(str(self))

    def __repr__(self) -> str:
        there = self.runs_expected - self.left
        return f"<undertone.SweepResult in {self.folder}: {there} of {self.runs_expected} runs, {len(self.failures)} failed>"


class Sweep:
    """Points of a sweep and its seeds.

    Either ``Sweep("loss.toml")``, a file as docs/use/scenarios.md describes it, or a scenario with ``keys``: a list of values or a
    ``span`` for each dotted key. What has to change together is a list of variants, each with a name:

        import undertone

        undertone.Sweep("small", {"mesh": [{"name": "thin", "relay.d": 4, "relay.d_out": 2}, {"name": "thick", "relay.d": 8}]})

    ``seeds`` is a number of seeds, a list, or a text such as "1..10". ``sample`` is "grid",
    "random" or "latin-hypercube", the latter two with ``points``.
    """

    def __init__(
        self,
        scenario: Scenario | str | os.PathLike[str] | Mapping[str, Any],
        keys: Mapping[str, Any] | None = None,
        *,
        seeds: int | str | Iterable[int] = 1,
        set: Mapping[str, Any] | None = None,
        sample: str = "grid",
        points: int | None = None,
        sample_seed: int | None = None,
    ) -> None:
        if keys is None:
            if not isinstance(scenario, (str, os.PathLike)):
                raise TypeError("a sweep of a scenario needs keys: {'network.loss': [0.0, 0.01]}")
            path = os.path.abspath(os.fspath(scenario))
            self._made_of: tuple[Any, ...] = (path,)
            self.name = Path(path).stem
            self._native = _native.NativeSweep.load(path)
            return
        chosen = Scenario(scenario, set=set)
        lines = ["[sweep]", f"scenario = {value_text(chosen.name)}", f"seeds = {value_text(_seeds(seeds))}"]
        lines.append(f"sample = {value_text(sample)}")
        lines += [f"points = {points}"] if points is not None else []
        lines += [f"sample_seed = {sample_seed}"] if sample_seed is not None else []
        lines += ["[keys]", *overrides({key: _values(values) for key, values in keys.items()})]
        self._made_of = (chosen, "\n".join(lines))
        self.name = chosen.name
        self._native = _native.NativeSweep.over(chosen._native, self._made_of[1])

    def __len__(self) -> int:
        """Number of runs."""
        return len(self._native)

    def __reduce__(self) -> tuple[Any, ...]:
        return _restore, self._made_of

    def __repr__(self) -> str:
        return f"<undertone.Sweep of {self.name} over {', '.join(self._native.keys)}: {len(self)} runs>"

    def _repr_html_(self) -> str:
        points = self._native.points
        shown = f", the first {_SHOWN}" if len(points) > _SHOWN else ""
        title = f"{self.name}: {len(points)} points{shown}, {len(self)} runs"
        return as_table(title, self._native.keys, points[:_SHOWN])

    def folder(self, out: str | os.PathLike[str] | None = None) -> Path:
        """Folder of the results, ``sweep-results/NAME`` if none is named."""
        return Path(out) if out is not None else Path("sweep-results") / self.name

    def run(
        self,
        *,
        out: str | os.PathLike[str] | None = None,
        threads: int | None = None,
        shard: tuple[int, int] | None = None,
        progress: Asked[SweepProgress] = None,
    ) -> SweepResult:
        """Makes the runs that are not in the folder ``out`` yet, ``threads`` at a time, and sums up what is there.

        What was stopped goes on with the same call. ``shard`` is (number, of) for one of several machines.
        """
        folder = self.folder(out)
        with shown(progress, self.name, "runs", lambda now: (now.ended, now.all)) as report:
            native = self._native.run(folder, threads, shard, lambda *now: report(SweepProgress(*now)))
        return SweepResult(folder, native)

    def collect(self, out: str | os.PathLike[str] | None = None) -> SweepResult:
        """Sums up what is in the folder, and runs nothing."""
        return self._collect(self.folder(out), 0, [])

    def _collect(self, folder: Path, made: int, failed: list[tuple[int, int, str]]) -> SweepResult:
        return SweepResult(folder, self._native.collect(folder, made, failed))


def _restore(made_of: Any, text: str | None = None) -> Sweep:
    if text is None:
        return Sweep(made_of)
    sweep = Sweep.__new__(Sweep)
    sweep._made_of = (made_of, text)
    sweep.name = made_of.name
    sweep._native = _native.NativeSweep.over(made_of._native, text)
    return sweep


def _values(values: Any) -> Any:
    """Values of a key; None takes a key of a variant away, which is an empty text in the file."""
    if not isinstance(values, (list, tuple)):
        return values
    return [
        {key: "" if value is None else value for key, value in item.items()} if isinstance(item, Mapping) else item
        for item in values
    ]


def _seeds(seeds: int | str | Iterable[int]) -> str:
    if isinstance(seeds, str):
        return seeds
    if isinstance(seeds, int):
        return f"1..{seeds}"
    return ",".join(str(seed) for seed in seeds)


def sweep(
    scenario: Scenario | str | os.PathLike[str] | Mapping[str, Any],
    keys: Mapping[str, Any] | None = None,
    *,
    seeds: int | str | Iterable[int] = 1,
    set: Mapping[str, Any] | None = None,
    sample: str = "grid",
    points: int | None = None,
    sample_seed: int | None = None,
    out: str | os.PathLike[str] | None = None,
    threads: int | None = None,
    progress: Asked[SweepProgress] = None,
) -> SweepResult:
    """Runs a scenario over values of its keys and over seeds: ``Sweep(...).run(...)`` in one call.

        import undertone

        undertone.sweep("small", {"relay.d": [6, 7, 8], "network.loss": undertone.span(0, 0.05, 6)}, seeds=10)

    What is in the folder ``out`` already is not run again.
    """
    made = Sweep(scenario, keys, seeds=seeds, set=set, sample=sample, points=points, sample_seed=sample_seed)
    return made.run(out=out, threads=threads, progress=progress)
