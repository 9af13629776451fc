"""Look of the figures: sizes, fonts and colours of a paper, and where files go."""

from functools import cache
from pathlib import Path
from typing import Any

import altair as alt
import polars as pl
import undertone as ut

PUBLISHED = Path(__file__).resolve().parents[3] / "lab/lab/published"
"""Folder of the published figures, with their sources in its README."""

COLOURS = {"published": "#000000", "Undertone": "#0072b2"}
"""Two of the colours of Okabe and Ito, which readers with any colour vision tell apart."""

SIZES = {"2 KB": "paper-2kb", "25 KB": "paper-25kb", "100 KB": "paper-100kb", "500 KB": "paper-500kb"}
"""The paper's four message sizes with their scenarios."""


@cache
def run(scenario: str) -> ut.Run:
    """A run that several figures need."""
    return ut.run(scenario)


def published(name: str) -> pl.DataFrame:
    """A table of published figures."""
    return pl.read_csv(PUBLISHED / f"{name}.csv")


def save(chart: Any, folder: Path, name: str) -> None:
    """Writes a chart as PDF for a paper, with its fonts, and as PNG for a look."""
    font = "Liberation Sans, Arial, Helvetica, DejaVu Sans, sans-serif"
    chart = chart.configure(font=font, background="white").configure_view(stroke=None)
    chart = chart.configure_axis(titleFontWeight="normal", gridColor="#dddddd", labelFontSize=10, titleFontSize=11)
    chart = chart.configure_legend(labelFontSize=10, title=None, orient="top")
    chart = chart.configure_header(labelFontSize=11, titleFontSize=11, labelFontWeight="bold")
    folder.mkdir(parents=True, exist_ok=True)
    chart.save(folder / f"{name}.pdf")
    chart.save(folder / f"{name}.png", scale_factor=2)


def colour() -> Any:
    """Colour by who measured."""
    return alt.Color("source:N").scale(domain=list(COLOURS), range=list(COLOURS.values()))
