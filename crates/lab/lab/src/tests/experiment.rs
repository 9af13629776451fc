use std::collections::BTreeSet;

use super::*;
use crate::record::Verdict;

/// A machine on which no measurement is possible.
struct NoRealNodes;

impl NoRealNodes {
    fn refuse<T>() -> Result<T, MachineError> {
        Err(MachineError::Unavailable {
            what: "a machine".to_owned(),
            remedy: "this is a test".to_owned(),
        })
    }
}

impl RealNodes for NoRealNodes {
    fn rln_costs(&self, _: usize) -> Result<RlnCosts, MachineError> {
        Self::refuse()
    }
    fn cities(&self, _: u32) -> Result<Vec<LineRun>, MachineError> {
        Self::refuse()
    }
    fn network_load(&self, _: NetworkLoadPlan) -> Result<NetworkLoadRun, MachineError> {
        Self::refuse()
    }
    fn spam(&self, _: SpamPlan, _: &dyn Fn(&str)) -> Result<SpamRun, MachineError> {
        Self::refuse()
    }
    fn tree_sync(&self, _: u32) -> Result<SyncRun, MachineError> {
        Self::refuse()
    }
}

#[test]
fn a_rate_is_that_of_the_intervals_between_messages() {
    let rate_per_s = |sent_s: &[f64]| {
        let run = SpamRun {
            peers: Vec::new(),
            prepared: 0,
            sent_s: sent_s.to_vec(),
            attempted: 9,
            delivered: 0,
            secret_recovered: false,
        };
        run.rate_per_s()
    };
    assert_eq!(rate_per_s(&[0.0, 0.25, 0.5, 1.0]), Some(3.0));
    assert_eq!(rate_per_s(&[0.5, 1.0]), Some(2.0));
    for too_few in [&[] as &[f64], &[0.0], &[1.0, 1.0]] {
        assert_eq!(rate_per_s(too_few), None);
    }
}

fn quick(id: &str) -> Result<ExperimentRecord, ExperimentError> {
    let mut context = Context::new(Scale::Quick, "test", 2, false, &NoRealNodes);
    Experiment::find(id).unwrap().run(&mut context)
}

#[test]
fn ids_are_unique_and_found() {
    let ids: BTreeSet<_> = EXPERIMENTS.iter().map(|experiment| experiment.id).collect();
    assert_eq!(ids.len(), EXPERIMENTS.len());
    assert!(ids.iter().all(|id| Experiment::find(id).is_some()));
    assert!(Experiment::find("nothing").is_none());
}

#[test]
fn a_record_names_its_seeds_scenarios_and_command() {
    let record = quick("hops").unwrap();
    assert_eq!(record.seeds, [1, 2]);
    assert_eq!(record.scenarios[0].name, "hops");
    assert_eq!(record.command, "undertone lab run hops");
    assert!(
        record.judged() > 2 && record.differing().count() == 0,
        "{record}"
    );
}

#[test]
fn what_the_machine_cannot_do_is_said_and_counts_against_the_figure() {
    let record = quick("tree-sync").unwrap();
    assert!(record.notes[0].contains("not possible here: a machine"));
    assert!(
        record
            .figures
            .iter()
            .all(|figure| figure.verdict == Verdict::Differs)
    );
    assert!(matches!(quick("hashing"), Err(ExperimentError::Machine(_))));
}

#[test]
fn control_takes_a_larger_share_of_small_messages_and_low_rates() {
    let record = quick("control-share").unwrap();
    let share = |name: &str| {
        let figure = record.figures.iter().find(|figure| figure.name == name);
        figure.unwrap().ours.unwrap()
    };
    let [small, large] =
        ["smallest", "largest"].map(|w| share(&format!("share with the {w} messages")));
    assert!(0.0 < large && large < small && small < 1.0, "{record}");
    let [slow, fast] =
        ["lowest", "highest"].map(|which| share(&format!("share at the {which} rate")));
    assert!(fast < slow, "{record}");
    assert_eq!(record.differing().count(), 0, "{record}");
}

#[test]
fn nothing_is_lost_under_little_load() {
    let record = quick("reliability").unwrap();
    assert_eq!(record.differing().count(), 0, "{record}");
    assert_eq!(record.tables[0].rows.len(), 4);
}

/// Flooding counted by hand: on a full mesh of N nodes that all flood at once, every connection carries
/// two copies, except those over which a node received its first copy, which carry one.
#[test]
fn flooding_on_a_tiny_network_agrees_with_counting() {
    let mut context = Context::new(Scale::Quick, "test", 1, false, &NoRealNodes);
    let set = [
        "scenario.nodes=4",
        "relay.flood_interval_ms=0",
        "traffic.messages=3",
        "traffic.publisher_count=4",
        "traffic.spacing_s=1",
        "network.one_way_ms=10",
    ];
    let run = context.simulate("waku-v1", &set, 1).unwrap().remove(0);
    let copies: u64 = run
        .outcome
        .nodes
        .iter()
        .map(|n| n.first_copies + n.duplicates)
        .sum();
    // The publisher sends three copies; each of the others sends to the two remaining nodes.
    assert_eq!(copies, 3 * (3 + 3 * 2));
}

/// A line of three nodes with a mesh: one copy to each node, and none back.
#[test]
fn gossip_on_a_tiny_network_agrees_with_counting() {
    let mut context = Context::new(Scale::Quick, "test", 1, false, &NoRealNodes);
    let set = [
        "scenario.nodes=3",
        "topology.kind=line",
        "traffic.messages=2",
        "traffic.publisher_count=1",
        "traffic.spacing_s=1",
    ];
    let run = context.simulate("waku-v2", &set, 1).unwrap().remove(0);
    let copies: u64 = run
        .outcome
        .nodes
        .iter()
        .map(|n| n.first_copies + n.duplicates)
        .sum();
    let sent: u64 = run.outcome.nodes.iter().map(|n| n.messages.count).sum();
    assert_eq!((copies, sent), (2 * 2, 2 * 2));
    let bytes: u64 = run.outcome.nodes.iter().map(|n| n.messages.bytes).sum();
    // The payload of 284 bytes, its content topic, timestamp and the frame around them, the same each
    // time.
    assert_eq!(bytes % 4, 0);
    assert!(
        (284..400).contains(&(bytes / 4)),
        "{} bytes a copy",
        bytes / 4
    );
}
