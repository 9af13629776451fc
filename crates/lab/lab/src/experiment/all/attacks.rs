//! Attacks on the relay network, by adversaries that speak its protocol.

mod light;

use undertone_sim::Scenario;
use undertone_sim::outcome::{Delivery, Message};
use undertone_sim::scenario::{Policy, Targets};

use super::super::{Context, Experiment, ExperimentError, Findings, Simulated};
use crate::record::{Axis, Chart, Criterion, Figure, Role, Shape, Table};
use crate::report::{
    self, ATTACK_COLUMNS, AttackSummary, Latency, MembershipSummary, Sorted, by_message,
    latency_ms, mesh_shares,
};

pub(super) const EXPERIMENT: Experiment = Experiment {
    id: "attacks",
    title: "Attacks on the mesh: what they cost, whom, and under which rules",
    source: "Vyzovitis et al. 2020, GossipSub: Attack-Resilient Message Propagation; Waku's parameters are ours",
    run,
};

/// Rules under which each attack is run.
const RULES: [(&str, &[&str]); 7] = [
    (NO_SCORES, GOSSIPSUB_V1_0),
    (PUBLISHED, LIBP2P_2020),
    (GRAFTING, &[]),
    ("Waku deployed", WAKU),
    ("ours, no scores", &["relay.score.enabled=false"]),
    ("ours", &[]),
    ("ours, resistant", RESISTANT),
];

const NO_SCORES: &str = "v1.0, no scores";
const PUBLISHED: &str = "libp2p 2020";
const GRAFTING: &str = "libp2p 2020, opportunistic";

/// `GossipSub` v1.0: no scores, messages of a node go to its mesh, and ids to a fixed number of peers.
const GOSSIPSUB_V1_0: &[&str] = &[
    "relay.score.enabled=false",
    "relay.flood_publish=off",
    "relay.gossip_factor=0",
];

/// What nwaku deploys: opportunistic grafting is off, and with it our exchange of idle members.
const WAKU: &[&str] = &[
    "relay.profile=nim",
    "relay.opportunistic_graft_heartbeats=0",
];

/// Rules that `undertone attack search --defend` found, as in docs/use/attack-resistant.toml.
const RESISTANT: &[&str] = &[
    "relay.opportunistic_graft_heartbeats=2",
    "relay.opportunistic_graft_peers=4",
    "relay.iwant_in_flight_max=3",
    "relay.iwant_give_up_s=0.3",
    "relay.d_lazy=19",
];

/// What [`GRAFTING`] has beside [`LIBP2P_2020`]: the published variant of covert flash.
const OPPORTUNISTIC: &[&str] = &[
    "relay.opportunistic_graft_heartbeats=10",
    "relay.thresholds.opportunistic_graft=10",
];

/// Parameters of the evaluation of `GossipSub` v1.1 (libp2p/gossipsub-hardening, scripts/configs/1k.json).
const LIBP2P_2020: &[&str] = &[
    "relay.profile=go",
    "relay.d=8",
    "relay.d_low=6",
    "relay.d_high=12",
    "relay.d_score=6",
    "relay.d_lazy=12",
    "relay.gossip_factor=0.25",
    "relay.flood_publish=on",
    "relay.thresholds.gossip=-4000",
    "relay.thresholds.publish=-5000",
    "relay.thresholds.graylist=-10000",
    "relay.thresholds.accept_px=0",
    "relay.thresholds.opportunistic_graft=0",
    "relay.score.enabled=true",
    "relay.score.decay_to_zero=0.01",
    "relay.score.retain_score_s=30",
    "relay.score.ip_colocation_weight=-10",
    "relay.score.ip_colocation_threshold=1",
    "relay.score.topic.topic_weight=0.25",
    "relay.score.topic.time_in_mesh_weight=0.0027",
    "relay.score.topic.time_in_mesh_quantum_ms=1000",
    "relay.score.topic.time_in_mesh_cap=3600",
    "relay.score.topic.first_deliveries_weight=0.664",
    "relay.score.topic.first_deliveries_decay=0.9916",
    "relay.score.topic.first_deliveries_cap=1500",
    "relay.score.topic.mesh_deliveries_weight=-0.25",
    "relay.score.topic.mesh_deliveries_decay=0.997",
    "relay.score.topic.mesh_deliveries_cap=400",
    "relay.score.topic.mesh_deliveries_threshold=10",
    "relay.score.topic.mesh_deliveries_activation_s=60",
    "relay.score.topic.mesh_deliveries_window_ms=5",
    "relay.score.topic.mesh_failure_weight=-0.25",
    "relay.score.topic.mesh_failure_decay=0.997",
    "relay.score.topic.invalid_messages_weight=-99",
    "relay.score.topic.invalid_messages_decay=0.9994",
];

