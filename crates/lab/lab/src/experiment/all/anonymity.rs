//! Who spoke: how often observers name the publisher of a message, and what it costs to hide it.

use super::super::{Context, Experiment, ExperimentError, Findings, Simulated};
use crate::anonymity::{AnonymityFigures, Estimator, KnownNetwork, Observers};
use crate::record::{Axis, Chart, Criterion, Figure, Role, Shape, Table};
use crate::report::{self, Latency};

pub(super) const EXPERIMENT: Experiment = Experiment {
    id: "anonymity",
    title: "Who spoke: publishers named by observers, and the price of hiding them",
    source: "SPREAD (libp2p/specs#726, ethresear.ch 25343), read in 2026; Waku's parameters are ours",
    run,
};

/// Ways to publish, each with the keys that differ from the base scenario.
const WAYS: [(&str, &[&str]); 9] = [
    (MESH_ONLY, &["relay.flood_publish=off"]),
    ("flood publishing", &["relay.flood_publish=on"]),
    (AS_SHIPPED, &[]),
    ("as shipped, proofs of 150 ms", &["rln.generation_ms=150"]),
    (
        "as shipped, 100 KB in 5 fragments",
        &["traffic.payload_bytes=100000", "relay.fragments=5"],
    ),
    (
        "lightpush by light clients",
        &[
            "services.service_nodes=50",
            "services.clients_per_service_node=2",
            "services.peers_per_client=4",
            "services.clients=both",
            "services.publish_one_in=1",
        ],
    ),
    (DANDELION, STEM),
    ("Dandelion++, embargo of 3 s", SHORT_EMBARGO),
    ("Dandelion++, half of the nodes diffuse", SHORT_STEM),
];

const STEM: &[&str] = &[
    "relay.strategy=dandelion",
    "relay.protocol=/undertone/relay-stem/1.0.0",
];

const SHORT_EMBARGO: &[&str] = &[STEM[0], STEM[1], "relay.dandelion.embargo_mean_s=3"];

const SHORT_STEM: &[&str] = &[STEM[0], STEM[1], "relay.dandelion.diffuser_probability=0.5"];

/// Scenarios with observers in addition to the network's nodes, and what these do.
const ACTIVE: [(&str, &str); 2] = [
    ("anonymity-observers", "observers dial 100 nodes"),
    ("anonymity-eclipse", "observers surround the publishers"),
];

/// Ways that are tried with such observers, and in large networks.
const OF_MOST: [&str; 3] = [MESH_ONLY, AS_SHIPPED, DANDELION];

/// A large network, for the full form.
const LARGE: [&str; 3] = [
    "scenario.nodes=10000",
    "traffic.messages=10",
    "traffic.publisher_count=10",
];

/// Shares of the nodes that observe.
const SHARES: [f64; 5] = [0.01, 0.05, 0.10, 0.20, 0.30];

/// Share of observers at which anonymity is compared with its price.
const COMPARED: f64 = 0.20;

/// Chances that the first spy names the publisher in the published evaluation, by share of observers, each with what its
/// words ask of ours: "more than 35 %" and "54 %", "below 10 %" and "around 20 %".
const PUBLISHED: [(&str, f64, f64, Criterion); 4] = [
    (MESH_ONLY, 0.05, 0.35, Criterion::AtLeast(35.0)),
    (MESH_ONLY, 0.20, 0.54, Criterion::Within(0.25)),
    (DANDELION, 0.05, 0.10, Criterion::AtMost(10.0)),
    (DANDELION, 0.20, 0.20, Criterion::Within(0.25)),
];

const MESH_ONLY: &str = "GossipSub, mesh only";
const AS_SHIPPED: &str = "bounded flood publishing, as shipped";
const DANDELION: &str = "Dandelion++";

/// Why figures differ from the published ones.
const WHY: &str =
    "the published network's size, degree and stem length are not stated; see the notes";

