"""Scenarios: what is run."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from typing import Any

from ._native import NativeScenario, built_in
from ._page import as_table
from ._toml import overrides, plain


class Parameters(Mapping[str, Any]):
    """One table of a scenario, to be read as attributes or by key: ``scenario.network.loss``."""

    __slots__ = ("_name", "_origins", "_values")

    def __init__(self, name: str, values: Mapping[str, Any], origins: Mapping[str, Any]) -> None:
        object.__setattr__(self, "_name", name)
        object.__setattr__(self, "_values", values)
        object.__setattr__(self, "_origins", origins)

    def __getattr__(self, key: str) -> Any:
        values: Mapping[str, Any] = object.__getattribute__(self, "_values")
        if key in values:
            return self[key]
        raise AttributeError(_no_such(self._name, key, values))

    def __setattr__(self, key: str, value: Any) -> None:
        raise AttributeError(_cannot_be_set(f"{self._name}.{key}", value))

    def __getitem__(self, key: str) -> Any:
        value = self._values[key]
        if isinstance(value, Mapping):
            return Parameters(f"{self._name}.{key}", value, self._origins.get(key, {}))
        return value

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self._values]

    def origin(self, key: str) -> str:
        """Where the value of a key comes from: file and line, override, or default."""
        return str(self._origins[key])

    def __repr__(self) -> str:
        rows = "\n".join(f"  {key} = {value!r}  # {self._origins.get(key)}" for key, value in self._values.items())
        return f"[{self._name}]\n{rows}"


class Scenario:
    """A network, its protocol parameters, its traffic and its faults. It never changes: ``set`` returns another one.

    ``source`` is the name of a built-in scenario (``undertone.scenarios()`` lists them), the path of a file, a dict with the
    content of a file, or another scenario. ``set`` are overrides by dotted key; None takes a key away. Every parameter can be
    read as an attribute: ``scenario.network.loss``.
    """

    cpu: Parameters
    faults: list[dict[str, Any]]
    network: Parameters
    relay: Parameters
    rln: Parameters
    scenario: Parameters
    services: Parameters
    topology: Parameters
    traffic: Parameters

    _native: NativeScenario
    _resolved: dict[str, Any]

    def __init__(
        self,
        source: str | os.PathLike[str] | Mapping[str, Any] | Scenario,
        *,
        set: Mapping[str, Any] | None = None,
        name: str | None = None,
    ) -> None:
        changes = overrides(set)
        if isinstance(source, Scenario):
            native = source._native.with_overrides(changes)
        elif isinstance(source, Mapping):
            content = json.dumps(plain(source))
            native = NativeScenario.given(content, name or "custom", os.getcwd(), changes)
        else:
            native = NativeScenario.named(os.fspath(source), changes)
        self._take(native)

    def _take(self, native: NativeScenario) -> None:
        object.__setattr__(self, "_native", native)
        object.__setattr__(self, "_resolved", json.loads(native.resolved()))

    @classmethod
    def _of(cls, native: NativeScenario) -> Scenario:
        scenario = cls.__new__(cls)
        scenario._take(native)
        return scenario

    def set(self, changes: Mapping[str, Any] | str, value: Any = None) -> Scenario:
        """The scenario with changes: ``set("network.loss", 0.01)`` or ``set({"network.loss": 0.01, "relay.d": 7})``.

        None takes a key away. Raises ``ScenarioError`` for a key that does not exist or a value that is not allowed.
        """
        changes = {changes: value} if isinstance(changes, str) else changes
        return Scenario._of(self._native.with_overrides(overrides(changes)))

    @property
    def name(self) -> str:
        """Name of the scenario."""
        return self._native.name

    @property
    def description(self) -> str:
        """Description in one line."""
        return self._native.description

    @property
    def hash(self) -> str:
        """SHA-256 over every parameter: what means the same has the same hash."""
        return self._native.hash

    @property
    def parameters(self) -> dict[str, Any]:
        """Every parameter, defaults included, in the form of a scenario file."""
        return dict(self._resolved["parameters"])

    @property
    def estimated_bytes(self) -> int:
        """Memory that a run will take, bytes, as far as it can be told beforehand."""
        return self._native.estimated_bytes

    def __getattr__(self, table: str) -> Any:
        if table.startswith("_"):
            raise AttributeError(table)
        tables = self._resolved["parameters"]
        if table not in tables:
            raise AttributeError(_no_such("", table, tables))
        return self._table(table)

    def _table(self, table: str) -> Any:
        values = self._resolved["parameters"][table]
        if isinstance(values, dict):
            return Parameters(table, values, self._resolved["from"].get(table, {}))
        return values

    def __setattr__(self, key: str, value: Any) -> None:
        raise AttributeError(_cannot_be_set(key, value))

    def __getitem__(self, key: str) -> Any:
        """The value of a dotted key: ``scenario["network.loss"]``."""
        at: Any = self._resolved["parameters"]
        for part in key.split("."):
            try:
                at = at[int(part)] if isinstance(at, list) else at[part]
            except (KeyError, IndexError, TypeError, ValueError):
                raise KeyError(key) from None
        return at

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self._resolved["parameters"]]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Scenario) and (self.name, self.hash) == (other.name, other.hash)

    def __hash__(self) -> int:
        return hash((self.name, self.hash))

    def __repr__(self) -> str:
        changes = "".join(f", {change}" for change in self._native.overrides)
        return f"<undertone.Scenario {self.name}{changes}: {self.scenario.nodes} nodes, {self.traffic.messages} messages>"

    def _repr_html_(self) -> str:
        given = _given(self._resolved["parameters"], self._resolved["from"])
        return as_table(f"{self.name}: {self.description}", ["key", "value", "from"], given)

    def __reduce__(self) -> tuple[Any, ...]:
        return _restore, (*self._native.state(), self._native.overrides)


def _restore(is_resolved: bool, content: str, name: str, folder: os.PathLike[str], changes: list[str]) -> Scenario:
    if is_resolved:
        return Scenario._of(NativeScenario.from_resolved(content, name, changes))
    return Scenario._of(NativeScenario.given(content, name, folder, changes))


def _given(values: Mapping[str, Any], origins: Any, above: str = "") -> Iterator[tuple[str, Any, Any]]:
    """Parameters that are not defaults, each with its origin."""
    for key, value in values.items():
        origin = origins[key] if isinstance(origins, Mapping) and key in origins else origins
        if isinstance(value, Mapping):
            yield from _given(value, origin, f"{above}{key}.")
        elif isinstance(origin, list):
            for at, item in enumerate(value):
                yield from _given(item, origin[at], f"{above}{key}.{at}.")
        elif origin != "default":
            yield above + key, value, origin


def scenarios() -> dict[str, str]:
    """The built-in scenarios, each with its description."""
    return {name: Scenario(name).description for name, _ in built_in()}


def _no_such(table: str, key: str, known: Mapping[str, Any]) -> str:
    name = f"{table}.{key}" if table else key
    close = get_close_matches(key, list(known), 1)
    hint = f"did you mean {close[0]!r}?" if close else f"there are {', '.join(known)}"
    return f"the scenario has no {name}; {hint}"


def _cannot_be_set(key: str, value: Any) -> str:
    return f"scenarios do not change; another one is had by scenario.set({key!r}, {value!r})"
