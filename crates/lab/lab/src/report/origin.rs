//! Metadata of tables: scenario, seed, program and trace of the run that they come from.

use super::summary::Summary;

/// Origin of a run, by the keys of a table's metadata.
pub(crate) fn origin(summary: &Summary) -> Vec<(&'static str, String)> {
    let resolved = summary.resolved.as_ref();
    let scenario = resolved.map(|resolved| {
        serde_json::to_string(resolved).expect("resolved scenarios have string keys")
    });
    let hash = resolved.map(|resolved| resolved.hash.clone());
    let known = [
        ("undertone.scenario", Some(summary.scenario.clone())),
        ("undertone.seed", Some(summary.seed.to_string())),
        ("undertone.commit", Some(summary.commit.clone())),
        ("undertone.trace_hash", summary.trace_hash.clone()),
        ("undertone.scenario_hash", hash),
        ("undertone.resolved", scenario),
    ];
    let known = known.into_iter();
    known
        .filter_map(|(key, value)| Some((key, value?)))
        .collect()
}