fn run(context: &mut Context<'_>) -> Result<Findings, ExperimentError> {
    let mut findings = Findings::default();
    let quick = [
        "scenario.nodes=200",
        "traffic.messages=40",
        "traffic.publisher_count=40",
    ];
    let (small, seeds) = context.by_scale((&quick[..], 2), (&[][..], 50));
    let mut named = Table::new(
        "Share of publishers that passive observers name, %; medians over networks, tenth and ninetieth percentile",
        &[
            "published by",
            "observers, %",
            "first spy",
            "earliest sender",
            "topology known",
            "precision of first spy, %",
            "entropy with topology known, bits",
        ],
    );
    let mut price = Table::new(
        "What it costs, beside the chance of being named by the best estimator of 20 % of the nodes; medians over networks",
        &[
            "published by",
            "named, %",
            "p50, ms",
            "p99, ms",
            "KB sent per node and message",
            "delivered, %",
        ],
    );
    let mut by_share = Chart::new(
        "Chance that the first spy names the publisher",
        Axis::linear("share of the nodes that observe"),
        Axis::linear("share of publishers named"),
    );
    let against = |title: &str, x: &str| {
        let title = format!("{title} against the chance of being found");
        let y = Axis::linear("share of publishers named by 20 % of the nodes");
        Chart::new(title, Axis::linear(x), y)
    };
    let mut milliseconds = against("Milliseconds", "median latency, ms");
    let mut kilobytes = against("Bytes", "KB sent per node and message");
    for (way, set) in WAYS {
        let set = &[small, set].concat();
        let runs = context.simulate("anonymity", set, seeds)?;
        let mut line = Vec::new();
        for (share, figures) in SHARES.into_iter().zip(of_shares(&runs)?) {
            named.rows.push(row(way, share, &figures));
            line.push([share, median(&figures[0], |one| one.hit_ratio)]);
            judge(&mut findings, (way, share), &figures[0]);
            if share == COMPARED {
                let of_estimators = figures.iter().map(|of| median(of, |one| one.hit_ratio));
                let worst = of_estimators.fold(0.0, f64::max);
                price.rows.push(price_row(way, worst, &runs));
                let point = |x: f64| Shape::Points(vec![[x, worst]]);
                let p50_ms = latency(&runs, |latency| latency.p50);
                milliseconds = milliseconds.with(way, Role::Ours, point(p50_ms));
                kilobytes = kilobytes.with(way, Role::Ours, point(kb_per_message(&runs)));
            }
        }
        by_share = by_share.with(way, Role::Ours, Shape::Line(line));
    }
    for (scenario, observers) in ACTIVE {
        for (way, set) in WAYS.into_iter().filter(|(way, _)| OF_MOST.contains(way)) {
            let runs = context.simulate(scenario, &[small, set].concat(), seeds)?;
            let title = format!("{way}; {observers}");
            named.rows.push(row(&title, 0.05, &of_adversaries(&runs)?));
        }
    }
    let in_large = context.by_scale(&[][..], &OF_MOST[..]);
    for (way, set) in WAYS.into_iter().filter(|(way, _)| in_large.contains(way)) {
        let runs = context.simulate("anonymity", &[&LARGE[..], set].concat(), 20)?;
        for (share, figures) in SHARES.into_iter().zip(of_shares(&runs)?) {
            named
                .rows
                .push(row(&format!("{way}; 10,000 nodes"), share, &figures));
        }
    }
    for strategy in [MESH_ONLY, DANDELION] {
        let of_strategy = PUBLISHED.iter().filter(|(way, ..)| *way == strategy);
        let points = of_strategy.map(|(_, share, chance, _)| [*share, *chance]);
        let name = format!("{strategy} (ethresear.ch 25343)");
        by_share = by_share.with(name, Role::Published, Shape::Points(points.collect()));
    }
    findings.tables.extend([named, price]);
    findings.charts.extend([by_share, milliseconds, kilobytes]);
    findings.note(
        "Observers are relabelled nodes: they behave as all others do, so one run serves for every share of observers.",
    );
    findings.note(
        "Who knows the topology here knows every connection and its delay, of which only 5 ms vary: more than \
         a real observer does, so this bounds what any can infer from times of arrival.",
    );
    findings.note(
        "The published evaluation states neither the number of its nodes nor its degree. A first spy can name only a \
         publisher that sent to it, so with six receivers at random at most 26.5 % at 5 % of observers and 73.8 % at \
         20 % can be named; more than 35 % at 5 % needs a network of some thirty nodes or a larger degree.",
    );
    findings.note(
        "SPREAD chooses receivers by network coordinates (Vivaldi), which the router does not have; its published \
         chances are 20 to 25 % at 5 % of observers and about 45 % at 20 %.",
    );
    Ok(findings)
}

/// Figures of each network, by estimator in the order of [`Estimator::NAMES`].
type ByEstimator = Vec<Vec<AnonymityFigures>>;

/// Figures for each of [`SHARES`].
fn of_shares(runs: &[Simulated]) -> Result<Vec<ByEstimator>, ExperimentError> {
    let mut all = vec![vec![Vec::new(); Estimator::NAMES.len()]; SHARES.len()];
    for run in runs {
        let mut network = KnownNetwork::new(&run.scenario, run.outcome.seed)?;
        for (share, figures) in SHARES.into_iter().zip(&mut all) {
            let observers = Observers::passive(&network, &run.outcome, share, run.outcome.seed);
            estimate(&observers, &mut network, run, figures);
        }
    }
    Ok(all)
}