/// Scenarios, each with the words of its rows, and whether the quick form runs it.
const ATTACKS: [(&str, &str, bool); 21] = [
    ("attack-none", "none", true),
    ("attack-sybil", "sybils, 4:1", true),
    ("attack-sybil-20", "sybils, 20:1", false),
    ("attack-eclipse-node", "eclipse of a node", true),
    ("attack-eclipse-publishers", "eclipse of publishers", false),
    ("attack-eclipse-shard", "eclipse of a shard", false),
    ("attack-cold-boot", "cold boot", true),
    ("attack-cold-boot-20", "cold boot, 20:1", false),
    ("attack-covert-flash", "covert flash", true),
    ("attack-dawn", "attack at dawn", false),
    ("attack-degrade", "degradation", false),
    ("attack-censor", "censorship of a publisher", true),
    ("attack-slow", "slow forwarding", true),
    ("attack-ihave-flood", "IHAVE flood", false),
    ("attack-iwant-flood", "IWANT flood", false),
    ("attack-double-signals", "double signals", true),
    ("attack-clock-skew", "skewed clocks", true),
    ("attack-racing-roots", "racing roots", true),
    ("attack-nullifier-flood", "flood of nullifiers", false),
    ("attack-found-1", "found: nine announce", true),
    ("attack-found-3", "found: fourteen stop at once", false),
];

/// A smaller network, for the quick form.
const SMALL: [&str; 3] = [
    "scenario.nodes=60",
    "traffic.messages=60",
    "traffic.spacing_s=1",
];

/// Attack whose course is drawn.
const DRAWN: &str = "covert flash";

/// What is drawn for a message that did not come, milliseconds.
const NEVER_MS: f64 = 20_000.0;

/// Attack on one node, whose latency is drawn.
const ON_ONE: &str = "eclipse of a node";

fn run(context: &mut Context<'_>) -> Result<Findings, ExperimentError> {
    let mut findings = Findings::default();
    let (small, seeds) = context.by_scale((&SMALL[..], 1), (&[][..], 3));
    let columns = [
        &["attack", "rules"][..],
        &ATTACK_COLUMNS,
        &["p99 of victims, ms"],
    ]
    .concat();
    let mut table = Table::new(
        "Deliveries of messages published after the attack began; medians over seeds",
        &columns,
    );
    let mut memberships = Table::new(
        "Memberships of adversaries that publish; medians over seeds",
        &[
            "attack",
            "rules",
            "used",
            "exposed",
            "messages",
            "allowed",
            "at some nodes only",
            "reach, %",
            "beyond the limit",
            "their reach, %",
            "two of a nullifier at a node",
            "nullifiers held",
        ],
    );
    let heard = |title: String| {
        let never = format!("ms to the message ({NEVER_MS:.0}: it never came)");
        Chart::new(
            title,
            Axis::linear("time of publication, s"),
            Axis::log(&never),
        )
    };
    let mut by_most = heard(format!("When 95 % of the nodes had each message, {DRAWN}"));
    let mut by_one = heard(format!("When the victim had each message, {ON_ONE}"));
    let mut meshes = Chart::new(
        format!("Mesh places of adversaries, {DRAWN}"),
        Axis::linear("virtual time, s"),
        Axis::linear("share of mesh places"),
    );
    for (scenario, attack, is_quick) in ATTACKS {
        if !context.by_scale(is_quick, true) {
            continue;
        }
        let mut without_ms = f64::NAN;
        for (rules, set) in RULES {
            let set = match rules {
                GRAFTING => [LIBP2P_2020, OPPORTUNISTIC].concat(),
                _ => set.to_vec(),
            };
            let runs = context.simulate(scenario, &[&set, small].concat(), seeds)?;
            table.rows.push(row(attack, rules, &runs));
            memberships
                .rows
                .extend(membership_row(attack, rules, &runs));
            figures(&mut findings, (attack, rules), &runs, &mut without_ms);
            if attack == DRAWN {
                let line = Shape::Line(heard_over_time(&runs[0], None));
                by_most = by_most.with(rules, Role::Ours, line);
                let shares = runs[0].outcome.attack.as_deref().map(mesh_shares);
                let line = shares.into_iter().flatten().collect();
                meshes = meshes.with(rules, Role::Ours, Shape::Line(line));
            }
            if attack == ON_ONE {
                let victim = victims(&runs[0].scenario).first().copied();
                let line = Shape::Line(heard_over_time(&runs[0], victim));
                by_one = by_one.with(rules, Role::Ours, line);
            }
        }
    }
    findings
        .tables
        .extend([table, memberships, light::table(context, seeds)?]);
    findings.charts.extend([by_one, by_most, meshes]);
    findings.note(
        "The adversaries are in addition to the network's nodes, each with a machine and an address of its own; nodes \
         accept all their connections, where a real node has places for a bounded number of each address.",
    );
    findings.note(
        "The published evaluation had 1000 nodes and 4000 adversaries; its figures are known second-hand, so they are \
         judged as statements.",
    );
    Ok(findings)
}

