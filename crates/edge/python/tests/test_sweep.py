"""Sweeps: points, folders that go on, parts, and clusters of one machine."""

import pickle
from pathlib import Path

import polars as pl
import pytest
import undertone as ut
import undertone.slurm

KEYS = {"relay.d": [6, 7], "network.loss": [0.0, 0.02]}


def test_a_sweep_has_a_row_for_each_point_and_run(tmp_path: Path) -> None:
    result = ut.sweep("small", KEYS, seeds=2, out=tmp_path, progress=False)
    assert (result.made, result.left, result.failures) == (8, 0, [])
    points = pl.DataFrame(result.points)
    assert points.select("network.loss", "relay.d", "runs").rows() == [(0.0, 6, 2), (0.0, 7, 2), (0.02, 6, 2), (0.02, 7, 2)]
    assert (points["p50_ms_low"] <= points["p50_ms"]).all()
    runs = pl.DataFrame(result.runs)
    assert runs["seed"].to_list() == [1, 2] * 4
    assert [str(file) for file in result.files] == runs["file"].to_list()
    assert pl.scan_parquet(result.files).select(pl.len()).collect().item() == runs["delivered"].sum()
    assert "8 of 8 runs" in str(result)


def test_a_notebook_shows_points_and_results(tmp_path: Path) -> None:
    sweep = ut.Sweep("small", KEYS, seeds=2)
    assert repr(sweep) == "<undertone.Sweep of small over network.loss, relay.d: 8 runs>"
    assert "<caption>small: 4 points, 8 runs</caption>" in sweep._repr_html_()
    assert "<tr><td>0.02</td><td>7</td></tr>" in sweep._repr_html_()
    nothing = sweep.collect(tmp_path)
    assert nothing._repr_html_().startswith("<pre>")
    assert "p50_ms over network.loss" in nothing.html(tmp_path / "sweep.html")
    assert (tmp_path / "sweep.html").read_text() == nothing.html()


def test_deliveries_of_a_sweep_are_grouped_by_the_values_of_its_keys(tmp_path: Path) -> None:
    result = ut.sweep("small", {"relay.d": [6, 8], "network.loss": [0.0, 0.05]}, seeds=2, out=tmp_path, progress=False)
    runs = pl.DataFrame(result.runs).lazy()
    rows = pl.scan_parquet(result.files, include_file_paths="file").join(runs, on="file")
    made = rows.group_by("relay.d", "network.loss", "seed").len("rows").collect().sort("relay.d", "network.loss", "seed")
    expected = runs.select("relay.d", "network.loss", "seed", rows="delivered").collect()
    assert made.rows() == expected.sort("relay.d", "network.loss", "seed").rows()
    late = rows.group_by("network.loss").agg(pl.col("latency_ms").quantile(0.99)).collect().sort("network.loss")
    assert late["latency_ms"][1] > late["latency_ms"][0], "losses make the slowest deliveries slower"


def test_a_run_of_a_sweep_is_a_run(tmp_path: Path) -> None:
    result = ut.sweep("small", {"relay.d": [7]}, seeds=[3], out=tmp_path, progress=False)
    single = ut.run("small", seed=3, set={"relay.d": 7}, progress=False)
    assert pl.read_parquet(result.files[0]).equals(pl.DataFrame(single.deliveries))


def test_what_is_there_is_not_run_again(tmp_path: Path) -> None:
    sweep = ut.Sweep("small", KEYS, seeds="1..2")
    assert len(sweep) == 8
    first = sweep.run(out=tmp_path, shard=(1, 3), progress=False)
    assert (first.made, first.left) == (3, 5)
    seen: list[ut.SweepProgress] = []
    rest = sweep.run(out=tmp_path, progress=seen.append)
    assert (rest.made, rest.left) == (5, 0)
    assert (seen[-1].ended, seen[-1].all) == (5, 5)
    assert sweep.run(out=tmp_path, progress=False).made == 0
    assert sweep.collect(tmp_path).left == 0


def test_a_sweep_that_is_stopped_keeps_what_is_done(tmp_path: Path) -> None:
    sweep = ut.Sweep("small", {"relay.d": [6, 7, 8]}, seeds=20)

    def stop(now: ut.SweepProgress) -> None:
        if now.ended >= 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        sweep.run(out=tmp_path, threads=1, progress=stop)
    there = sweep.collect(tmp_path)
    assert 2 <= len(there.files) < 60


