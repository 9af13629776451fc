//! Spam: one node sends far more than its limit.

use super::super::{Context, Experiment, ExperimentError, Findings, SpamPlan, SpamRun};
use crate::record::{Axis, Chart, Criterion, Figure, Role, Shape};

#[cfg(test)]
#[path = "tests/spam.rs"]
mod tests;

pub(super) const EXPERIMENT: Experiment = Experiment {
    id: "spam",
    title: "A spammer among 100 nodes: its peers over time",
    source: "Waku research, RLN Key Benchmarks",
    run,
};

/// Score handling by families of implementations.
const FAMILIES: [(&str, &[&str]); 3] = [
    ("nwaku (disconnects below graylist)", &[]),
    (
        "go-libp2p-pubsub, go-waku (ignores below graylist)",
        &["relay.disconnect_graylisted=false"],
    ),
    (
        "libp2p defaults (no scores)",
        &["relay.score.enabled=false"],
    ),
];
/// Time at which the spam begins and the scenario's last honest message is published, seconds.
const BEGINS_S: f64 = 20.0;
/// Messages per second of the spammer, as published: 3000 a minute.
const RATE_PER_S: f64 = 50.0;
/// Relative difference allowed between the real spammer's rate and `RATE_PER_S`; below that, the machine is too slow
/// for the experiment.
const RATE_WITHIN: f64 = 0.1;
/// Times of the samples after the first message over the limit, seconds.
const AFTER_S: [f64; 9] = [0.1, 0.3, 0.5, 1.0, 2.0, 3.0, 5.0, 10.0, 20.0];

fn run(context: &mut Context<'_>) -> Result<Findings, ExperimentError> {
    let mut findings = Findings::default();
    let mut chart = Chart::new(
        "Peers of the spammer",
        Axis::linear("s after its first message"),
        Axis::linear("peers"),
    );
    for (family, set) in FAMILIES {
        let mut line = Vec::new();
        for after_s in AFTER_S {
            // Each sample is a run that ends at its time; runs are identical until they end.
            let at = format!("traffic.drain_s={}", BEGINS_S + after_s - 15.0);
            let set = [set, &["traffic.messages=1", at.as_str()]].concat();
            let run = context.simulate("spam", &set, 1)?.remove(0);
            let peers = run.outcome.connections.last().copied().unwrap_or(0);
            line.push([after_s, f64::from(peers)]);
        }
        if family.starts_with("nwaku") {
            let left = line.last().map_or(f64::NAN, |point| point[1]);
            let alone = line
                .iter()
                .find(|point| point[1] == 0.0)
                .map(|point| point[0]);
            findings.figures.push(Figure::published(
                "peers left, simulator",
                "",
                0.0,
                &[left],
                Criterion::AtMost(0.0),
            ));
            findings.figures.push(Figure::stated(
                "time until none is left, simulator",
                "s",
                "almost no time",
                &alone.into_iter().collect::<Vec<_>>(),
                Criterion::AtMost(5.0),
            ));
        }
        chart = chart.with(family, Role::Ours, Shape::Line(line));
    }
    let plan = SpamPlan {
        nodes: context.by_scale(20, 100),
        interval_s: 1.0 / RATE_PER_S,
        duration_s: context.by_scale(5.0, 10.0),
        limit: 1,
        epoch_s: 10,
    };
    let line = context.say("a real spammer among real nodes");
    let real = context
        .real_nodes()
        .spam(plan, &|how_far| line.tell(how_far));
    line.finish();
    match real {
        Ok(run) => {
            judge(&mut findings, &plan, &run);
            let line = run
                .peers
                .iter()
                .map(|(s, peers)| [*s, f64::from(*peers)])
                .collect();
            chart = chart.with("real nodes", Role::Ours, Shape::Steps(line));
            findings.note(format!(
                "Real nodes: {} of them; the spammer had {} tokens prepared; {} messages sent while it \
                 had peers, {} attempted in all, {} reached everybody.",
                plan.nodes,
                run.prepared,
                run.sent_s.len(),
                run.attempted,
                run.delivered
            ));
        }
        Err(error) => {
            findings.figures.push(Figure::published(
                "peers left, real nodes",
                "",
                0.0,
                &[],
                Criterion::AtMost(0.0),
            ));
            findings.note(format!("Real nodes did not run: {error}."));
        }
    }
    findings.charts.push(chart);
    findings.note(
        "Every family refuses what is over the limit; they differ in what becomes of the connection.",
    );
    Ok(findings)
}

/// Judges a run of real nodes. If the machine cannot send at the published rate, figures that a slower attack may
/// change are shown and not judged.
fn judge(findings: &mut Findings, plan: &SpamPlan, run: &SpamRun) {
    let rate = run.rate_per_s();
    let too_slow = rate.filter(|rate| *rate < RATE_PER_S * (1.0 - RATE_WITHIN));
    let unless_slow = |criterion| match too_slow {
        Some(_) => Criterion::Shown,
        None => criterion,
    };
    let left = run.peers.last().map(|(_, peers)| f64::from(*peers));
    findings.figures.push(Figure::published(
        "peers left, real nodes",
        "",
        0.0,
        &left.into_iter().collect::<Vec<_>>(),
        unless_slow(Criterion::AtMost(0.0)),
    ));
    findings.figures.push(Figure::published(
        "messages of the spammer per second while it had peers, real nodes",
        "1/s",
        RATE_PER_S,
        &rate.into_iter().collect::<Vec<_>>(),
        unless_slow(Criterion::Within(RATE_WITHIN)),
    ));
    findings.figures.push(Figure::stated(
        "messages of the spammer that reached everybody, real nodes",
        "",
        "its limit, in each epoch that the attack touches",
        &[run.delivered as f64],
        Criterion::AtMost(f64::from(2 * plan.limit)),
    ));
    findings.figures.push(Figure::stated(
        "secret recovered, real nodes (1: yes)",
        "",
        "not published",
        &[f64::from(u8::from(run.secret_recovered))],
        unless_slow(Criterion::AtLeast(1.0)),
    ));
    if let Some(rate) = too_slow {
        findings.note(format!(
            "TOO SLOW: this machine sent {rate:.1} of the spammer's messages a second where {RATE_PER_S:.0} are published. What \
             depends on that rate is shown and not judged; run it on a faster machine, or with nothing else beside it."
        ));
    }
}