/// Median of a figure over runs; `NaN` if a run has none.
fn median(runs: &[Simulated], of: impl Fn(&Simulated) -> f64) -> f64 {
    report::median(runs.iter().map(of)).unwrap_or(f64::NAN)
}

fn row(attack: &str, rules: &str, runs: &[Simulated]) -> Vec<String> {
    let attacks = runs.iter().filter_map(|run| run.summary.attack.as_ref());
    let attacks: Vec<_> = attacks.collect();
    if attacks.is_empty() {
        let whole =
            |run: &Simulated| 100.0 * run.summary.delivered as f64 / run.summary.expected as f64;
        let latency = |of: fn(&Latency) -> f64| {
            let of = |run: &Simulated| run.summary.latency_ms.as_ref().map_or(f64::NAN, of);
            format!("{:.0}", median(runs, of))
        };
        let mut row = vec![
            attack.to_owned(),
            rules.to_owned(),
            format!("{:.2}", median(runs, whole)),
        ];
        row.extend(["".to_owned(), latency(|l| l.p50), latency(|l| l.p99)]);
        row.resize(3 + ATTACK_COLUMNS.len(), String::new());
        return row;
    }
    let mut row = vec![attack.to_owned(), rules.to_owned()];
    row.extend(AttackSummary::cells(&attacks));
    let victims_ms = median(runs, victims_p99_ms);
    row.push(match victims_ms.is_nan() {
        true => String::new(),
        false => format!("{victims_ms:.0}"),
    });
    row
}

/// Figures of memberships; `None` if the adversaries published nothing.
fn membership_row(attack: &str, rules: &str, runs: &[Simulated]) -> Option<Vec<String>> {
    let used = |run: &Simulated| run.summary.attack.as_ref()?.memberships.clone();
    let all: Vec<MembershipSummary> = runs.iter().filter_map(used).collect();
    all.first()?;
    let figure = |of: &dyn Fn(&MembershipSummary) -> f64| {
        format!(
            "{:.0}",
            report::median(all.iter().map(of)).unwrap_or(f64::NAN)
        )
    };
    Some(vec![
        attack.to_owned(),
        rules.to_owned(),
        figure(&|used| f64::from(used.used)),
        figure(&|used| f64::from(used.exposed)),
        figure(&|used| used.published as f64),
        figure(&|used| used.allowed as f64),
        figure(&|used| used.delivered_partly as f64),
        figure(&|used| 100.0 * used.reach.unwrap_or(0.0)),
        figure(&|used| used.beyond_limit as f64),
        figure(&|used| 100.0 * used.beyond_limit_reach.unwrap_or(0.0)),
        figure(&|used| used.repeated_deliveries as f64),
        figure(&|used| used.nullifiers_held as f64),
    ])
}

/// Time from the publication of each message until `node`, or 95 % of all nodes, had it, milliseconds, by the time of
/// its publication, seconds.
fn heard_over_time(run: &Simulated, node: Option<u32>) -> Vec<[f64; 2]> {
    let (receivers, share) = match node {
        Some(_) => (1, 1.0),
        None => (run.scenario.nodes as usize - 1, 0.95),
    };
    let is_own = |message: &Message| node == Some(message.publisher);
    by_message(&run.outcome)
        .filter(|(message, _)| !is_own(message))
        .map(|(message, deliveries)| {
            let at_node = |delivery: &&Delivery| node.is_none_or(|node| delivery.receiver == node);
            let heard = deliveries.iter().filter(at_node);
            let mut heard: Vec<f64> = heard.map(|d| latency_ms(message, d)).collect();
            heard.resize(heard.len().max(receivers), NEVER_MS);
            let heard_ms = Sorted::new(heard).quantile(share).unwrap_or(NEVER_MS);
            [message.published_ns as f64 / 1e9, heard_ms]
        })
        .collect()
}

