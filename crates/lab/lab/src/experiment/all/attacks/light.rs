//! Attacks on light clients, by the service nodes that they know.

use crate::experiment::{Context, ExperimentError};
use crate::record::Table;
use crate::report::ServicesSummary;

/// Scenarios, each with the keys that differ and the words of its row.
const ATTACKS: [(&str, &[&str], &str); 4] = [
    (
        "light-clients",
        &["services.service_nodes=4", "traffic.drain_s=3"],
        "none",
    ),
    ("attack-light-mute", &[], "filter that falls silent"),
    (
        "attack-light-lies",
        &[],
        "lying stores, lightpush that swallows",
    ),
    ("attack-light-hangs", &[], "no answers"),
];

/// What light clients get and send when three of the four service nodes that they know are hostile.
pub(super) fn table(context: &mut Context<'_>, seeds: u64) -> Result<Table, ExperimentError> {
    let mut table = Table::new(
        "Light clients, three of whose four service nodes are hostile; sums over seeds, latencies of the first",
        &[
            "attack",
            "delivered, %",
            "p50, ms",
            "p99, ms",
            "from stores, %",
            "their messages that reached relays, %",
            "offences noticed",
        ],
    );
    for (scenario, set, attack) in ATTACKS {
        let runs = context.simulate(scenario, set, seeds)?;
        let of = |figure: &dyn Fn(&ServicesSummary) -> u64| -> f64 {
            let all = runs.iter().filter_map(|run| run.summary.services.as_ref());
            all.map(|services| figure(services) as f64).sum()
        };
        let share = |part: f64, whole: f64| format!("{:.1}", 100.0 * part / whole.max(1.0));
        let expected = of(&|services| services.expected);
        let first = runs.first().and_then(|run| run.summary.services.as_ref());
        let latency = first.and_then(|services| services.latency_ms);
        let ms = |ms: Option<f64>| ms.map_or_else(String::new, |ms| format!("{ms:.0}"));
        let relays = runs.first().map_or(0, |run| run.scenario.nodes);
        let reached = |services: &ServicesSummary| {
            let to_relays = services.ways.light_to_relay_ms;
            to_relays.map_or(0, |latency| latency.n as u64)
        };
        let sent = of(&|services| services.sends.taken) * f64::from(relays);
        table.rows.push(vec![
            attack.to_owned(),
            share(of(&|services| services.delivered), expected),
            ms(latency.map(|latency| latency.p50)),
            ms(latency.map(|latency| latency.p99)),
            share(of(&|services| services.from_store.deliveries), expected),
            share(of(&reached), sent),
            format!("{:.0}", of(&|services| services.troubles.offences_noticed)),
        ]);
    }
    Ok(table)
}
