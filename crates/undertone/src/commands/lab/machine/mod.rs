//! Experiments that measure this computer: its proofs, and real nodes that run on it.
//!
//! Nodes run in a child process ([`child`]), because processor time and memory are counted per
//! process and must not include the remains of an earlier experiment.

mod arrivals;
mod child;
mod cities;
mod community;
mod costs;
mod error;
mod files;
mod hoard;
mod nodes;
mod rln;
mod schedule;
mod spam;
mod spammer;
mod sync;
mod tokens;
mod topology;

use std::cell::OnceCell;

use undertone_lab::experiment::{
    LineRun, MachineError, NetworkLoadPlan, NetworkLoadRun, RealNodes, RlnCosts, SpamPlan, SpamRun,
    SyncRun,
};

pub(crate) use spammer::spammers_proofs;

pub(super) use child::{Args as NodesArgs, run as run_nodes};

/// Measurements on this computer, for the experiments.
#[derive(Default)]
pub(super) struct RealMachine {
    /// Costs of proofs, measured once because two experiments need them.
    costs: OnceCell<Result<RlnCosts, MachineError>>,
}

impl RealNodes for RealMachine {
    fn rln_costs(&self, runs: usize) -> Result<RlnCosts, MachineError> {
        self.costs.get_or_init(|| costs::measure(runs)).clone()
    }

    fn cities(&self, runs: u32) -> Result<Vec<LineRun>, MachineError> {
        cities::run(runs)
    }

    fn network_load(&self, plan: NetworkLoadPlan) -> Result<NetworkLoadRun, MachineError> {
        child::ask("running a community of nodes", "community", &plan)
    }

    fn spam(&self, plan: SpamPlan, tell: &dyn Fn(&str)) -> Result<SpamRun, MachineError> {
        child::ask_and_tell("running a spammer among nodes", "spam", &plan, tell)
    }

    fn tree_sync(&self, members: u32) -> Result<SyncRun, MachineError> {
        sync::run(members)
    }
}
