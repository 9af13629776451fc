# %% [markdown]
# # Table 5: latency among a thousand nodes
#
# Least, mean, 95th percentile and largest latency of messages of four sizes, as published and as simulated here.

# %%
from pathlib import Path

import altair as alt
import polars as pl
from style import SIZES, colour, published, run, save

FIGURES = {"min": "min", "mean": "avg", "p95": "p95", "max": "max"}

# %% [markdown]
# ## The runs


# %%
def table() -> pl.DataFrame:
    """One row per size, figure and source."""
    paper = published("latency_distribution")
    rows = []
    for size, scenario in SIZES.items():
        latency = run(scenario).latency_ms or {}
        printed = paper.row(by_predicate=pl.col("size_kb") == int(size.split()[0]), named=True)
        for figure, name in FIGURES.items():
            rows.append({"size": size, "figure": figure, "source": "published", "ms": float(printed[f"{name}_singlehost"])})
            rows.append({"size": size, "figure": figure, "source": "Undertone", "ms": latency[figure]})
    return pl.DataFrame(rows)


# %% [markdown]
# ## The table, drawn


# %%
def draw(folder: Path) -> None:
    """Writes the table as a figure and as CSV."""
    rows = table()
    folder.mkdir(parents=True, exist_ok=True)
    named = rows.with_columns(pl.format("{}_ms {}", "figure", "source").alias("column"))
    named.pivot(on="column", index="size", values="ms").write_csv(folder / "table5.csv")
    base = alt.Chart(rows).encode(
        x=alt.X("figure:N", sort=list(FIGURES), title="latency, ms").axis(orient="top", labelAngle=0, domain=False, ticks=False),
        y=alt.Y("size:N", sort=list(SIZES), title=None).axis(domain=False, ticks=False),
        yOffset=alt.YOffset("source:N").scale(domain=["published", "Undertone"], padding=0.4),
        color=colour(),
    )
    text = base.mark_text(fontSize=12).encode(text=alt.Text("ms:Q", format=",.0f"))
    save(text.properties(width=280, height=200), folder, "table5")


# %%
if __name__ == "__main__":
    draw(Path("figures"))
