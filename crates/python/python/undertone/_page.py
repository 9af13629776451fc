"""Pages that draw runs."""

from __future__ import annotations

import os
from html import escape
from pathlib import Path


class Page(str):
    """An HTML page without scripts or files beside it. A notebook shows it."""

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Writes the page to a file."""
        Path(path).write_text(self, encoding="utf-8")
        return Path(path)

    def _repr_html_(self) -> str:
        return f'<iframe srcdoc="{escape(self)}" style="width: 100%; height: 60em; border: 0"></iframe>'
