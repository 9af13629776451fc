# %% [markdown]
# # Large messages: fragmentation, staggered and reduced sending
#
# Six ways to send a message of 50 KB among a thousand nodes, as published and as simulated here.

# %%
from pathlib import Path
from typing import Any

import altair as alt
import polars as pl
import undertone as ut
from style import colour, published, save

WAYS: dict[str, dict[str, Any]] = {
    "current": {},
    "fragmentation": {"relay.fragments": 4},
    "stagger": {"relay.strategy": "staggered"},
    "stagger_fragmentation": {"relay.strategy": "staggered", "relay.fragments": 4},
    "reduced": {"relay.strategy": "reduced"},
    "reduced_fragmentation": {"relay.strategy": "reduced", "relay.fragments": 4},
}
NAMES = {
    "current": "as today",
    "fragmentation": "in 4 fragments",
    "stagger": "staggered",
    "stagger_fragmentation": "staggered, in 4 fragments",
    "reduced": "reduced",
    "reduced_fragmentation": "reduced, in 4 fragments",
}
# Ten messages on idle connections, as published, then ten more: `undertone lab run large-messages` shows both.
TWICE = {"traffic.messages": 20, "traffic.warm_up_messages": 10}
FIGURES = {
    "avg_latency_ms": "mean latency, ms",
    "max_latency_ms": "largest latency, ms",
    "total_volume_mb": "volume, MB",
}

# %% [markdown]
# ## The runs


# %%
def table() -> pl.DataFrame:
    """One row per way, figure and source."""
    paper = {row["parameter"]: row for row in published("large_messages").iter_rows(named=True)}
    rows = []
    for way, changes in WAYS.items():
        summary = ut.run("large-messages", set={**changes, **TWICE}).summary
        cold = summary["warm_up"]["latency_ms"]
        ours = {
            "avg_latency_ms": cold["mean"],
            "max_latency_ms": cold["max"],
            "total_volume_mb": summary["bytes"]["wire"] / 2 / 1e6,
        }
        for figure, title in FIGURES.items():
            common = {"way": NAMES[way], "figure": title}
            rows.append({**common, "source": "published", "value": float(paper[figure][way])})
            rows.append({**common, "source": "Undertone", "value": ours[figure]})
    return pl.DataFrame(rows)


# %% [markdown]
# ## The table as dots: published beside ours


# %%
def draw(folder: Path) -> None:
    """Writes the figure and the table."""
    rows = table()
    folder.mkdir(parents=True, exist_ok=True)
    named = rows.with_columns(pl.format("{} ({})", "figure", "source").alias("column"))
    named.pivot(on="column", index="way", values="value").write_csv(folder / "large_messages.csv")
    panels = []
    for at, title in enumerate(FIGURES.values()):
        axis = alt.Axis(labels=at == 0, ticks=False, domain=False, labelLimit=220)
        base = alt.Chart(rows.filter(pl.col("figure") == title)).encode(
            x=alt.X("value:Q", title=title).scale(zero=True),
            y=alt.Y("way:N", sort=list(NAMES.values()), title=None, axis=axis),
        )
        line = base.mark_line(color="#bbbbbb").encode(detail="way:N")
        dots = base.mark_point(size=70, filled=True, opacity=1).encode(
            color=colour(), shape=alt.Shape("source:N").scale(domain=["published", "Undertone"], range=["diamond", "circle"])
        )
        panels.append((line + dots).properties(width=190, height=170))
    save(alt.hconcat(*panels, spacing=16), folder, "large_messages")


# %%
if __name__ == "__main__":
    draw(Path("figures"))
