//! Compares nodes of an implementation on an emulated wide-area network with simulated nodes that use its
//! profile.

mod figures;
mod nodes;
mod options;
mod peer_kind;
mod real;
mod simulated;
mod table;

use undertone_conformance::PeerError;
use undertone_conformance::npm::NpmError;
use undertone_fleet::processes::RunError;
use undertone_lab::scenario::{self, ScenarioError};
use undertone_sim::{Plan, Scenario, SimError};
use undertone_testbed::{TestbedError, Unavailable, can_run};

use figures::ProfileFigures;
pub(crate) use options::ProfilesOptions;
use table::{ComparedRow, MEASURED};

use crate::output;

/// Errors that end the comparison.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ProfilesError {
    #[error(transparent)]
    Scenario(#[from] ScenarioError),
    #[error(transparent)]
    Simulation(#[from] SimError),
    #[error(transparent)]
    Testbed(#[from] TestbedError),
    #[error(transparent)]
    Unavailable(#[from] Unavailable),
    #[error(transparent)]
    Emulation(#[from] RunError),
    #[error("{key}: the peer programs have none; leave it out of the scenario")]
    Unsupported { key: &'static str },
    #[error(transparent)]
    Npm(#[from] NpmError),
    #[error(transparent)]
    Peer(#[from] PeerError),
}

/// Rejects settings that the peer programs do not support.
fn check(scenario: &Scenario) -> Result<(), ProfilesError> {
    for (key, is_set) in [
        ("[rln]", scenario.rln.is_some()),
        ("[[faults]]", !scenario.faults.is_empty()),
        ("relay.topics", scenario.relay.topics > 1),
        ("relay.fragments", scenario.relay.fragments > 1),
    ] {
        if is_set {
            return Err(ProfilesError::Unsupported { key });
        }
    }
    Ok(())
}

pub(crate) async fn run(options: &ProfilesOptions) -> Result<String, ProfilesError> {
    let mut rows = Vec::new();
    for implementation in options.implementations() {
        // The user's settings come last and so take precedence.
        let mut set = implementation.overrides();
        set.extend(options.set.iter().cloned());
        let loaded = scenario::load(&options.scenario(), &set)?;
        check(&loaded.scenario)?;
        let mut measured = Vec::new();
        if !options.simulated_only {
            can_run()?;
            for seed in &options.seeds {
                let plan = Plan::new(&loaded.scenario, *seed)?;
                let network = undertone_fleet::processes::emulated(&loaded.scenario, &plan, *seed)?;
                let say = |what: &str| eprintln!("{implementation}, seed {seed}: {what}");
                let run = real::RealRun {
                    scenario: &loaded.scenario,
                    plan: &plan,
                    implementation,
                };
                measured.push(run.run(&network, &say).await?);
            }
            rows.push(ComparedRow::new(implementation, MEASURED, &measured));
        }
        for profile in implementation.profiles() {
            let set: Vec<_> = set
                .iter()
                .cloned()
                .chain([format!("relay.profile={profile}")])
                .collect();
            let loaded = scenario::load(&options.scenario(), &set)?;
            let runs = options.seeds.iter();
            let runs = runs.map(|seed| simulated::run(&loaded, *seed));
            let runs: Vec<ProfileFigures> = runs.collect::<Result<_, _>>()?;
            rows.push(ComparedRow::new(implementation, profile, &runs));
        }
    }
    Ok(match options.json {
        true => output::json(&rows),
        false => table::text(&rows),
    })
}
