"""Closed forms, without a simulation."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from . import _native
from ._run import Run
from ._scenario import Scenario


@dataclass(frozen=True)
class Model:
    """Result of a closed form. Its text is what the command line prints."""

    values: dict[str, Any]
    """All numbers, as ``undertone model --json`` has them."""
    text: str
    """Tables for people."""

    def __getitem__(self, key: str) -> Any:
        return self.values[key]

    def __str__(self) -> str:
        return self.text


def model(
    scenario: Scenario | Run | str | os.PathLike[str] | Mapping[str, Any] | None = None,
    *,
    nodes: int = 1_000,
    degree: int = 6,
    size_bytes: int = 50_000,
    mbit_per_s: float = 100.0,
    one_way_ms: float = 75.0,
    generation_ms: float = 276.3,
    verification_ms: float = 4.5,
) -> Model:
    """Predicts latency in closed form.

    Of a scenario, from its parameters alone; of a run, with the mesh that it measured, beside its figures. Without either, the
    paper's equations 1 and 2, its Figure 2 and the formulas for large messages, for the parameters given.
    """
    if scenario is None:
        result = _native.formulas(nodes, degree, size_bytes, mbit_per_s, one_way_ms, generation_ms, verification_ms)
    elif isinstance(scenario, Run):
        result = _native.prediction(scenario.scenario._native, scenario._native)
    else:
        result = _native.prediction(Scenario(scenario)._native)
    return Model(json.loads(result[0]), result[1])
