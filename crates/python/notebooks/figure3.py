# %% [markdown]
# # Figure 3: deliveries by latency
#
# Deliveries of nine messages to 999 nodes in intervals of latency, simulated here, with the percentiles of the paper's raw logs.

# %%
from pathlib import Path

import altair as alt
import polars as pl
from style import SIZES, colour, published, run, save

PERCENTILES = ("min", "p5", "p25", "p50", "p75", "p95", "max")

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
    """Published percentiles of the same distributions."""
    names = pl.DataFrame({"scenario": list(SIZES.values()), "size": list(SIZES)})
    paper = published("paper_runs").join(names, on="scenario")
    return paper.unpivot(index="size", on=PERCENTILES, variable_name="percentile", value_name="ms")


# %% [markdown]
# ## Four histograms over one another


# %%
def draw(folder: Path) -> None:
    """Writes the figure."""
    width_ms = 20
    binned = deliveries().with_columns((pl.col("latency_ms") // width_ms * width_ms).alias("from_ms"))
    counted = binned.group_by("size", "from_ms").len("deliveries").sort("size", "from_ms")
    counted = counted.with_columns((pl.col("from_ms") + width_ms).alias("to_ms"), pl.lit("Undertone").alias("source"))
    marks = percentiles().with_columns(pl.lit("published").alias("source"))
    panels = []
    for size in SIZES:
        bars = alt.Chart(counted.filter(pl.col("size") == size)).mark_bar(binSpacing=0)
        bars = bars.encode(
            x=alt.X("from_ms:Q", title="latency, ms").bin("binned").scale(domain=[300, 2400]),
            x2="to_ms:Q",
            y=alt.Y("deliveries:Q", title="deliveries"),
            color=colour(),
        )
        rules = alt.Chart(marks.filter(pl.col("size") == size)).mark_rule(strokeDash=[3, 2]).encode(x="ms:Q", color=colour())
        words = rules.mark_text(angle=270, align="left", baseline="bottom", dx=2, dy=-2, fontSize=8)
        words = words.encode(text="percentile:N", y=alt.value(118))
        panels.append((bars + rules + words).properties(width=420, height=120, title=alt.Title(size, anchor="start", fontSize=11)))
    save(alt.vconcat(*panels, spacing=8), folder, "figure3")


# %%
if __name__ == "__main__":
    draw(Path("figures"))
