//! Tasks in child processes: the program, started again, does the task and prints the outcome as JSON.

use std::io::{self, BufRead, BufReader, Read};
use std::process::{Command, Output, Stdio};
use std::thread;

use serde::de::DeserializeOwned;
use undertone_lab::experiment::{MachineError, NetworkLoadPlan, SpamPlan};

/// Prefix of the lines in which a child reports its progress on standard error.
const PROGRESS: &str = "progress: ";

/// Work done in its own process, because processor time and memory are counted per process and must not
/// include the remains of an earlier experiment.
#[derive(Clone, Debug, PartialEq)]
pub enum ChildTask {
    /// Run many nodes that publish, and print a `NetworkLoadRun`.
    NetworkLoad(NetworkLoadPlan),
    /// Run a spammer among honest nodes, and print a `SpamRun`.
    Spam(SpamPlan),
    /// Run this scenario on the testbed with these settings, and print its report.
    Testbed {
        /// Name of a built-in scenario.
        scenario: &'static str,
        /// Settings of its keys, `key=value`.
        set: Vec<String>,
    },
}

/// The program in which experiments run.
pub trait HostProgram {
    /// Returns the command that does the task in a new process.
    ///
    /// # Errors
    /// An I/O error when the program's own file cannot be found.
    fn command(&self, task: &ChildTask) -> io::Result<Command>;

    /// Tells the user something that is not a failure.
    fn note(&self, what: &str);
}

/// Returns the line with which a child reports its progress on standard error.
pub fn progress_line(how_far: &str) -> String {
    format!("{PROGRESS}{how_far}")
}

/// Starts a child for a task and parses the JSON that it prints. `what` names the work in errors; `tell`
/// receives each progress report of the child.
pub(super) fn ask<R: DeserializeOwned>(
    program: &impl HostProgram,
    what: &'static str,
    task: &ChildTask,
    tell: &dyn Fn(&str),
) -> Result<R, MachineError> {
    let failed = |reason: String| MachineError::Failed { what, reason };
    let command = program.command(task);
    let output = command.and_then(|command| output(command, tell));
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

/// Starts the command and waits for its end. Progress reports go to `tell` instead of into the output.
fn output(mut command: Command, tell: &dyn Fn(&str)) -> io::Result<Output> {
    let mut child = command
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

/// Reads a child's standard error to its end; passes progress lines to `tell` and returns the rest.
fn hear(said: impl Read, tell: &dyn Fn(&str)) -> io::Result<Vec<u8>> {
    let mut rest = Vec::new();
    for line in BufReader::new(said).split(b'\n') {
        let line = line?;
        match line.strip_prefix(PROGRESS.as_bytes()) {
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
        let (half, whole) = (progress_line("10 of 20"), progress_line("20 of 20"));
        let said = format!("{half}\nerror: no space\n{whole}\n  help: \u{fc}");
        let rest = hear(said.as_bytes(), &tell).unwrap();
        assert_eq!(rest, "error: no space\n  help: \u{fc}\n".as_bytes());
        assert_eq!(told.into_inner(), ["10 of 20", "20 of 20"]);
    }
}
