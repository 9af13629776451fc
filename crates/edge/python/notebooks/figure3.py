# %% [markdown]
# # Figure 3: deliveries by latency
#
# Deliveries of nine messages to 999 nodes in intervals of 40 ms, simulated here. Above each histogram, the distribution in the
# paper's raw logs: a thin line from the least to the largest latency, a thick one from the 5th to the 95th percentile, a box
# between the quartiles, and the median.

# %%
from pathlib import Path

import altair as alt
import polars as pl
from style import SIZES, colour, published, run, save

WIDTH_MS = 40
PLOT_WIDTH = 420

# %% [markdown]
# ## The runs, and the published percentiles


# %%
def deliveries() -> pl.DataFrame:
    """Latency of every delivery that counts."""
    frames = []
    for size, scenario in SIZES.items():
        frame = pl.DataFrame(run(scenario).deliveries).filter(~pl.col("warm_up"))
        frames.append(frame.select(pl.lit(size).alias("size"), "latency_ms"))
    return pl.concat(frames)


def percentiles() -> pl.DataFrame:
    """Published percentiles of the same distributions, one row per size."""
    names = pl.DataFrame({"scenario": list(SIZES.values()), "size": list(SIZES)})
    return published("paper_runs").join(names, on="scenario").with_columns(pl.lit("published").alias("source"))


# %% [markdown]
# ## Four histograms over one another


# %%
def histogram(counted: pl.DataFrame, x: alt.X) -> alt.Chart:
    """Bars of the simulated deliveries."""
    return (
        alt.Chart(counted)
        .mark_bar(binSpacing=0)
        .encode(x=x, x2="to_ms:Q", y=alt.Y("deliveries:Q").axis(minExtent=36, tickCount=4), color=colour())
    )


def strip(paper: pl.DataFrame) -> alt.LayerChart:
    """The published distribution, above the plot."""
    base = alt.Chart(paper).encode(y=alt.value(-9), color=colour())
    whole = base.mark_rule(strokeWidth=1).encode(x="min:Q", x2="max:Q")
    most = base.mark_rule(strokeWidth=3.5).encode(x="p5:Q", x2="p95:Q")
    box = base.mark_bar(height=10).encode(x="p25:Q", x2="p75:Q")
    median = base.mark_tick(thickness=1.5, height=10).encode(x="p50:Q", color=alt.value("white"))
    return whole + most + box + median


def draw(folder: Path) -> None:
    """Writes the figure."""
    bins = deliveries().with_columns((pl.col("latency_ms") // WIDTH_MS * WIDTH_MS).alias("from_ms"))
    counted = bins.group_by("size", "from_ms").len("deliveries").sort("size", "from_ms")
    counted = counted.with_columns((pl.col("from_ms") + WIDTH_MS).alias("to_ms"), pl.lit("Undertone").alias("source"))
    paper = percentiles()
    x = alt.X("from_ms:Q", title="latency, ms").bin("binned").scale(domain=[200, 2400], nice=False)
    x = x.axis(values=list(range(200, 2401, 400)), format="d")
    panels = [
        (histogram(counted.filter(pl.col("size") == size), x) + strip(paper.filter(pl.col("size") == size))).properties(
            width=PLOT_WIDTH, height=100, title=alt.Title(size, anchor="start", fontSize=11, offset=14)
        )
        for size in SIZES
    ]
    save(alt.vconcat(*panels, spacing=10), folder, "figure3")


# %%
if __name__ == "__main__":
    draw(Path("figures"))
