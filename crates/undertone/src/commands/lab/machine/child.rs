//! Real nodes in a child process: this program, started again with a plan.

use std::future::Future;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::process::{Command, Output, Stdio};
use std::thread;

use clap::Subcommand;
use serde::Serialize;
use serde::de::DeserializeOwned;
use undertone_lab::experiment::{MachineError, NetworkLoadPlan, SpamPlan};

use super::error::NodesError;
use super::{community, spam};
use crate::commands::Failure;

/// Prefix of the lines in which a child reports its progress on standard error.
const HOW_FAR: &str = "progress: ";

/// Command line of the child process.
#[derive(clap::Args, Debug)]
pub(crate) struct Args {
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
    writeln!(io::stdout().lock(), "{text}")
        .map_err(|error| Failure::new(format!("standard output: {error}")))
}

/// Starts a child with a plan, in the parent, and waits for its outcome. `what` names the work in errors.
pub(super) fn ask<P: Serialize, R: DeserializeOwned>(
    what: &'static str,
    kind: &str,
    plan: &P,
) -> Result<R, MachineError> {
    let plan = serde_json::to_string(plan).expect("plans have fixed keys");
    answer(what, &["lab", "nodes", kind, &plan])
}

/// Does the same as [`ask`], and passes each progress report that the child makes with [`say`] to `tell`.
pub(super) fn ask_and_tell<P: Serialize, R: DeserializeOwned>(
    what: &'static str,
    kind: &str,
    plan: &P,
    tell: &dyn Fn(&str),
) -> Result<R, MachineError> {
    let plan = serde_json::to_string(plan).expect("plans have fixed keys");
    listen(what, &["lab", "nodes", kind, &plan], tell)
}

/// Reports the child's progress to the parent.
pub(super) fn say(how_far: &str) {
    // Fails if the parent is gone; then nobody reads the report.
    let _ = writeln!(io::stderr().lock(), "{HOW_FAR}{how_far}");
}

/// Starts this program with other arguments and parses the JSON that it prints.
pub(super) fn answer<R: DeserializeOwned>(
    what: &'static str,
    args: &[&str],
) -> Result<R, MachineError> {
    listen(what, args, &|_| {})
}

fn listen<R: DeserializeOwned>(
    what: &'static str,
    args: &[&str],
    tell: &dyn Fn(&str),
) -> Result<R, MachineError> {
    let failed = |reason: String| MachineError::Failed { what, reason };
    let output = output(args, tell);
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

/// Starts this program and waits for its end. Progress reports go to `tell` instead of into the output.
fn output(args: &[&str], tell: &dyn Fn(&str)) -> io::Result<Output> {
    let mut child = Command::new(std::env::current_exe()?)
        .args(args)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()?;
    let (out, err) = (child.stdout.take(), child.stderr.take());
    // Both pipes are read at the same time, because a child whose pipe is full blocks.
    let (stdout, stderr) = thread::scope(|scope| {
        let reading = scope.spawn(|| {
            let mut bytes = Vec::new();
            let read = out.map_or(Ok(0), |mut out| out.read_to_end(&mut bytes));
            read.map(|_| bytes)
        });
        let said = err.map_or(Ok(Vec::new()), |err| hear(err, tell));
        (reading.join().expect("reading does not panic"), said)
    });
    // Waits before it returns a read error, so that no child process is left behind.
    let status = child.wait()?;
    Ok(Output {
        status,
        stdout: stdout?,
        stderr: stderr?,
    })
}

/// Reads a child's standard error to its end; passes lines of [`say`] to `tell` and returns the rest.
fn hear(said: impl Read, tell: &dyn Fn(&str)) -> io::Result<Vec<u8>> {
    let mut rest = Vec::new();
    for line in BufReader::new(said).split(b'\n') {
        let line = line?;
        match line.strip_prefix(HOW_FAR.as_bytes()) {
            Some(how_far) => tell(&String::from_utf8_lossy(how_far)),
            None => {
                rest.extend(line);
                rest.push(b'\n');
            }
        }
    }
    Ok(rest)
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use super::*;

    #[test]
    fn how_far_it_is_is_told_and_no_part_of_why_it_failed() {
        let told = RefCell::new(Vec::new());
        let tell = |how_far: &str| told.borrow_mut().push(how_far.to_owned());
        let said = "progress: 10 of 20\nerror: no space\nprogress: 20 of 20\n  help: \u{fc}";
        let rest = hear(said.as_bytes(), &tell).unwrap();
        assert_eq!(rest, "error: no space\n  help: \u{fc}\n".as_bytes());
        assert_eq!(told.into_inner(), ["10 of 20", "20 of 20"]);
    }
}
