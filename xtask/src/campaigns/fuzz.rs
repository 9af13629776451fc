//! Task of the campaign `fuzz`: runs each target of the folder `fuzz` for some minutes, guided by code coverage.

use std::env;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;

use crate::workspace::cargo_command;

/// Environment variable with the time of each target, seconds.
pub(super) const SECONDS: &str = "UNDERTONE_FUZZ_S";

const SECONDS_DEFAULT: &str = "180";

/// Resident memory at which a target fails, MiB: nodes run on small machines, and input sizes are limited.
const MEMORY_MIB: u32 = 512;

/// Time after which an input counts as hanging its target, seconds. Most take microseconds.
const INPUT_S: u32 = 20;

/// Number of output lines shown of a failed target.
const SHOWN_LINES: usize = 60;

/// Reason why targets cannot be run.
#[derive(Debug, thiserror::Error)]
pub(crate) enum FuzzError {
    #[error("{path}: {source}")]
    Folder { path: PathBuf, source: io::Error },
    #[error("no target {name:?}; there are: {known}")]
    Unknown { name: String, known: String },
    #[error("the targets cannot be built ({0})")]
    Build(ExitStatus),
}

/// Builds the targets and runs those named by the arguments, or all, even if an earlier one fails. Returns whether
/// none failed.
pub(crate) fn run(root: &Path, arguments: &[String]) -> Result<bool, FuzzError> {
    let path = root.join("fuzz");
    let in_folder = |source| FuzzError::Folder {
        path: path.clone(),
        source,
    };
    let targets = targets(&path).map_err(in_folder)?;
    if let Some(name) = arguments.iter().find(|name| !targets.contains(name)) {
        let (name, known) = (name.clone(), targets.join(", "));
        return Err(FuzzError::Unknown { name, known });
    }
    let seconds = env::var(SECONDS).unwrap_or_else(|_| SECONDS_DEFAULT.to_owned());
    let build = ["build", "--release", "--locked", "--all-features", "--bins"];
    eprintln!("$ cd fuzz && cargo {}", build.join(" "));
    let built = cargo_command(&path, &build).status().map_err(in_folder)?;
    if !built.success() {
        return Err(FuzzError::Build(built));
    }
    let is_chosen = |name: &&String| arguments.is_empty() || arguments.contains(name);
    let mut is_good = true;
    println!("| target | executions | edges | features |\n| --- | ---: | ---: | ---: |");
    for target in targets.iter().filter(is_chosen) {
        let Run { log, is_passed } = fuzz(&path, target, &seconds).map_err(in_folder)?;
        println!("| `{target}` | {} |", figures(&log).join(" | "));
        if !is_passed {
            report(target, &log);
            is_good = false;
        }
    }
    Ok(is_good)
}

/// Finished run of a target.
struct Run {
    log: String,
    is_passed: bool,
}

/// Returns the names of the targets, in order.
fn targets(folder: &Path) -> io::Result<Vec<String>> {
    let mut names = Vec::new();
    for file in fs::read_dir(folder.join("fuzz_targets"))? {
        let path = file?.path();
        let name = path.file_stem().map(|name| name.to_string_lossy());
        names.extend(name.map(|name| name.into_owned()));
    }
    names.sort_unstable();
    Ok(names)
}

/// Runs a target. New inputs are kept for the next run in `target/corpus`; those of the repository are only read.
fn fuzz(folder: &Path, target: &str, seconds: &str) -> io::Result<Run> {
    let found = format!("target/corpus/{target}");
    let artifacts = format!("artifacts/{target}/");
    let mut options = vec![
        format!("-max_total_time={seconds}"),
        format!("-rss_limit_mb={MEMORY_MIB}"),
        format!("-timeout={INPUT_S}"),
        format!("-artifact_prefix={artifacts}"),
        found.clone(),
    ];
    fs::create_dir_all(folder.join(found))?;
    fs::create_dir_all(folder.join(artifacts))?;
    let seeds = format!("corpus/{target}");
    if folder.join(&seeds).is_dir() {
        options.push(seeds);
    }
    let mut command = cargo_command(
        folder,
        &[
            "run",
            "--release",
            "--quiet",
            "--all-features",
            "--bin",
            target,
            "--",
        ],
    );
    let output = command.args(options).output()?;
    Ok(Run {
        log: String::from_utf8_lossy(&output.stderr).into_owned(),
        is_passed: output.status.success(),
    })
}

/// Extracts executions, edges and features from libFuzzer's last progress line, such as `#2097152 pulse cov: 411 ft:
/// 1270 corp: …`.
fn figures(log: &str) -> [&str; 3] {
    let line = log
        .lines()
        .rev()
        .find(|line| line.starts_with('#') && line.contains(" cov: "));
    let words: Vec<_> = line.unwrap_or_default().split_whitespace().collect();
    let after = |name| {
        let at = words.iter().position(|word| *word == name)?;
        words.get(at + 1).copied()
    };
    let runs = words.first().map(|word| word.trim_start_matches('#'));
    [runs, after("cov:"), after("ft:")].map(|figure| figure.unwrap_or("none"))
}

/// Prints the end of a failed target's output, and the command that replays the input.
fn report(target: &str, log: &str) {
    let lines: Vec<_> = log.lines().collect();
    for line in &lines[lines.len().saturating_sub(SHOWN_LINES)..] {
        eprintln!("{line}");
    }
    match input(log) {
        Some(path) => {
            eprintln!(
                "replay: cd fuzz && cargo run --release --all-features --bin {target} -- {path}"
            );
        }
        None => eprintln!("{target} ended without an input that replays it"),
    }
}

/// Returns the path of the failing input, as reported by libFuzzer.
fn input(log: &str) -> Option<&str> {
    let (_, path) = log.rsplit_once("Test unit written to ")?;
    path.lines().next()
}

#[cfg(test)]
#[path = "tests/fuzz.rs"]
mod tests;
