"""One run of a scenario, and its results."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

from . import _native
from ._page import Page, as_text
from ._progress import Asked, RunProgress, shown
from ._scenario import Scenario


class Run:
    """Result of a run."""

    def __init__(self, scenario: Scenario, seed: int, native: _native.NativeRun) -> None:
        self.scenario = scenario
        """What was run."""
        self.seed = seed
        """Seed of the run."""
        self._native = native

    @cached_property
    def summary(self) -> dict[str, Any]:
        """All figures, as in ``summary.json``; docs/use/scenarios.md, Results, explains them."""
        summary: dict[str, Any] = json.loads(self._native.summary())
        return summary

    @property
    def latency_ms(self) -> dict[str, float] | None:
        """Latency of the counted deliveries: n, min, mean, p50, p75, p95, p99, max. None if there is none."""
        latency: dict[str, float] | None = self.summary["latency_ms"]
        return latency

    @property
    def trace_hash(self) -> str:
        """Hash over everything that happened: equal for equal scenario, seed and commit."""
        return str(self.summary["trace_hash"])

    @property
    def violations(self) -> list[str]:
        """Rules of the protocol that did not hold."""
        return list(self.summary["violations"])

    @cached_property
    def deliveries(self) -> _native.Table:
        """One row per delivery: message, publisher, receiver, from, hops, size_bytes, warm_up, sent_ns, received_ns, latency_ms."""
        return self._native.deliveries()

    @cached_property
    def messages(self) -> _native.Table:
        """One row per message: deliveries and their latency."""
        return self._native.messages()

    @cached_property
    def nodes(self) -> _native.Table:
        """One row per node: connections, copies, bytes, control entries by kind."""
        return self._native.nodes()

    @cached_property
    def copies(self) -> _native.Table:
        """One row per copy sent, if the run recorded ``copies``: message, fragment, from, to, hops, is_first, size_bytes,
        copy_bytes, warm_up, sent_ns, received_ns (null if it did not arrive)."""
        return self._recorded("copies")

    @cached_property
    def links(self) -> _native.Table:
        """One row per direction of a connection, if the run recorded ``links``: from, to, frames, bytes, messages, control."""
        return self._recorded("links")

    @cached_property
    def traffic(self) -> _native.Table:
        """One row per interval and kind, if the run recorded ``traffic``: from_ns, kind, sent, sent_bytes."""
        return self._recorded("traffic")

    def _recorded(self, name: str) -> _native.Table:
        table = self._native.dataset(name)
        if table is None:
            raise ValueError(f"this run did not record {name}; ut.run(..., record=[{name!r}]) does")
        return table

    def write(self, folder: str | os.PathLike[str]) -> None:
        """Writes ``summary.json``, ``deliveries.parquet`` and recorded datasets into a folder, as ``undertone sim --out``
        does."""
        self._native.write(folder)

    def html(self, path: str | os.PathLike[str] | None = None) -> Page:
        """The run in pictures; written to a file if one is named."""
        return html([self], path)

    def __str__(self) -> str:
        return self._native.text()

    def _repr_html_(self) -> str:
        return as_text(str(self))

    def __repr__(self) -> str:
        summary = self.summary
        made = f"{summary['delivered']} of {summary['expected']} deliveries"
        return f"<undertone.Run {self.scenario.name}, seed {self.seed}: {made}, trace {self.trace_hash[:12]}>"


def run(
    scenario: Scenario | str | os.PathLike[str] | Mapping[str, Any],
    *,
    seed: int = 1,
    set: Mapping[str, Any] | None = None,
    threads: int | None = None,
    progress: Asked[RunProgress] = None,
    record: Sequence[str] = (),
    record_every_ms: int | None = None,
) -> Run:
    """Runs a scenario in virtual time.

    ``scenario`` is a scenario, or what makes one; ``set`` are overrides by dotted key. The result does not depend on
    ``threads``, one per processor if not given. ``progress`` is True or False for a bar (by tqdm if it is installed; shown if
    somebody looks), or a function that is called with ``RunProgress`` several times a second. Ctrl-C, and an exception of
    that function, stop the run. Other threads of Python go on meanwhile. ``record`` names datasets, of ``"copies"``,
    ``"links"``, ``"nodes"`` and ``"traffic"``: the result has them as tables, and ``write`` writes them. The intervals of
    traffic are ``record_every_ms`` long, 1000 if not given.
    """
    chosen = Scenario(scenario, set=set)
    with shown(progress, f"{chosen.name}, seed {seed}", "s", lambda now: (now.virtual_s, now.end_s)) as report:
        native = _native.run(
            chosen._native, seed, threads, lambda *now: report(RunProgress(*now)), list(record), record_every_ms
        )
    return Run(chosen, seed, native)


def html(
    runs: Sequence[Run] | Mapping[str, Run],
    path: str | os.PathLike[str] | None = None,
) -> Page:
    """Draws runs over one another: distribution of latency, latency by hop and by message, bytes over time, tree of first
    deliveries. A mapping names them; otherwise scenario and seed do."""
    named = runs.items() if isinstance(runs, Mapping) else _names(runs)
    page = Page(_native.html([(name, one._native) for name, one in named]))
    if path is not None:
        page.save(path)
    return page


def _names(runs: Sequence[Run]) -> list[tuple[str, Run]]:
    """Names of runs by what differs between them."""
    if len({one.scenario for one in runs}) == 1:
        return [(f"seed {one.seed}", one) for one in runs]
    has_seeds = len({one.seed for one in runs}) > 1
    names = []
    for one in runs:
        changes = one.scenario._native.overrides
        name = f"{one.scenario.name} {', '.join(changes)}".strip()
        names.append((f"{name}, seed {one.seed}" if has_seeds else name, one))
    return names
