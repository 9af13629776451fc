"""The examples of the documentation and of docstrings run. Scenarios and sweeps are made as they are written, and run in small."""

import inspect
import re
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
import undertone as ut
import undertone.slurm

ROOT = Path(__file__).parents[4]


def of_markdown(path: str) -> list[str]:
    """The blocks of Python in a page."""
    return re.findall(r"```python\n(.*?)```", (ROOT / path).read_text(encoding="utf-8"), re.DOTALL)


def of_docstring(text: str) -> list[str]:
    """The indented blocks of a docstring."""
    blocks = re.findall(r"\n\n((?:    .*\n|\n)+)", inspect.cleandoc(text) + "\n")
    return [inspect.cleandoc(block) for block in blocks]


def examples() -> dict[str, list[str]]:
    """Blocks by where they stand; those of a page follow one another."""
    found = {path: of_markdown(path) for path in ("crates/edge/python/README.md", "docs/use/python.md")}
    package = ROOT / "crates/edge/python/python/undertone"
    for path in sorted(package.glob("*.py")):
        docstrings = re.findall(r'"""(.*?)"""', path.read_text(encoding="utf-8"), re.DOTALL)
        for number, text in enumerate(docstrings):
            if blocks := of_docstring(text):
                found[f"{path.name}, docstring {number}"] = blocks
    return found


@pytest.fixture
def in_small(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Has at most 60 nodes in a run, one run at each point of a sweep, and clusters of this machine."""
    run, of_sweep, of_slurm = ut.run, ut.Sweep, undertone.slurm.run

    def smaller(scenario: Any, *, set: Any = None, **more: Any) -> ut.Run:
        whole = ut.Scenario(scenario, set=set)
        return run(whole.set("scenario.nodes", 60) if whole.scenario.nodes > 100 else whole, **more)

    def small_sweep(scenario: Any, keys: Any, *, seeds: Any = 1, **more: Any) -> ut.Sweep:
        of_sweep(scenario, keys, seeds=seeds, **more)
        return of_sweep("small", keys, **more)

    def swept(*given: Any, **more: Any) -> ut.SweepResult:
        return small_sweep(*given, **more).run()

    def of_this_machine(sweep: ut.Sweep, *, out: str, jobs: int, **more: Any) -> ut.SweepResult:
        assert jobs > 1
        return of_slurm(sweep, out=Path(out).name, jobs=2, **{**more, "cluster": "local"})

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(ut, "run", smaller)
    monkeypatch.setattr(ut, "Sweep", small_sweep)
    monkeypatch.setattr(ut, "sweep", swept)
    monkeypatch.setattr(undertone.slurm, "run", of_this_machine)


@pytest.mark.parametrize(("place", "blocks"), examples().items(), ids=str)
@pytest.mark.usefixtures("in_small")
def test_examples_run(
    place: str, blocks: list[str], monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    has_ray = find_spec("ray") is not None
    if has_ray:
        import ray

        init = ray.init
        monkeypatch.setattr(ray, "init", lambda address: init(num_cpus=2, include_dashboard=False, log_to_driver=False))
        # Each example starts a cluster of its own.
        request.addfinalizer(ray.shutdown)
    names: dict[str, Any] = {}
    for block in blocks:
        # The campaign `ray` installs it and runs these too.
        if has_ray or "ray" not in block:
            exec(compile(block, place, "exec"), names)


def test_all_examples_are_found() -> None:
    numbers = [len(blocks) for blocks in examples().values()]
    assert numbers[:2] == [1, 8]
    assert len(numbers) == 7, "and in five docstrings"
