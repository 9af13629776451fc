"""Values of Python as TOML, in which the laboratory reads its keys."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any


def value_text(value: Any) -> str:
    """The TOML of a value: texts, numbers, truths, lists and tables, those of NumPy included."""
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return repr(value)
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, Mapping):
        inner = ", ".join(f"{json.dumps(str(key))} = {value_text(item)}" for key, item in value.items())
        return f"{{ {inner} }}"
    if isinstance(value, Iterable):
        return f"[{', '.join(value_text(item) for item in value)}]"
    raise TypeError(f"{value!r} is no value of a scenario: expected text, number, bool, list or dict")


def overrides(values: Mapping[str, Any] | None) -> list[str]:
    """Overrides as the command line takes them; None takes a key away."""
    return [f"{key}=" if value is None else f"{key}={value_text(value)}" for key, value in (values or {}).items()]


def plain(value: Any, key: str = "") -> Any:
    """The same content as plain dicts, lists and numbers."""
    if hasattr(value, "tolist"):
        value = value.tolist()
    if value is None:
        raise TypeError(f"{key or 'the scenario'} is None: leave the key out")
    if isinstance(value, Mapping):
        return {str(name): plain(item, f"{key}.{name}" if key else str(name)) for name, item in value.items()}
    if isinstance(value, (str, bool, int, float)):
        return value
    if isinstance(value, Iterable):
        return [plain(item, f"{key}.{at}") for at, item in enumerate(value)]
    raise TypeError(f"{key} = {value!r}: expected text, number, bool, list or dict")
