//! Conversion of messages and faults to `[traffic]` and `[[faults]]`.

use undertone_settings::{MS, S, TomlValue};
use undertone_sim::Scenario;
use undertone_sim::scenario::{Fault, FaultKind, ListedMessage, Publishers, Spacing};

use super::values::{WrittenTable, count, list, shortest, text, time};

pub(super) fn write(scenario: &Scenario) -> TomlValue {
    let mut table = WrittenTable::default();
    if !scenario.listed.is_empty() {
        table.set("listed", list(scenario.listed.iter().map(listed)));
        table.set("warm_up_messages", count(scenario.warm_up_messages));
        table.time("drain_s", scenario.drain_ns, S);
        return table.finish();
    }
    let traffic = &scenario.traffic;
    let publishers = match traffic.publishers {
        Publishers::One(node) => {
            table.set("publisher", count(node));
            "one"
        }
        Publishers::RoundRobin(nodes) => {
            table.set("publisher_count", count(nodes));
            "round-robin"
        }
        Publishers::Random => "random",
    };
    table.set("publishers", text(publishers));
    table.set("messages", count(traffic.messages));
    let bytes = match traffic.payload_bytes.as_slice() {
        [bytes] => count(*bytes),
        several => list(several.iter().map(|bytes| count(*bytes))),
    };
    table.set("payload_bytes", bytes);
    table.time("first_s", traffic.first_ns, S);
    let (spacing, interval_ns) = match traffic.spacing {
        Spacing::Constant(ns) => ("constant", ns),
        Spacing::Poisson(ns) => ("poisson", ns),
    };
    table.set("spacing", text(spacing));
    table.time("spacing_s", interval_ns, S);
    table.set("warm_up_messages", count(scenario.warm_up_messages));
    if let Some(ns) = scenario.warm_up_spacing_ns {
        table.time("warm_up_spacing_s", ns, S);
    }
    table.time("drain_s", scenario.drain_ns, S);
    table.finish()
}

fn listed(message: &ListedMessage) -> TomlValue {
    let at_s = time(message.at_ns, S);
    let rest = [message.publisher, message.payload_bytes, message.topic].map(count);
    list([at_s].into_iter().chain(rest))
}

pub(super) fn fault(fault: &Fault) -> TomlValue {
    let mut table = WrittenTable::default();
    table.time("at_s", fault.at_ns, S);
    table.set("nodes", count(fault.nodes));
    let kind = match fault.kind {
        FaultKind::Crash { noticed_after_ns } => {
            table.time("noticed_after_s", noticed_after_ns, S);
            "crash"
        }
        FaultKind::Leave => "leave",
        FaultKind::Join => "join",
        FaultKind::Partition { for_ns } => {
            table.time("for_s", for_ns, S);
            "partition"
        }
        FaultKind::Slow { factor } => {
            table.set("factor", shortest(factor));
            "slow"
        }
        FaultKind::Lossy { loss } => {
            table.set("loss", shortest(loss));
            "lossy"
        }
        FaultKind::ClockSkew { by_ns } => {
            table.set("ahead_ms", shortest(by_ns as f64 / MS));
            "clock-skew"
        }
        FaultKind::Spam { interval_ns } => {
            table.time("interval_ms", interval_ns, MS);
            "spam"
        }
        FaultKind::Silent => "silent",
    };
    table.set("kind", text(kind));
    table.finish()
}