/// Figures of the adversaries of each run as observers.
fn of_adversaries(runs: &[Simulated]) -> Result<ByEstimator, ExperimentError> {
    let mut figures = vec![Vec::new(); Estimator::NAMES.len()];
    for run in runs {
        let mut network = KnownNetwork::new(&run.scenario, run.outcome.seed)?;
        let observers = Observers::adversaries(&network, &run.outcome);
        estimate(&observers, &mut network, run, &mut figures);
    }
    Ok(figures)
}

fn estimate(
    observers: &Observers,
    network: &mut KnownNetwork,
    run: &Simulated,
    figures: &mut ByEstimator,
) {
    for ((_, estimator), figures) in Estimator::NAMES.iter().zip(figures) {
        let attempts = observers.attempts(network, &run.outcome, *estimator);
        figures.extend(AnonymityFigures::of(&attempts));
    }
}

fn median(figures: &[AnonymityFigures], of: impl Fn(&AnonymityFigures) -> f64) -> f64 {
    report::median(figures.iter().map(of)).unwrap_or(f64::NAN)
}

/// Median over networks, with the tenth and ninetieth percentile.
fn band(figures: &[AnonymityFigures], of: impl Fn(&AnonymityFigures) -> f64) -> String {
    let mut all: Vec<f64> = figures.iter().map(&of).collect();
    all.sort_by(f64::total_cmp);
    let at = |share: f64| all[((all.len() - 1) as f64 * share).round() as usize];
    match all.len() {
        0 => "none".to_owned(),
        _ => format!(
            "{:.0} ({:.0} to {:.0})",
            median(figures, of),
            at(0.1),
            at(0.9)
        ),
    }
}

fn row(way: &str, share: f64, figures: &ByEstimator) -> Vec<String> {
    let mut row = vec![way.to_owned(), format!("{:.0}", share * 100.0)];
    row.extend(
        figures
            .iter()
            .map(|of_networks| band(of_networks, |one| 100.0 * one.hit_ratio)),
    );
    row.push(format!(
        "{:.1}",
        100.0 * median(&figures[0], |one| one.precision)
    ));
    row.push(format!(
        "{:.1}",
        median(&figures[2], |one| one.entropy_bits)
    ));
    row
}

fn latency(runs: &[Simulated], of: fn(&Latency) -> f64) -> f64 {
    let of = |run: &Simulated| run.summary.latency_ms.as_ref().map_or(f64::NAN, of);
    report::median(runs.iter().map(of)).unwrap_or(f64::NAN)
}

/// Bytes that a node sends on the wire for each message, in thousands.
fn kb_per_message(runs: &[Simulated]) -> f64 {
    let of = |run: &Simulated| {
        let sent: u64 = run
            .outcome
            .nodes
            .iter()
            .map(|node| node.wire_sent_bytes)
            .sum();
        let copies = run.outcome.nodes.len() * run.outcome.messages.len().max(1);
        sent as f64 / copies as f64 / 1e3
    };
    report::median(runs.iter().map(of)).unwrap_or(f64::NAN)
}

fn price_row(way: &str, named: f64, runs: &[Simulated]) -> Vec<String> {
    let delivered =
        |run: &Simulated| 100.0 * run.summary.delivered as f64 / run.summary.expected as f64;
    vec![
        way.to_owned(),
        format!("{:.0}", 100.0 * named),
        format!("{:.0}", latency(runs, |latency| latency.p50)),
        format!("{:.0}", latency(runs, |latency| latency.p99)),
        format!("{:.1}", kb_per_message(runs)),
        format!(
            "{:.2}",
            report::median(runs.iter().map(delivered)).unwrap_or(f64::NAN)
        ),
    ]
}

/// Compares with the published chances.
fn judge(findings: &mut Findings, (way, share): (&str, f64), figures: &[AnonymityFigures]) {
    let published = PUBLISHED
        .iter()
        .find(|(of, at, ..)| *of == way && *at == share);
    if let Some((.., chance, criterion)) = published {
        let ours: Vec<f64> = figures.iter().map(|one| 100.0 * one.hit_ratio).collect();
        let name = format!("{way}: named by {:.0} % of the nodes", share * 100.0);
        let figure = Figure::published(name, "%", 100.0 * chance, &ours, *criterion);
        findings.figures.push(figure.because(WHY));
    }
}
