//! Child processes of experiments: this program starts itself for each, as `undertone lab nodes` or
//! `testbed`.

use std::future::Future;
use std::io::{self, Write};
use std::process::Command;

use clap::Subcommand;
use serde::Serialize;
use serde::de::DeserializeOwned;
use undertone_fleet::Progress;
use undertone_fleet::experiments::{ChildTask, HostProgram, network_load, progress_line, spam};
use undertone_fleet::in_process::NodesError;
use undertone_lab::experiment::{NetworkLoadPlan, SpamPlan};

use crate::commands::{Failure, output};

/// Command line of a child process.
#[derive(clap::Args, Debug)]
pub(super) struct Args {
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand, Debug)]
enum What {
    /// Run many nodes that publish
    Community {
        /// A `NetworkLoadPlan` as JSON
        #[arg(value_parser = json::<NetworkLoadPlan>)]
        plan: NetworkLoadPlan,
    },
    /// Run a spammer among honest nodes
    Spam {
        /// A `SpamPlan` as JSON
        #[arg(value_parser = json::<SpamPlan>)]
        plan: SpamPlan,
    },
}

fn json<T: DeserializeOwned>(text: &str) -> serde_json::Result<T> {
    serde_json::from_str(text)
}

/// Runs the plan in the child process and prints the outcome as JSON.
pub(super) fn run(args: &Args) -> Result<(), Failure> {
    match args.what {
        What::Community { plan } => print(network_load::run(plan)),
        What::Spam { plan } => print(spam::run(plan, &ToParent)),
    }
}

fn print<T: Serialize>(work: impl Future<Output = Result<T, NodesError>>) -> Result<(), Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| Failure::new(format!("cannot start a runtime: {error}")))?;
    let outcome = runtime.block_on(work);
    let outcome = outcome.map_err(|error| Failure::new(error.to_string()))?;
    let text = serde_json::to_string(&outcome).expect("numbers, lists and fixed keys only");
    writeln!(io::stdout().lock(), "{text}")
        .map_err(|error| Failure::new(format!("standard output: {error}")))
}

/// Progress of a child process, reported to its parent.
struct ToParent;

impl Progress for ToParent {
    fn step(&self, what: &str) {
        // Fails if the parent is gone; then nobody reads the report.
        let _ = writeln!(io::stderr().lock(), "{}", progress_line(what));
    }

    fn note(&self, what: &str) {
        output::note(what);
    }

    fn finish(&self) {}
}

/// The running program itself.
#[derive(Debug)]
pub(super) struct ThisProgram;

impl HostProgram for ThisProgram {
    fn command(&self, task: &ChildTask) -> io::Result<Command> {
        let mut command = Command::new(std::env::current_exe()?);
        match task {
            ChildTask::NetworkLoad(plan) => {
                command.args(["lab", "nodes", "community", &text(plan)])
            }
            ChildTask::Spam(plan) => command.args(["lab", "nodes", "spam", &text(plan)]),
            ChildTask::Testbed { scenario, set } => {
                command.args(["testbed", scenario, "--json"]);
                command.args(set.iter().flat_map(|set| ["--set", set]))
            }
        };
        Ok(command)
    }

    fn note(&self, what: &str) {
        output::note(what);
    }
}

fn text(plan: &impl Serialize) -> String {
    serde_json::to_string(plan).expect("plans have fixed keys")
}
