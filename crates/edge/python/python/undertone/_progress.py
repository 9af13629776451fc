"""Progress of runs and sweeps, in notebooks and terminals."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeVar, Union


@dataclass(frozen=True)
class RunProgress:
    """Progress of a run."""

    virtual_s: float
    end_s: float
    events: int
    deliveries: int


@dataclass(frozen=True)
class SweepProgress:
    """Progress of a sweep."""

    ended: int
    failed: int
    all: int


T = TypeVar("T", RunProgress, SweepProgress)
Asked = Union[bool, Callable[[T], object], None]


def _is_watched() -> bool:
    return "ipykernel" in sys.modules or "marimo" in sys.modules or sys.stderr.isatty()


@contextmanager
def shown(asked: Asked[T], what: str, unit: str, place: Callable[[T], tuple[float, float]]) -> Iterator[Callable[[T], None]]:
    """Yields what is to be called with each progress: the caller's function, or a bar of tqdm if somebody looks.

    ``place`` tells how far a progress is, and where the end is.
    """
    if callable(asked):
        report = asked
        yield lambda now: (report(now), None)[1]
        return
    bar = _bar(what, unit) if (asked or (asked is None and _is_watched())) else None
    if bar is None:
        yield lambda now: None
        return

    def update(now: T) -> None:
        bar.n, bar.total = place(now)
        bar.refresh()

    try:
        yield update
    finally:
        bar.close()


def _bar(what: str, unit: str) -> Any:
    try:
        from tqdm.auto import tqdm
    except ImportError:
        return None
    layout = "{l_bar}{bar}| {n:.1f}/{total:.1f} s [{elapsed}<{remaining}]" if unit == "s" else None
    return tqdm(total=1, desc=what, unit=f" {unit}", bar_format=layout, leave=False)