/// The nodes that an attack is on; empty if it is on all.
fn victims(scenario: &Scenario) -> Vec<u32> {
    let policies = scenario
        .groups
        .iter()
        .filter_map(|group| group.policy.as_deref());
    let of = |policy: &Policy| match &policy.targets {
        Targets::Nodes(nodes) => [&nodes[..], &policy.censored[..]].concat(),
        Targets::All | Targets::Publishers => policy.censored.clone(),
    };
    policies.flat_map(of).collect()
}

/// 99th percentile of the latency of what victims published or heard during the attack, milliseconds; `NaN` if it is on
/// all nodes.
fn victims_p99_ms(run: &Simulated) -> f64 {
    let victims = victims(&run.scenario);
    let begins_ns = run
        .outcome
        .attack
        .as_deref()
        .map_or(0, |attack| attack.begins_ns);
    let during = by_message(&run.outcome).filter(|(message, _)| message.published_ns >= begins_ns);
    let latencies = during.flat_map(|(message, deliveries)| {
        let is_own = victims.contains(&message.publisher);
        let of_victims = deliveries
            .iter()
            .filter(|delivery| is_own || victims.contains(&delivery.receiver));
        of_victims
            .map(|delivery| latency_ms(message, delivery))
            .collect::<Vec<_>>()
    });
    let p99_ms = Sorted::new(latencies.collect()).quantile(0.99);
    p99_ms.unwrap_or(f64::NAN)
}

/// Outcomes that the published evaluation states.
fn figures(
    findings: &mut Findings,
    (attack, rules): (&str, &str),
    runs: &[Simulated],
    without_ms: &mut f64,
) {
    let on_time: Vec<f64> = runs
        .iter()
        .filter_map(|run| run.summary.attack.as_ref())
        .map(|attack| 100.0 * attack.on_time_ratio)
        .collect();
    if !["cold boot", "covert flash"].contains(&attack) {
        return;
    }
    let p99_ms = |run: &Simulated| {
        let latency = run.summary.attack.as_ref()?.latency_ms.as_ref();
        latency.map(|latency| latency.p99)
    };
    let p99_ms: Vec<f64> = runs.iter().filter_map(p99_ms).collect();
    let stated = |what: &str, unit: &str, statement: &str, ours: &[f64], criterion: Criterion| {
        Figure::stated(
            format!("{attack}, {rules}: {what}"),
            unit,
            statement,
            ours,
            criterion,
        )
    };
    match rules {
        NO_SCORES => findings.figures.push(stated(
            "delivered within 6 s",
            "%",
            "messages lost, or later than 6 s",
            &on_time,
            Criterion::AtMost(99.9),
        )),
        PUBLISHED => {
            *without_ms = report::median(p99_ms.iter().copied()).unwrap_or(f64::NAN);
            findings.figures.extend([
                stated(
                    "delivered within 6 s",
                    "%",
                    "all messages delivered",
                    &on_time,
                    Criterion::AtLeast(100.0),
                ),
                stated(
                    "p99",
                    "ms",
                    "about a second",
                    &p99_ms,
                    Criterion::AtMost(2_000.0),
                ),
            ]);
        }
        GRAFTING => findings.figures.push(stated(
            "p99",
            "ms",
            "below that without opportunistic grafting",
            &p99_ms,
            Criterion::AtMost(*without_ms),
        )),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::RESISTANT;

    #[test]
    fn the_resistant_rules_are_those_of_the_file_for_nodes() {
        let file = "../../../docs/use/attack-resistant.toml";
        let text = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(file));
        let text = text.expect("it is in the repository");
        let lines = text.lines().filter(|line| !line.starts_with('#'));
        let rules = lines.filter_map(|line| line.split_once(" = "));
        let rules: Vec<_> = rules
            .map(|(key, value)| format!("relay.{key}={value}"))
            .collect();
        assert_eq!(rules, RESISTANT);
    }
}
