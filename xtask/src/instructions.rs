//! Instructions of the hot paths, counted by callgrind and compared with the numbers in the repository. Unlike
//! time, they do not depend on what else the machine does.

use std::fmt::{self, Display};
use std::fs;
use std::io;
use std::path::Path;
use std::process::Command;

use callgrind::CannotCount;
use record::{Circumstances, Record, RecordError};

mod callgrind;
mod record;

/// Recorded numbers, below the root of the workspace.
const RECORD: &str = "docs/instructions.toml";

/// Largest difference from the recorded number that passes, as a part of it: compilers and the order of
/// allocations move some numbers by less.
const TOLERANCE: f64 = 0.02;

/// Fixed work whose instructions are counted.
#[derive(Debug, Clone, Copy)]
struct FixedWork {
    /// Package whose benchmark `instructions` does the work.
    package: &'static str,
    /// Name of the work, for the benchmark and in the record.
    name: &'static str,
    /// Description of one unit of the work, for the table.
    about: &'static str,
}

const ROUTER: &str = "undertone-gossip";
const VERIFIER: &str = "undertone-rln";

const WORKS: [FixedWork; 6] = [
    FixedWork {
        package: ROUTER,
        name: "new-2k",
        about: "router: new message of 2 KiB, forwarded to 7",
    },
    FixedWork {
        package: ROUTER,
        name: "new-150k",
        about: "router: new message of 150 KiB, forwarded to 7",
    },
    FixedWork {
        package: ROUTER,
        name: "duplicate-2k",
        about: "router: further copy of 2 KiB",
    },
    FixedWork {
        package: ROUTER,
        name: "heartbeat",
        about: "router: heartbeat with 8 peers",
    },
    FixedWork {
        package: VERIFIER,
        name: "verify",
        about: "verifier: one proof",
    },
    FixedWork {
        package: VERIFIER,
        name: "verify-batch",
        about: "verifier: one proof of a batch of 32",
    },
];

/// Reason why the task failed.
#[derive(Debug)]
pub(crate) enum InstructionsError {
    /// This machine or a program cannot count.
    Count(CannotCount),
    /// The record cannot be read; the text says where it fails.
    Record(RecordError),
    /// The record file cannot be read or written.
    File(io::Error),
    /// A number differs too much or has no record; the text is the table.
    Differs(String),
}

/// Counts all work. Compares the numbers with the record and returns the table, or replaces the record.
pub(crate) fn run(root: &Path, accept: bool) -> Result<String, InstructionsError> {
    let valgrind = callgrind::version().map_err(InstructionsError::Count)?;
    let path = root.join(RECORD);
    let recorded = match fs::read_to_string(&path) {
        Ok(text) => Some(Record::parse(&text)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => return Err(InstructionsError::File(error)),
    };
    let mut counts = Vec::new();
    for work in &WORKS {
        eprintln!("== {} ==", work.name);
        let count =
            callgrind::count(root, work.package, work.name).map_err(InstructionsError::Count)?;
        counts.push((work.name.to_owned(), count));
    }
    let counted = Record {
        circumstances: Circumstances {
            commit: first_line_of(Command::new("git").current_dir(root).args([
                "describe",
                "--always",
                "--dirty",
                "--exclude",
                "*",
            ])),
            rustc: first_line_of(Command::new("rustc").arg("--version")),
            valgrind,
            machine: std::env::consts::ARCH.to_owned(),
        },
        counts,
    };
    if accept {
        fs::write(&path, counted.to_string()).map_err(InstructionsError::File)?;
        let table = table(&counted, None);
        return Ok(format!("{table}\nrecorded in {RECORD}"));
    }
    let recorded = recorded.transpose().map_err(InstructionsError::Record)?;
    let page = page(&counted, recorded.as_ref());
    if is_good(&counted, recorded.as_ref()) {
        Ok(page)
    } else {
        Err(InstructionsError::Differs(page))
    }
}

/// Returns the first line that a program prints, or a word that says that it printed none.
fn first_line_of(command: &mut Command) -> String {
    let output = command.output().ok();
    let text = output.map(|output| String::from_utf8_lossy(&output.stdout).into_owned());
    text.as_deref()
        .and_then(|text| text.lines().next())
        .unwrap_or("unknown")
        .to_owned()
}

/// Returns the difference of a count from its recorded number, as a part of the latter.
fn difference(count: u64, recorded: u64) -> f64 {
    (count as f64 - recorded as f64) / recorded.max(1) as f64
}

/// Whether each counted number has a recorded one that is near enough.
fn is_good(counted: &Record, recorded: Option<&Record>) -> bool {
    counted.counts.iter().all(|(name, count)| {
        recorded
            .and_then(|record| record.count(name))
            .is_some_and(|recorded| difference(*count, recorded).abs() <= TOLERANCE)
    })
}

/// Returns a line for each work: what it is, instructions, the recorded number, the difference.
fn table(counted: &Record, recorded: Option<&Record>) -> String {
    let mut lines = vec![format!(
        "{:48} {:>12} {:>12} {:>10}",
        "instructions for one", "counted", "recorded", "difference"
    )];
    for (name, count) in &counted.counts {
        let work = WORKS.iter().find(|work| work.name == name);
        let about = work.map_or(name.as_str(), |work| work.about);
        let before = recorded.and_then(|record| record.count(name));
        let line = match before {
            Some(before) => {
                let percent = difference(*count, before) * 100.0;
                format!("{about:48} {count:>12} {before:>12} {percent:>+8.2} %")
            }
            None => format!("{about:48} {count:>12} {:>12}", "none"),
        };
        lines.push(line);
    }
    lines.join("\n")
}

/// Returns the table, what it was compared with, and what to do if a number is too far off.
fn page(counted: &Record, recorded: Option<&Record>) -> String {
    let mut lines = vec![table(counted, recorded)];
    let now = &counted.circumstances;
    match recorded.map(|record| &record.circumstances) {
        Some(then) => {
            lines.push(format!(
                "recorded at commit {} with {}, {}",
                then.commit, then.rustc, then.valgrind
            ));
            if (&then.rustc, &then.valgrind, &then.machine)
                != (&now.rustc, &now.valgrind, &now.machine)
            {
                lines.push(format!(
                    "this is {}, {} on {}: another compiler counts other instructions; compare with \
                     the base commit counted here",
                    now.rustc, now.valgrind, now.machine
                ));
            }
        }
        None => lines.push(format!("there is no record in {RECORD}")),
    }
    if !is_good(counted, recorded) {
        lines.push(format!(
            "a number without record, or more than {:.0} % off; if the change is meant, \
             `cargo xtask instructions --accept` records it",
            TOLERANCE * 100.0
        ));
    }
    lines.join("\n")
}

impl std::error::Error for InstructionsError {}

impl Display for InstructionsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Count(error) => write!(f, "{error}"),
            Self::Record(error) => write!(f, "{RECORD}: {error}"),
            Self::File(error) => write!(f, "{RECORD}: {error}"),
            Self::Differs(page) => write!(f, "the instructions differ from the record\n{page}"),
        }
    }
}

#[cfg(test)]
mod tests;
