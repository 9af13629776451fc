"""Simulate networks of GossipSub and Waku Relay with the protocol code that nodes run.

    import polars
    import undertone as ut

    run = ut.run("paper-2kb", set={"network.loss": 0.01})
    print(run)
    polars.DataFrame(run.deliveries)

``Scenario`` is what is run, ``run`` runs it once, ``sweep`` over values of its keys and seeds, ``model`` predicts
without running, ``html`` draws runs over one another. ``undertone.ray`` and ``undertone.slurm`` run sweeps on clusters.
"""

from ._model import Model, model
from ._native import COMMIT, ScenarioError, Table, WriteError, __version__
from ._page import Page
from ._progress import RunProgress, SweepProgress
from ._run import Run, html, run
from ._scenario import Parameters, Scenario, scenarios
from ._sweep import FailedRun, Sweep, SweepResult, span, sweep

__all__ = [
    "COMMIT",
    "FailedRun",
    "Model",
    "Page",
    "Parameters",
    "Run",
    "RunProgress",
    "Scenario",
    "ScenarioError",
    "Sweep",
    "SweepProgress",
    "SweepResult",
    "Table",
    "WriteError",
    "__version__",
    "html",
    "model",
    "run",
    "scenarios",
    "span",
    "sweep",
]
