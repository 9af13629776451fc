//! Real nodes in a process of their own: this program, started again with the plan.

use std::future::Future;
use std::io::Write;
use std::process::{Command, Stdio};

use clap::Subcommand;
use serde::Serialize;
use serde::de::DeserializeOwned;
use undertone_lab::experiment::{CommunityPlan, MachineError, SpamPlan};

use super::error::NodesError;
use super::{community, spam};
use crate::commands::Failure;

/// The child's command line.
#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand, Debug)]
enum What {
    /// Many nodes that publish
    Community {
        /// A `CommunityPlan` as JSON
        #[arg(value_parser = json::<CommunityPlan>)]
        plan: CommunityPlan,
    },
    /// A spammer among nodes
    Spam {
        /// A `SpamPlan` as JSON
        #[arg(value_parser = json::<SpamPlan>)]
        plan: SpamPlan,
    },
}

fn json<T: DeserializeOwned>(text: &str) -> serde_json::Result<T> {
    serde_json::from_str(text)
}

/// The child: does what it is told and prints the outcome as JSON.
pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    match args.what {
        What::Community { plan } => print(community::run(plan)),
        What::Spam { plan } => print(spam::run(plan)),
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
    writeln!(std::io::stdout().lock(), "{text}")
        .map_err(|error| Failure::new(format!("standard output: {error}")))
}

/// The parent: starts a child with a plan and waits for what it finds. `what` is for messages.
pub(super) fn ask<P: Serialize, R: DeserializeOwned>(
    what: &'static str,
    kind: &str,
    plan: &P,
) -> Result<R, MachineError> {
    let plan = serde_json::to_string(plan).expect("plans have fixed keys");
    answer(what, &["lab", "nodes", kind, &plan])
}

/// What this program prints as JSON, started again with other arguments.
pub(super) fn answer<R: DeserializeOwned>(
    what: &'static str,
    args: &[&str],
) -> Result<R, MachineError> {
    let failed = |reason: String| MachineError::Failed { what, reason };
    let output = std::env::current_exe().and_then(|program| {
        Command::new(program)
            .args(args)
            .stdin(Stdio::null())
            .output()
    });
    let output = output.map_err(|error| failed(format!("cannot start a child: {error}")))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        let said = said.trim();
        let said = said.strip_prefix("error: ").unwrap_or(said);
        return Err(failed(format!(
            "{} ({})",
            output.status,
            said.replace('\n', "; ")
        )));
    }
    serde_json::from_slice(&output.stdout)
        .map_err(|error| failed(format!("the child's answer cannot be read: {error}")))
}
