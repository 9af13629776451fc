"""Pages that draw runs."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from html import escape
from pathlib import Path


def as_table(title: str, header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A table for a notebook."""
    lines = "".join(f"<tr>{''.join(f'<td>{escape(str(cell))}</td>' for cell in row)}</tr>" for row in rows)
    head = "".join(f"<th>{escape(name)}</th>" for name in header)
    return f"<table><caption>{escape(title)}</caption><thead><tr>{head}</tr></thead><tbody>{lines}</tbody></table>"


def as_text(text: str) -> str:
    """A text for a notebook, its lines as they are."""
    return f"<pre>{escape(text)}</pre>"


class Page(str):
    """An HTML page without scripts or files beside it. A notebook shows it."""

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Writes the page to a file."""
        Path(path).write_text(self, encoding="utf-8")
        return Path(path)

    def _repr_html_(self) -> str:
        return f'<iframe srcdoc="{escape(self)}" style="width: 100%; height: 60em; border: 0"></iframe>'
