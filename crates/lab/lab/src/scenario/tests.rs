mod bases;
mod files;
mod gml;
mod keys;
mod mutated;
mod parameters;
mod resolved;
mod seeds;

use super::{Loaded, ScenarioError, parse};

/// The shortest valid scenario.
pub(super) const LEAST: &str = "\
[scenario]
nodes = 10
[topology]
kind = \"line\"
[network]
uplink_mbit_per_s = 100
downlink_mbit_per_s = 100
one_way_ms = 50
[traffic]
messages = 1
payload_bytes = 100
first_s = 5
";

pub(super) fn try_read(text: &str, overrides: &[&str]) -> Result<Loaded, ScenarioError> {
    let overrides: Vec<_> = overrides.iter().map(ToString::to_string).collect();
    parse(text, "s.toml", "s", None, &overrides)
}

pub(super) fn read(text: &str, overrides: &[&str]) -> Loaded {
    try_read(text, overrides).unwrap_or_else(|error| panic!("{error}"))
}

pub(super) fn error(text: &str, overrides: &[&str]) -> String {
    try_read(text, overrides)
        .expect_err("there is a mistake")
        .to_string()
}
