//! Steps that run beside others, in a process of the lowest priority and with a folder of compiled files of their own. What they
//! do is mostly compiling; the steps that they run beside mostly wait for timers and other processes.

use std::ffi::OsStr;
use std::fs;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use super::{Outcome, Step, mpi, target_folder};
use crate::processor::at_lowest_priority;
use crate::report::{self, Row};

#[cfg(test)]
mod tests;

/// Steps that run beside others, if there are others.
const STEPS: [Step; 5] = [
    Step::Doc,
    Step::Wasm,
    Step::Outside,
    Step::Python,
    Step::Mpi,
];

/// Folder for compiled files, in that of the other steps.
const FOLDER: &str = "beside";

/// Folders of what cargo knows of compiled packages, and of their build scripts with what these made: copied, because it is
/// written in place.
const COPIED: [&str; 2] = ["build", ".fingerprint"];
/// Compiled packages: linked, because the compiler replaces such a file instead of writing into it.
const LINKED: &str = "deps";

/// Steps that run beside others, in a process of their own.
pub(crate) struct BackgroundSteps {
    child: Child,
    steps: Vec<Step>,
    /// File of the output of the steps.
    output: PathBuf,
    /// File with their results.
    results: PathBuf,
}

impl BackgroundSteps {
    /// Starts those of the steps ahead that can run beside others, by this program at the path `own`. `None` if there are none, or
    /// no others; where there is one processor; and where the process cannot be started, which is no failure: the steps can run
    /// after each other.
    pub(crate) fn begin(own: &Path, root: &Path, ahead: &[Step]) -> Option<Self> {
        let steps = chosen(ahead);
        if steps.is_empty() || thread::available_parallelism().map_or(1, usize::from) < 2 {
            return None;
        }
        if steps.contains(&Step::Mpi) {
            // Debian's installer runs once at a time, and steps beside these install packages. The step says why it fails.
            let _ = mpi::install();
        }
        match Self::start(own, root, steps) {
            Ok(beside) => {
                let names: Vec<_> = beside.steps.iter().map(|step| step.name()).collect();
                let output = beside.output.display();
                eprintln!(
                    "== {} begin beside the steps below; their output: {output} ==",
                    names.join(", ")
                );
                Some(beside)
            }
            Err(error) => {
                eprintln!("no step runs beside others: {error}");
                None
            }
        }
    }

    fn start(own: &Path, root: &Path, steps: Vec<Step>) -> io::Result<Self> {
        let target = target_folder(root);
        let folder = target.join(FOLDER);
        share(&target.join("debug"), &folder.join("debug"))?;
        let output = folder.join("output");
        let results = folder.join("results");
        if results.exists() {
            fs::remove_file(&results)?;
        }
        let names: Vec<_> = steps.iter().map(|step| step.name()).collect();
        let written = File::create(&output)?;
        let mut command = at_lowest_priority(own);
        command.args(["test", "--only", &names.join(","), "--results"]);
        command.arg(&results).env("CARGO_TARGET_DIR", &folder);
        command.stdin(Stdio::null()).stdout(written.try_clone()?);
        let child = command.stderr(written).spawn()?;
        Ok(Self {
            child,
            steps,
            output,
            results,
        })
    }

    /// Whether the step is one of these.
    pub(crate) fn runs(&self, step: Step) -> bool {
        self.steps.contains(&step)
    }

    /// Waits for the steps, prints what they printed, and returns their results.
    pub(crate) fn end(mut self) -> Vec<Row> {
        let names: Vec<_> = self.steps.iter().map(|step| step.name()).collect();
        eprintln!("== waiting for {} ==", names.join(", "));
        let ended = match self.child.wait() {
            Ok(status) => status.to_string(),
            Err(error) => error.to_string(),
        };
        match fs::read(&self.output) {
            Ok(output) => eprint!("{}", String::from_utf8_lossy(&output)),
            Err(error) => eprintln!("{}: {error}", self.output.display()),
        }
        let text = fs::read_to_string(&self.results).unwrap_or_default();
        let rows = report::rows(&text);
        let row_of = |step: &Step| {
            let row = rows.iter().find(|row| row.step == *step).cloned();
            row.unwrap_or_else(|| without_result(*step, &ended))
        };
        self.steps.iter().map(row_of).collect()
    }
}

/// Returns the row of a step that left no result.
fn without_result(step: Step, ended: &str) -> Row {
    Row {
        step,
        outcome: Outcome::Failed(format!("the process of the step left no result ({ended})")),
        took: Duration::ZERO,
        processor: None,
    }
}

/// Returns those of the steps ahead that run beside others; none if that would be all.
fn chosen(ahead: &[Step]) -> Vec<Step> {
    let (beside, others): (Vec<_>, Vec<_>) = ahead.iter().partition(|step| STEPS.contains(step));
    match others.is_empty() {
        true => Vec::new(),
        false => beside,
    }
}

/// Gives a folder of cargo's what another has compiled. What the other has not, for other features, stays.
fn share(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir_all(to)?;
    // What cargo knows of a package last: a package that is there, and of which cargo knows nothing or something older, is compiled
    // again. With the times of the files, by which cargo tells what is up to date.
    copy(&["-a", "-l", "-f"], &from.join(LINKED), to)?;
    for name in COPIED {
        copy(&["-a"], &from.join(name), to)?;
    }
    Ok(())
}

fn copy(options: &[&str], from: &Path, into: &Path) -> io::Result<()> {
    let mut command = Command::new("cp");
    command.args(options).args([from, into].map(OsStr::new));
    let status = command.status()?;
    match status.success() {
        true => Ok(()),
        false => Err(io::Error::other(format!("cp {}: {status}", from.display()))),
    }
}
