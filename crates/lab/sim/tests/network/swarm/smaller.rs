//! Smaller scenarios that fail too.

use undertone_gossip::Config;
use undertone_sim::Scenario;
use undertone_sim::scenario::{Cpu, Dialling};

use super::judge::judge;

type Change = Box<dyn Fn(&mut Scenario)>;

/// Every way to make a scenario a little simpler.
fn changes(scenario: &Scenario) -> Vec<Change> {
    let mut changes: Vec<Change> = vec![
        Box::new(|s| s.services = None),
        Box::new(|s| s.rln = None),
        Box::new(|s| s.groups.clear()),
        Box::new(|s| s.cpu = Cpu::default()),
        Box::new(|s| s.network.loss = 0.0),
        Box::new(|s| s.network.jitter_ns = 0),
        Box::new(|s| s.network = Scenario::plain(2).network),
        Box::new(|s| s.relay.gossip = Config::waku()),
        Box::new(|s| s.relay.protocol = Scenario::plain(2).relay.protocol),
        Box::new(|s| s.relay.fragments = 1),
        Box::new(|s| s.relay.topics = 1),
        Box::new(|s| s.relay.topics_per_node = None),
        Box::new(|s| s.dialling = Dialling::AtOnce),
        Box::new(|s| s.nodes = (s.nodes / 2).max(2)),
        Box::new(|s| s.nodes -= 1),
        Box::new(|s| s.traffic.payload_bytes = vec![100]),
        Box::new(|s| s.traffic.messages /= 2),
        Box::new(|s| s.listed.truncate(s.listed.len() / 2)),
        Box::new(|s| s.listed.truncate(s.listed.len().saturating_sub(1))),
        Box::new(|s| s.listed = s.listed.iter().skip(1).copied().collect()),
        Box::new(|s| s.traffic.messages = s.traffic.messages.saturating_sub(1)),
        Box::new(|s| {
            if let Some(setup) = &mut s.services {
                (setup.stream_loss, setup.connection_lost_every_ns) = (0.0, None);
                (setup.sleep, setup.sync_every_ns) = (None, None);
            }
        }),
    ];
    for at in 0..scenario.faults.len() {
        changes.push(Box::new(move |s| {
            s.faults.remove(at);
        }));
        changes.push(Box::new(move |s| s.faults[at].nodes = 1));
    }
    for at in 0..scenario.groups.len() {
        changes.push(Box::new(move |s| {
            s.groups.remove(at);
        }));
    }
    let troubles = scenario.services.as_ref().map_or(0, |s| s.troubles.len());
    for at in 0..troubles {
        changes.push(Box::new(move |s| {
            if let Some(setup) = &mut s.services {
                setup.troubles.remove(at);
            }
        }));
    }
    changes
}

/// The first words of a reason, without its numbers.
fn kind(why: &str) -> String {
    let words = why.split_whitespace();
    let words = words.filter(|word| !word.contains(|c: char| c.is_ascii_digit()));
    words.take(3).collect::<Vec<_>>().join(" ")
}

/// Simplifies a scenario while it fails for the same kind of reason.
pub(crate) fn smaller(mut scenario: Scenario, seed: u64, mut why: String) -> (Scenario, String) {
    let repeats = why.starts_with("another outcome");
    loop {
        let mut is_smaller = false;
        let mut at = 0;
        while let Some(change) = changes(&scenario).get(at) {
            at += 1;
            let mut tried = scenario.clone();
            change(&mut tried);
            if format!("{tried:?}") == format!("{scenario:?}") {
                continue;
            }
            if let Err(other) = judge(&tried, seed, repeats)
                && kind(&other) == kind(&why)
            {
                (scenario, why) = (tried, other);
                is_smaller = true;
            }
        }
        if !is_smaller {
            return (scenario, why);
        }
    }
}
