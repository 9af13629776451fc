//! Counting by callgrind. It runs the program on a processor of its own making, so it needs no counters of the
//! machine, which virtual machines often lack, and counts the same wherever it runs.

use std::fmt::{self, Display};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::run::cargo_command;

/// Benchmark of each package that does the work.
const BENCHMARK: &str = "instructions";

/// Reason why instructions cannot be counted.
#[derive(Debug)]
pub(crate) enum CannotCount {
    /// Valgrind cannot be started.
    Valgrind(io::Error),
    /// Cargo cannot be started, or a file of the count cannot be read.
    Program(io::Error),
    /// The benchmark failed.
    Failed {
        /// Name of the work.
        work: String,
        /// File with valgrind's messages.
        log: PathBuf,
    },
    /// The benchmark or callgrind did not print its figure.
    Silent {
        /// Name of the work.
        work: String,
    },
}

/// Returns valgrind's version.
pub(super) fn version() -> Result<String, CannotCount> {
    let output = Command::new("valgrind").arg("--version").output();
    let output = output.map_err(CannotCount::Valgrind)?;
    let text = String::from_utf8_lossy(&output.stdout);
    Ok(text.trim().to_owned())
}

/// Counts the instructions of a package's work. Returns those of one unit.
pub(super) fn count(root: &Path, package: &str, work: &str) -> Result<u64, CannotCount> {
    let name = format!("undertone-instructions-{}-{work}.log", std::process::id());
    let log = std::env::temp_dir().join(name);
    let runner = format!(
        "target.'cfg(unix)'.runner = ['valgrind', '--tool=callgrind', '--callgrind-out-file=/dev/null', \
         '--log-file={}', '--collect-atstart=no', '--toggle-collect=*instructions*measured_*']",
        log.display()
    );
    let args = [
        "bench",
        "--profile",
        "dist",
        "--package",
        package,
        "--bench",
        BENCHMARK,
        "--config",
        &runner,
        "--",
        work,
    ];
    let output = cargo_command(root, &args)
        .stderr(Stdio::inherit())
        .output()
        .map_err(CannotCount::Program)?;
    if !output.status.success() {
        return Err(CannotCount::Failed {
            work: work.to_owned(),
            log,
        });
    }
    let report = fs::read_to_string(&log).map_err(CannotCount::Program)?;
    fs::remove_file(&log).map_err(CannotCount::Program)?;
    let printed = String::from_utf8_lossy(&output.stdout);
    per_unit(&report, &printed).ok_or_else(|| CannotCount::Silent {
        work: work.to_owned(),
    })
}

/// Returns the instructions of one unit, from callgrind's report and the benchmark's line `times: N`.
fn per_unit(report: &str, printed: &str) -> Option<u64> {
    let collected = report
        .lines()
        .find_map(|line| line.split_once("Collected :"))
        .and_then(|(_, number)| number.trim().parse::<u64>().ok())?;
    let times = printed
        .lines()
        .find_map(|line| line.strip_prefix("times: "))
        .and_then(|number| number.trim().parse::<u64>().ok())?;
    // Nothing is collected if no function has the name.
    (collected > 0).then(|| collected.checked_div(times))?
}

impl Display for CannotCount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Valgrind(error) => write!(
                f,
                "this machine cannot count instructions: cannot run valgrind ({error}); install the package \
                 valgrind"
            ),
            Self::Program(error) => write!(f, "cannot run the work: {error}"),
            Self::Failed { work, log } => write!(
                f,
                "{work}: the benchmark failed; valgrind's messages are in {} (a program built for this \
                 very processor may have instructions that valgrind does not know)",
                log.display()
            ),
            Self::Silent { work } => write!(
                f,
                "{work}: nothing was counted; the benchmark must print `times: N`, and do its work in a \
                 function `measured_*` that is not inlined"
            ),
        }
    }
}

#[cfg(test)]
mod tests;
