//! Experiments that measure this computer: its proofs, and real nodes that run on it.
//!
//! [`RealMachine`] implements the interface of the laboratory's experiments. Nodes run in a child process,
//! because processor time and memory are counted per process and must not include the remains of an earlier
//! experiment. The child does its [`ChildTask`] with [`network_load::run`] or [`spam::run`].

mod child;
mod cities;
mod costs;
pub mod network_load;
pub mod spam;
mod sync;

use std::cell::OnceCell;

use undertone_lab::experiment::{
    LineRun, MachineError, NetworkLoadPlan, NetworkLoadRun, RealNodes, RlnCosts, SpamPlan, SpamRun,
    SyncRun,
};

pub use child::{ChildTask, HostProgram, progress_line};

/// Measurements on this computer, for the experiments.
#[derive(Debug)]
pub struct RealMachine<P> {
    program: P,
    /// Costs of proofs, measured once because two experiments need them.
    costs: OnceCell<Result<RlnCosts, MachineError>>,
}

impl<P: HostProgram> RealMachine<P> {
    /// Prepares measurements that start this program for their tasks.
    pub fn new(program: P) -> Self {
        Self {
            program,
            costs: OnceCell::new(),
        }
    }
}

impl<P: HostProgram> RealNodes for RealMachine<P> {
    fn rln_costs(&self, runs: usize) -> Result<RlnCosts, MachineError> {
        self.costs.get_or_init(|| costs::measure(runs)).clone()
    }

    fn cities(&self, runs: u32) -> Result<Vec<LineRun>, MachineError> {
        cities::run(&self.program, runs)
    }

    fn network_load(&self, plan: NetworkLoadPlan) -> Result<NetworkLoadRun, MachineError> {
        let task = ChildTask::NetworkLoad(plan);
        child::ask(&self.program, "running a network of nodes", &task, &|_| {})
    }

    fn spam(&self, plan: SpamPlan, tell: &dyn Fn(&str)) -> Result<SpamRun, MachineError> {
        let task = ChildTask::Spam(plan);
        child::ask(&self.program, "running a spammer among nodes", &task, tell)
    }

    fn tree_sync(&self, members: u32) -> Result<SyncRun, MachineError> {
        sync::run(members, &|what| self.program.note(what))
    }
}
