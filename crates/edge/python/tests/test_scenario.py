"""Scenarios: where they come from, what can be read of them, and what is said about mistakes."""

import pickle
from pathlib import Path
from typing import Any

import pytest
import undertone as ut

CONTENT: dict[str, dict[str, Any]] = {
    "scenario": {"nodes": 12},
    "topology": {"kind": "full-mesh"},
    "network": {"uplink_mbit_per_s": 50, "downlink_mbit_per_s": 50, "one_way_ms": 20},
    "traffic": {"messages": 2, "payload_bytes": 1000, "first_s": 5, "spacing_s": 1},
}


def test_built_in_scenarios_have_names_and_descriptions() -> None:
    known = ut.scenarios()
    assert "500 KB" in known["paper-500kb"]
    assert ut.Scenario("paper-2kb").description == known["paper-2kb"]


def test_every_parameter_is_an_attribute_with_its_origin() -> None:
    scenario = ut.Scenario("small", set={"network.loss": 0.01})
    assert scenario.scenario.nodes == 50
    assert scenario.network.loss == scenario["network.loss"] == 0.01
    assert scenario.network.origin("loss") == "--set network.loss=0.01"
    assert scenario.relay.origin("d") == "default"
    assert scenario.scenario.origin("nodes").startswith("scenarios/small.toml:")
    assert "network" in dir(scenario) and "loss" in dir(scenario.network)
    assert scenario.relay.thresholds.gossip < 0


def test_set_makes_another_scenario() -> None:
    one = ut.Scenario("small")
    other = one.set({"network.loss": 0.02, "relay.d": 7})
    assert (one.network.loss, other.network.loss, other.relay.d) == (0.0, 0.02, 7)
    assert other.set("network.loss", 0.0).set("relay.d", one.relay.d).hash == one.hash
    wide = one.set({"network.one_way_ms": None, "network.min_one_way_ms": 10, "network.max_one_way_ms": 90})
    assert (wide.network.min_one_way_ms, wide.network.max_one_way_ms) == (10, 90)


def test_a_scenario_does_not_change() -> None:
    scenario = ut.Scenario("small")
    with pytest.raises(AttributeError, match=r"scenario.set\('network.loss', 0.1\)"):
        scenario.network.loss = 0.1
    with pytest.raises(AttributeError):
        scenario.traffic = None  # type: ignore[assignment]


def test_a_dict_is_a_scenario_as_a_file_is(tmp_path: Path) -> None:
    text = "\n".join(
        f"[{table}]\n" + "\n".join(f"{key} = {value!r}" for key, value in keys.items()) for table, keys in CONTENT.items()
    )
    (tmp_path / "mine.toml").write_text(text.replace("'", '"'))
    of_dict, of_file = ut.Scenario(CONTENT, name="mine"), ut.Scenario(tmp_path / "mine.toml")
    assert of_dict == of_file and hash(of_dict) == hash(of_file)
    based = ut.Scenario({"base": "small", "network": {"loss": 0.5}})
    assert (based.scenario.nodes, based.network.loss) == (50, 0.5)


@pytest.mark.parametrize(
    ("source", "changes", "said"),
    [
        ("papr-2kb", {}, 'no scenario is called "papr-2kb"; did you mean "paper-2kb"'),
        ("zzzzzzzzz", {}, "undertone.scenarios() lists those built in"),
        ("no/such.toml", {}, "cannot read no/such.toml"),
        ("small", {"network.one_way_msec": 3}, 'network.one_way_msec=3: unknown key "network.one_way_msec"; did you mean'),
        ("small", {"relay.d": 99}, "d_low <= d <= d_high must hold"),
        ("small", {"network.loss": "much"}, 'network.loss = "much": expected'),
        ({**CONTENT, "network": {"one_way_ms": 3}}, {}, "network.uplink_mbit_per_s is missing"),
        ({**CONTENT, "trafic": {}}, {}, 'unknown key "trafic"; did you mean "traffic"'),
    ],
)
def test_mistakes_say_what_was_expected(source: object, changes: dict[str, object], said: str) -> None:
    with pytest.raises(ut.ScenarioError) as error:
        ut.Scenario(source, set=changes)  # type: ignore[arg-type]
    assert said in str(error.value)
    assert "--set" not in str(error.value)


def test_values_that_no_scenario_has_are_type_errors() -> None:
    with pytest.raises(TypeError, match="network.loss is None: leave the key out"):
        ut.Scenario({**CONTENT, "network": {"loss": None}})
    with pytest.raises(TypeError, match="no value of a scenario"):
        ut.Scenario("small", set={"network.loss": object()})


def test_an_attribute_that_is_not_there_names_the_nearest() -> None:
    with pytest.raises(AttributeError, match="network.los; did you mean 'loss'"):
        _ = ut.Scenario("small").network.los
    with pytest.raises(AttributeError, match="did you mean 'network'"):
        _ = ut.Scenario("small").netwrk
    with pytest.raises(KeyError):
        _ = ut.Scenario("small")["network.los"]


def test_a_notebook_shows_what_a_scenario_sets_and_where() -> None:
    faults = [{"kind": "leave", "at_s": 3, "nodes": 1}]
    scenario = ut.Scenario({"base": "small", "faults": faults}, set={"network.loss": 0.02}, name="<mine>")
    shown = scenario._repr_html_()
    assert "<tr><td>network.loss</td><td>0.02</td><td>--set network.loss=0.02</td></tr>" in shown
    assert "<td>faults.0.kind</td><td>leave</td>" in shown
    assert "relay.d_lazy" not in shown, "defaults are left out"
    assert "&lt;mine&gt;" in shown


def test_a_scenario_can_be_sent_to_another_process() -> None:
    one = ut.Scenario("small", set={"network.loss": 0.02})
    other = pickle.loads(pickle.dumps(one))
    assert one == other
    # What follows from another base is computed anew, as it is for the first one.
    assert one.set("relay.base", "libp2p") == other.set("relay.base", "libp2p")
