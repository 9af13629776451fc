"""Draws every figure into a folder: ``python notebooks/all.py figures``."""

import sys
from pathlib import Path

import figure3
import large_messages
import table5

if __name__ == "__main__":
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else "figures")
    for notebook in (table5, figure3, large_messages):
        print(notebook.__name__, flush=True)
        notebook.draw(folder)
