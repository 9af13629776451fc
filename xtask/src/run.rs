//! Runs commands: prints each one before it runs, and keeps its output in a log.

use std::fs::{self, File};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{self, ExitStatus, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use crate::needs::{Get, Need};
use crate::report::{Outcome, Row};
use crate::steps::Step;
use crate::workspace::{self, MetadataError, in_workspace};

/// Prefix that permits a command to create network namespaces if the process itself may not.
const AS_ROOT: &str = "unshare --user --map-root-user ";

/// Command that installs the Debian packages named after it. Updates the package list first, which a fresh machine
/// does not have.
const APT: &str = "apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install --yes --no-install-recommends";

/// Time to read the remaining output after a command has ended. Processes that it left behind may keep its output
/// open forever.
const LAST_WORDS: Duration = Duration::from_secs(1);

/// Reason why a command failed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CommandError {
    #[error("{line}\n    {status}")]
    Exit { line: String, status: ExitStatus },
    #[error("{line}\n    cannot be run: {source}")]
    Start { line: String, source: io::Error },
}

/// Reason why a requirement is not met.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Missing {
    #[error("missing: {what}; --install gets it (`{line}`)")]
    NotAsked { what: &'static str, line: String },
    #[error("missing: {what}; with --install the step fetches it")]
    NotFetched { what: &'static str },
    #[error("missing: {what}; {remedy}")]
    ByHand {
        what: &'static str,
        remedy: &'static str,
    },
    #[error("missing: {what}; {error}")]
    Failed {
        what: &'static str,
        error: CommandError,
    },
}

/// Where commands run.
#[derive(Debug)]
pub(crate) struct Place {
    root: PathBuf,
    pub(crate) target: PathBuf,
    /// Whether missing requirements may be installed.
    install: bool,
}

impl Place {
    /// Returns the workspace at `root`, with the target folder from cargo.
    pub(crate) fn new(root: &Path, install: bool) -> Result<Self, MetadataError> {
        Ok(Self {
            root: root.to_owned(),
            target: workspace::metadata(root)?.target_directory,
            install,
        })
    }

    /// Runs the steps one after another, even if an earlier one failed, so that one run shows all failures.
    pub(crate) fn steps(&self, steps: &[&'static Step]) -> io::Result<Vec<Row>> {
        let logs = self.target.join("xtask");
        fs::create_dir_all(&logs)?;
        let mut rows = Vec::new();
        for step in steps {
            eprintln!("== {} ==", step.name);
            let path = logs.join(format!("{}.log", step.name));
            let mut log = File::create(&path)?;
            let began = Instant::now();
            let outcome = self.step(step, &mut log, &path);
            rows.push(Row {
                name: step.name,
                outcome,
                took: began.elapsed(),
            });
        }
        Ok(rows)
    }

    fn step(&self, step: &Step, log: &mut File, path: &Path) -> Outcome {
        let failed = |error: CommandError| Outcome::Failed {
            error: error.to_string(),
            log: path.to_owned(),
        };
        match self.missing(step.needs, Some(log)) {
            Some(missing) if self.install => {
                return Outcome::Failed {
                    error: format!("{missing}; or leave the step out: --skip {}", step.name),
                    log: path.to_owned(),
                };
            }
            Some(missing) => return Outcome::Skipped(missing.to_string()),
            None => {}
        }
        let mut without = Vec::new();
        for command in step.commands {
            match self.missing(command.needs, Some(log)) {
                Some(missing) => without.push(missing.to_string()),
                None => match self.run(&self.filled(command.line), Some(log)) {
                    Ok(()) => {}
                    Err(error) => return failed(error),
                },
            }
        }
        Outcome::Passed { without }
    }

    /// Returns the first requirement that is missing and cannot be installed.
    pub(crate) fn missing(&self, needs: &[Need], mut log: Option<&mut File>) -> Option<Missing> {
        needs
            .iter()
            .find_map(|need| self.get(need, log.as_deref_mut()).err())
    }

    /// Makes sure that a requirement is met.
    fn get(&self, need: &Need, log: Option<&mut File>) -> Result<(), Missing> {
        let mut check = self.shell(&self.filled(need.check));
        let output = check.stdout(Stdio::null()).stderr(Stdio::null()).status();
        if output.is_ok_and(|status| status.success()) {
            return Ok(());
        }
        let what = need.what;
        let line = match need.get {
            Get::ByHand(remedy) => return Err(Missing::ByHand { what, remedy }),
            Get::ByStep if self.install => return Ok(()),
            Get::ByStep => return Err(Missing::NotFetched { what }),
            Get::Apt(packages) if self.install => format!("{APT} {packages}"),
            Get::Apt(packages) => format!("apt-get install {packages}"),
            Get::Install(line) => self.filled(line),
        };
        if !self.install {
            return Err(Missing::NotAsked { what, line });
        }
        self.run(&line, log)
            .map_err(|error| Missing::Failed { what, error })
    }

    /// Returns a command line with its placeholders filled in.
    pub(crate) fn filled(&self, line: &str) -> String {
        let mut line = line.replace("{target}", &quoted(&self.target.to_string_lossy()));
        if line.contains("{as_root}") {
            let trial = self
                .shell("unshare --net true")
                .stderr(Stdio::null())
                .status();
            let has_right = trial.is_ok_and(|status| status.success());
            line = line.replace("{as_root}", if has_right { "" } else { AS_ROOT });
        }
        line
    }

    /// Prints a command line and runs it; its output goes to standard error and to the log, if there is one.
    pub(crate) fn run(&self, line: &str, log: Option<&mut File>) -> Result<(), CommandError> {
        eprintln!("$ {line}");
        let mut command = self.shell(line);
        let ended = match log {
            Some(log) => writeln!(log, "$ {line}").and_then(|()| logged(command, log)),
            None => command.status(),
        };
        match ended {
            Ok(status) if status.success() => Ok(()),
            Ok(status) => Err(CommandError::Exit {
                line: line.to_owned(),
                status,
            }),
            Err(source) => Err(CommandError::Start {
                line: line.to_owned(),
                source,
            }),
        }
    }

    fn shell(&self, line: &str) -> process::Command {
        let mut command = in_workspace("sh", &self.root);
        command.args(["-c", line]).stdin(Stdio::null());
        command
    }
}

/// Runs a command; its output goes to standard error and to the log.
fn logged(mut command: process::Command, log: &File) -> io::Result<ExitStatus> {
    let (mut reader, writer) = io::pipe()?;
    let mut log = log.try_clone()?;
    command.stdout(writer.try_clone()?).stderr(writer);
    let mut child = command.spawn()?;
    // It holds the writing ends of the pipe.
    drop(command);
    let (ended, end) = mpsc::channel();
    thread::spawn(move || {
        let mut bytes = [0; 1 << 16];
        while let Ok(read @ 1..) = reader.read(&mut bytes) {
            // A closed terminal or a full disk is no reason to stop the command.
            let _ = io::stderr().write_all(&bytes[..read]);
            let _ = log.write_all(&bytes[..read]);
        }
        let _ = ended.send(());
    });
    let status = child.wait()?;
    let _ = end.recv_timeout(LAST_WORDS);
    Ok(status)
}

/// Quotes a word so that a shell reads it unchanged.
pub(crate) fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_=./:,+@%".contains(c);
    match !word.is_empty() && word.chars().all(is_plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', r"'\''")),
    }
}

#[cfg(test)]
#[path = "tests/run.rs"]
mod tests;
