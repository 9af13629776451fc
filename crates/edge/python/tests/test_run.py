"""Runs, their tables, their pages and their end by others."""

import _thread
import json
import signal
import threading
import time
from pathlib import Path

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import undertone as ut


@pytest.fixture(scope="module")
def small() -> ut.Run:
    return ut.run("small", progress=False)


def test_a_run_is_that_of_the_command_line(small: ut.Run) -> None:
    assert small.summary["delivered"] == small.summary["expected"] == 3 * 49
    assert small.violations == []
    assert "147 of 147 deliveries" in str(small)
    assert small.latency_ms is not None and small.latency_ms["n"] == 147
    again = ut.run("small", threads=2, progress=False)
    assert again.trace_hash == small.trace_hash
    assert ut.run("small", seed=2, progress=False).trace_hash != small.trace_hash


def test_a_notebook_shows_the_figures(small: ut.Run) -> None:
    shown = small._repr_html_()
    assert shown.startswith("<pre>small, seed 1") and "147 of 147 deliveries" in shown


def test_tables_are_read_by_other_libraries_without_a_copy(small: ut.Run) -> None:
    one, other = pa.table(small.deliveries), pa.table(small.deliveries)

    def address(table: pa.Table) -> int:
        return int(table["latency_ms"].chunk(0).buffers()[1].address)

    assert address(one) == address(other)
    frame = pl.DataFrame(small.deliveries)
    assert frame.columns == small.deliveries.columns == one.column_names
    assert frame.height == len(small.deliveries) == 147
    assert small.latency_ms is not None
    assert frame["latency_ms"].max() == small.latency_ms["max"]
    schema = pa.schema(small.deliveries)
    assert schema.field("hops").type == pa.int32()
    assert json.loads(schema.metadata[b"undertone.resolved"])["hash"] == small.scenario.hash


def test_tables_outlive_their_run() -> None:
    table = pa.table(ut.run("small", progress=False).nodes)
    assert table.num_rows == 50
    assert sum(table["wire_sent_bytes"].to_pylist()) > 0


def test_messages_and_nodes_have_a_row_each(small: ut.Run) -> None:
    messages = pl.DataFrame(small.messages)
    assert messages["delivered"].to_list() == [49, 49, 49]
    nodes = pl.DataFrame(small.nodes)
    assert nodes["wire_sent_bytes"].sum() == small.summary["bytes"]["wire"]
    assert nodes["first_copies"].sum() == 147


def test_files_are_those_of_the_command_line(small: ut.Run, tmp_path: Path) -> None:
    small.write(tmp_path / "results")
    rows = pq.read_table(tmp_path / "results/deliveries.parquet")
    assert rows.to_pydict() == pa.table(small.deliveries).to_pydict()
    summary = json.loads((tmp_path / "results/summary.json").read_text())
    assert summary["trace_hash"] == small.trace_hash
    (tmp_path / "file").write_text("")
    with pytest.raises(ut.WriteError, match="file/below"):
        small.write(tmp_path / "file/below")


def test_datasets_are_recorded_if_asked_for(small: ut.Run, tmp_path: Path) -> None:
    run = ut.run("small", progress=False, record=["copies", "links", "traffic"], record_every_ms=500)
    assert run.trace_hash == small.trace_hash
    copies = pl.DataFrame(run.copies)
    assert copies["is_first"].sum() == 147
    sent = pl.DataFrame(run.traffic).filter(pl.col("kind") == "messages")
    assert sent["sent"].sum() == copies.height == pl.DataFrame(run.links)["messages"].sum()
    assert (pl.DataFrame(run.traffic)["from_ns"] % 500_000_000 == 0).all()
    run.write(tmp_path / "results")
    assert pq.read_table(tmp_path / "results/copies.parquet").to_pydict() == pa.table(run.copies).to_pydict()
    with pytest.raises(ValueError, match="record=\\['copies'\\]"):
        small.copies  # noqa: B018
    with pytest.raises(ut.ScenarioError, match="there are copies, links, nodes, traffic"):
        ut.run("small", progress=False, record=["copy"])


def test_a_scenario_that_cannot_be_simulated_says_so() -> None:
    with pytest.raises(ut.ScenarioError, match="did you mean"):
        ut.run("smal", progress=False)


def test_progress_is_reported_to_the_end() -> None:
    seen: list[ut.RunProgress] = []
    ut.run("small", progress=seen.append)
    assert seen[-1].virtual_s >= seen[-1].end_s
    assert [now.events for now in seen] == sorted(now.events for now in seen)


def test_an_exception_of_the_progress_stops_the_run() -> None:
    def stop(now: ut.RunProgress) -> None:
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        ut.run("scale-10k", progress=stop)


def test_ctrl_c_stops_the_run() -> None:
    begun = threading.Event()
    # A shell starts what it runs in the background with Ctrl-C ignored, and Python then leaves it so.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)

    def interrupt() -> None:
        begun.wait()
        _thread.interrupt_main()

    threading.Thread(target=interrupt, daemon=True).start()
    try:
        with pytest.raises(KeyboardInterrupt):
            ut.run("scale-10k", progress=lambda now: begun.set())
    finally:
        signal.signal(signal.SIGINT, before)


def test_other_threads_of_python_go_on() -> None:
    turns, is_over = 0, threading.Event()

    def count() -> None:
        nonlocal turns
        while not is_over.is_set():
            turns += 1
            time.sleep(0.001)

    counter = threading.Thread(target=count)
    counter.start()
    ut.run("paper-2kb", set={"scenario.nodes": 200}, progress=False)
    before = turns
    is_over.set()
    counter.join()
    assert before > 10


def test_pages_draw_runs_over_one_another(small: ut.Run, tmp_path: Path) -> None:
    other = ut.run("small", set={"network.loss": 0.05}, progress=False)
    page = ut.html([small, other], tmp_path / "runs.html")
    assert (tmp_path / "runs.html").read_text() == page
    assert page.count("small network.loss=0.05") > 1
    assert page._repr_html_().startswith("<iframe srcdoc=")
    named = ut.html({"as it is": small, "with <loss>": other})
    assert "as it is" in named and "with &lt;loss&gt;" in named
    assert "seed 1" in small.html()


def test_the_model_predicts_what_the_command_line_does(small: ut.Run) -> None:
    tables = ut.model(nodes=1000, degree=6)
    assert tables["h_max"] == 5 and "Equation 2" in str(tables)
    beside = ut.model(small)
    assert beside["seed"] == 1 and beside["sizes"][0]["sim_ms"]["p50"] > 0
    assert ut.model("paper-2kb")["sizes"][0]["sim_ms"] is None
    with pytest.raises(ut.ScenarioError, match="degree: expected 2 to 10000"):
        ut.model(degree=1)
    with pytest.raises(ut.ScenarioError, match="churn has no closed form"):
        ut.model("churn")
