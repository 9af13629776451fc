//! Rate limiting nullifiers compared with peer scoring alone and with proof of work, for
//! the same attacker's budget.

use super::super::{Context, Experiment, ExperimentError, Findings, Simulated};
use crate::record::{Axis, Chart, Criterion, Figure, Role, Shape, Table};

pub(super) const EXPERIMENT: Experiment = Experiment {
    id: "rate-limiters",
    title: "RLN, peer scoring alone, proof of work: the same attacker",
    source: "DLT 2024, named as future work",
    run,
};

/// Duration of the spam, seconds: from 20 s to the end of the scenario's traffic, 75 s.
const ATTACK_S: f64 = 55.0;
/// Cores of the attacker's machine.
const ATTACKER_CORES: f64 = 4.0;
/// Time that an honest phone may spend on a message, seconds; it has one core a fourth as fast.
const HONEST_S: f64 = 1.0;
const PHONE: f64 = 0.25;
/// Messages per second that the attacker wants to send.
const WANTED_PER_S: f64 = 50.0;

fn run(context: &mut Context<'_>) -> Result<Findings, ExperimentError> {
    let mut findings = Findings::default();
    // Puzzles per second that the budget solves.
    let work_per_s = (ATTACKER_CORES / (HONEST_S * PHONE)).min(WANTED_PER_S);
    let interval = format!("faults.0.interval_ms={}", 1_000.0 / work_per_s);
    let limiters: [(&str, &str, &[&str]); 3] = [
        ("RLN, one message in 10 s", "spam", &[]),
        ("peer scoring alone", "spam-unlimited", &[]),
        (
            "proof of work, 1 s on a phone",
            "spam-unlimited",
            &[&interval],
        ),
    ];
    let mut table = Table::new(
        "one attacker of 4 cores that wants to send 50 messages/s, for 55 s",
        &[
            "",
            "spam at each node, messages/min",
            "kbit/s of a node",
            "honest p95 ms",
        ],
    );
    let (mut names, mut bars) = (Vec::new(), Vec::new());
    let mut spam_per_min = Vec::new();
    for (name, scenario, set) in limiters {
        let runs = context.simulate(scenario, set, context.by_scale(1, 3))?;
        let run = &runs[0];
        let per_min = spam(run) / ATTACK_S * 60.0;
        let sent = run.summary.bytes.wire as f64 * 8.0 / 1e3 / f64::from(run.summary.nodes);
        let p95 = run
            .summary
            .latency_ms
            .map_or(f64::NAN, |latency| latency.p95);
        table.push([
            name.to_owned(),
            format!("{per_min:.1}"),
            format!("{:.0}", sent / run.summary.virtual_s),
            format!("{p95:.0}"),
        ]);
        bars.push([names.len() as f64, per_min.max(0.1)]);
        names.push(name);
        spam_per_min.push(per_min);
    }
    findings.tables.push(table);
    findings.figures = vec![
        Figure::stated(
            "RLN: spam that a node accepts",
            "messages/min",
            "the limit: 6 a minute",
            &[spam_per_min[0]],
            Criterion::AtMost(6.0),
        ),
        Figure::stated(
            "peer scoring alone over RLN",
            "times",
            "not published",
            &[spam_per_min[1] / spam_per_min[0].max(0.1)],
            Criterion::AtLeast(10.0),
        ),
        Figure::stated(
            "proof of work over RLN",
            "times",
            "not published",
            &[spam_per_min[2] / spam_per_min[0].max(0.1)],
            Criterion::AtLeast(10.0),
        ),
    ];
    findings.charts.push(
        Chart::new(
            "Spam that an honest node accepts",
            Axis::words("", &names),
            Axis::log("messages/min"),
        )
        .with("accepted", Role::Ours, Shape::Points(bars)),
    );
    findings.note(
        "Scores punish what is invalid, and without a limit every message is valid. Proof of work that \
         a phone does in a second lets 4 cores send 16 messages a second.",
    );
    findings.note("An attacker may register more members: RLN's limit is per membership, and each is paid for.");
    Ok(findings)
}

/// Mean number of spam messages that reached an honest node: first copies that are not of the
/// scenario's own messages.
fn spam(run: &Simulated) -> f64 {
    let nodes = &run.outcome.nodes;
    let honest = nodes.split_last().map_or(&[][..], |(_, honest)| honest);
    let own: usize = run
        .outcome
        .deliveries
        .iter()
        .filter(|delivery| (delivery.receiver as usize) < honest.len())
        .count();
    let accepted: u64 = honest.iter().map(|node| node.accepted).sum();
    (accepted as f64 - own as f64) / honest.len().max(1) as f64
}
