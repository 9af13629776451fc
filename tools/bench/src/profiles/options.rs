use clap::Args;

use crate::profiles::peer_kind::PeerKind;

/// Scenario of the comparison unless another one is named.
const SCENARIO: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/scenarios/profiles.toml");

/// Runs a scenario with real nodes of other implementations on an emulated wide-area network, and simulates it with the
/// profiles of their routers.
#[derive(Debug, Args)]
pub(crate) struct ProfilesOptions {
    /// Implementation to run. May be repeated. Without it: all.
    #[arg(long = "implementation", value_name = "NAME")]
    chosen: Vec<PeerKind>,
    /// File of the scenario. It has one topic and no rate limit.
    #[arg(long, value_name = "FILE")]
    scenario: Option<String>,
    /// Override of a key of the scenario. May be repeated.
    #[arg(long, value_name = "KEY=VALUE")]
    pub(crate) set: Vec<String>,
    /// Seeds, which decide connections, publishers and times for real and simulated nodes alike.
    #[arg(long, value_delimiter = ',', default_value = "1")]
    pub(crate) seeds: Vec<u64>,
    /// Simulate only, without real nodes.
    #[arg(long)]
    pub(crate) simulated_only: bool,
    /// Print the rows as JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

impl ProfilesOptions {
    /// Returns the implementations to run.
    pub(crate) fn implementations(&self) -> Vec<PeerKind> {
        match self.chosen.is_empty() {
            true => PeerKind::ALL.to_vec(),
            false => self.chosen.clone(),
        }
    }

    /// Returns the path of the scenario.
    pub(crate) fn scenario(&self) -> String {
        self.scenario.clone().unwrap_or_else(|| SCENARIO.to_owned())
    }
}
