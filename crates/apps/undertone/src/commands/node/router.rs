//! `undertone node --relay-parameters`: the router's parameters, in the syntax of scenarios.

use std::path::{Path, PathBuf};

use undertone_lab::scenario::relay_parameters;
use undertone_node::config::NodeConfig;

use crate::commands::Failure;
use crate::commands::sim::scenario_failure;

/// Returns the flag that names the file.
pub(super) fn flag() -> clap::Arg {
    clap::Arg::new("relay-parameters")
        .long("relay-parameters")
        .value_name("FILE")
        .value_parser(clap::value_parser!(PathBuf))
        .help(
            "TOML file with the table [relay] of a scenario (docs/use/scenarios.md), without protocol, \
             max_message_bytes, topics and fragments: every parameter of the router, in place of the \
             network's; the gossip-* keys below change single ones of them",
        )
}

/// Reads the parameters into the configuration, if a file is named.
pub(super) fn read(config: NodeConfig, path: Option<&Path>) -> Result<NodeConfig, Failure> {
    let Some(path) = path else {
        return Ok(config);
    };
    let router = relay_parameters(path).map_err(scenario_failure)?;
    Ok(NodeConfig {
        router: Some(router),
        ..config
    })
}