def test_samples_and_spans(tmp_path: Path) -> None:
    sweep = ut.Sweep(
        "small",
        {"network.loss": ut.span(0.0, 0.05), "traffic.payload_bytes": ut.span(1000, 9000, scale="log", whole=True)},
        sample="latin-hypercube",
        points=3,
    )
    result = sweep.run(out=tmp_path, progress=False)
    losses = pl.DataFrame(result.points)["network.loss"].sort().to_list()
    assert [int(loss / (0.05 / 3)) for loss in losses] == [0, 1, 2]
    assert len(ut.Sweep("small", {"network.loss": ut.span(0.0, 0.05, 6)})) == 6


def test_variants_have_names_and_set_several_keys(tmp_path: Path) -> None:
    wide = {"network.one_way_ms": None, "network.min_one_way_ms": 10, "network.max_one_way_ms": 90}
    meshes = [{"name": "thin", "relay.d": 4, "relay.d_out": 2}, {"name": "wide", **wide}]
    result = ut.sweep("small", {"mesh": meshes}, out=tmp_path, progress=False)
    points = pl.DataFrame(result.points)
    assert points["mesh"].to_list() == ["thin", "wide"]
    assert points["p50_ms"][0] != points["p50_ms"][1]
    thin = ut.run("small", set={"relay.d": 4, "relay.d_out": 2}, progress=False)
    assert pl.read_parquet(result.files[0]).equals(pl.DataFrame(thin.deliveries))


def test_a_file_and_a_scenario_of_ones_own_can_be_swept(tmp_path: Path) -> None:
    (tmp_path / "loss.toml").write_text(
        '[sweep]\nscenario = "small"\nseeds = "1..2"\n[keys]\nnetwork.loss = [0.0, 0.01]\n'
    )
    of_file = ut.sweep(tmp_path / "loss.toml", out=tmp_path / "out", progress=False)
    assert of_file.made == 4
    scenario = ut.Scenario("small").set("network.loss", 0.0)
    again = ut.sweep(scenario, {"network.loss": [0.0, 0.01]}, seeds=2, out=tmp_path / "out", progress=False)
    assert (again.made, again.files) == (0, of_file.files)


def test_mistakes_are_found_before_anything_is_run(tmp_path: Path) -> None:
    with pytest.raises(ut.ScenarioError, match='unknown key "network.los"; did you mean "loss"'):
        ut.Sweep("small", {"network.los": [0.0]})
    with pytest.raises(ut.ScenarioError, match="must not exceed the last"):
        ut.Sweep("small", {"network.loss": [0.0]}, seeds="5..1")
    with pytest.raises(TypeError, match="needs keys"):
        ut.Sweep(ut.Scenario("small"))
    with pytest.raises(ut.ScenarioError, match="is no part of a sweep"):
        ut.Sweep("small", {"network.loss": [0.0]}).run(out=tmp_path, shard=(3, 2))


def test_failed_runs_have_a_command_that_replays_them(tmp_path: Path) -> None:
    result = ut.sweep("small", {"network.loss": [1.0]}, out=tmp_path, progress=False)
    (failed,) = result.failures
    assert failed.why == "none of 147 deliveries was made"
    assert failed.replay == "undertone sim small --set 'network.loss=1.0' --seed 1"


def test_a_sweep_can_be_sent_to_another_process(tmp_path: Path) -> None:
    sweep = ut.Sweep(ut.Scenario("small", set={"relay.d": 7}), {"network.loss": [0.0, 0.01]})
    result = sweep.run(out=tmp_path, progress=False)
    assert pickle.loads(pickle.dumps(sweep)).collect(tmp_path).files == result.files


def test_jobs_of_submitit_make_the_parts(tmp_path: Path) -> None:
    sweep = ut.Sweep("small", KEYS, seeds=2)
    result = undertone.slurm.run(sweep, out=tmp_path / "out", jobs=2, logs=tmp_path / "logs", cluster="local", timeout_min=5)
    assert (result.made, result.left) == (8, 0)
    assert "8 of 8 runs, 8 of them made now" in str(result)
    here = sweep.run(out=tmp_path / "here", progress=False)
    for one, other in zip(result.files, here.files, strict=True):
        assert pl.read_parquet(one).equals(pl.read_parquet(other))
