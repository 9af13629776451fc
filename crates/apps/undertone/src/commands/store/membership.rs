//! Past memberships: the roots of a registry, and the times from which they were valid.

use std::path::Path;
use std::time::{Duration, Instant};

use undertone_membership::evm::{BlockTimes, EvmConfig, EvmRegistry, Mode};
use undertone_membership::{
    DatedLog, Member, MemberLookup, SqliteRegistry, TimelineError, root_timeline,
};
use undertone_node::config::{ChainConfig, RlnConfig};
use undertone_rln::{Fr, RootTimeline};

use crate::commands::progress::Spinner;
use crate::commands::registry::follow;
use crate::commands::rln::registry;
use crate::commands::{Failure, rln};

/// Roots of a network's registry, and the known times of their changes.
pub(super) struct PastMembership {
    pub(super) timeline: RootTimeline,
    /// Location of the registry, in readable form.
    pub(super) place: String,
    registry: PastRegistry,
}

enum PastRegistry {
    File(SqliteRegistry),
    Chain {
        registry: EvmRegistry,
        times: BlockTimes,
    },
}

impl PastMembership {
    /// Opens the configured registry and computes all its roots.
    pub(super) fn open(
        config: &RlnConfig,
        patience: Duration,
        progress: &Spinner,
    ) -> Result<Self, Failure> {
        let window = config.params.root_window;
        match &config.chain {
            Some(chain) => Self::of_chain(chain, window, patience, progress),
            None => Self::of_file(&config.registry, window, progress),
        }
    }

    fn of_file(path: &Path, window: usize, progress: &Spinner) -> Result<Self, Failure> {
        let members = registry::existing(path)?;
        let timeline = timeline(&members, window, progress);
        Ok(Self {
            timeline: timeline.map_err(|error| match error {
                TimelineError::Registry(error) => registry::failed(path)(error),
                error => Failure::at(path, error),
            })?,
            place: path.display().to_string(),
            registry: PastRegistry::File(members),
        })
    }

    fn of_chain(
        chain: &ChainConfig,
        window: usize,
        patience: Duration,
        progress: &Spinner,
    ) -> Result<Self, Failure> {
        if chain.mode == Mode::Light {
            let message = "rln-eth-mode light knows the newest roots alone, not those of the past";
            return Err(Failure::usage(message).with_help(
                "give --rln-eth-mode full, and --rln-eth-store with a file of its own",
            ));
        }
        if let Some(folder) = chain.store.parent() {
            std::fs::create_dir_all(folder).map_err(|error| {
                Failure::at(folder, error).with_help("choose another with --rln-eth-store FILE")
            })?;
        }
        let store = chain.store.clone();
        let config = EvmConfig::new(chain.contract, chain.urls.clone(), store, window);
        let failed = |error: undertone_membership::evm::EvmError| {
            Failure::new(error.to_string()).with_help(
                "a running node keeps its file to itself: give --rln-eth-store FILE with another one",
            )
        };
        let times = BlockTimes::new(&config, patience).map_err(failed)?;
        let members = EvmRegistry::start(config).map_err(failed)?;
        follow(&members, patience, Instant::now(), progress)?;
        let timeline = timeline(&members, window, progress);
        let contract = chain.contract;
        Ok(Self {
            timeline: timeline.map_err(|error| Failure::new(error.to_string()))?,
            place: format!(
                "contract {} on chain {}",
                contract.address, contract.chain_id
            ),
            registry: PastRegistry::Chain {
                registry: members,
                times,
            },
        })
    }

    /// Looks up the times of moments, as far as possible, and sets them in the timeline.
    pub(super) fn date(
        &mut self,
        moments: impl IntoIterator<Item = u64>,
        progress: &Spinner,
    ) -> Result<(), Failure> {
        let PastRegistry::Chain { times, .. } = &mut self.registry else {
            // Times that a file does not contain cannot be recovered.
            return Ok(());
        };
        for block in moments {
            progress.say(format!("asking for the time of block {block}"));
            let unix_ns = times.unix_ns(block);
            let unix_ns = unix_ns.map_err(|error| {
                Failure::new(error.to_string())
                    .with_help("give another endpoint, or wait longer with --patience-s")
            })?;
            self.timeline.set_time(block, unix_ns);
        }
        Ok(())
    }

    /// Returns the present member with a commitment.
    pub(super) fn find(&self, commitment: Fr) -> Result<Option<Member>, Failure> {
        let found = match &self.registry {
            PastRegistry::File(registry) => registry.find(commitment),
            PastRegistry::Chain { registry, .. } => registry.find(commitment),
        };
        found.map_err(|error| {
            let element = rln::element(&commitment);
            Failure::new(format!("{}: member {element}: {error}", self.place))
        })
    }
}

fn timeline(
    log: &dyn DatedLog,
    window: usize,
    progress: &Spinner,
) -> Result<RootTimeline, TimelineError> {
    root_timeline(log, window, |done, of| {
        progress.say(format!("root {done} of {of} of the registry's past"));
    })
}
