//! Checks house rules that no other tool checks.

use std::collections::BTreeSet;
use std::fmt::{self, Display};
use std::path::{Path, PathBuf};

use clap::Parser as _;

use crate::cli::{Cli, Task};
use crate::sources::{self, UnreadableSource, read};
use crate::workspace::{Metadata, MetadataError, WORKSPACES, metadata};

/// Maximum length of a source file in a folder `src` below `crates`, lines.
const MAX_LINES: usize = 500;

/// Page that says what each dependency is for.
const DEPENDENCIES: &str = "docs/design/dependencies.md";

/// Word of a forgotten debug print, written in two halves so that this file does not match itself.
const DEBUG_PRINT: &str = concat!("dbg", "!");
const UNFINISHED: &str = concat!("TO", "DO");

/// Violation of a rule, with its location.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Finding {
    path: PathBuf,
    /// Line number from 1; `None` if the finding concerns the whole file.
    line: Option<usize>,
    what: String,
}

/// Reason why the workspace cannot be checked.
#[derive(Debug, thiserror::Error)]
pub(crate) enum TidyError {
    #[error(transparent)]
    Source(#[from] UnreadableSource),
    #[error(transparent)]
    Metadata(#[from] MetadataError),
}

/// Checks the workspace at `root`.
pub(crate) fn check(root: &Path) -> Result<Vec<Finding>, TidyError> {
    let mut findings = in_sources(root)?;
    let page = read(&root.join(DEPENDENCIES))?;
    for folder in WORKSPACES {
        findings.extend(unnamed(&metadata(&root.join(folder))?, &page));
    }
    Ok(findings)
}

/// Returns the findings in the source files.
fn in_sources(root: &Path) -> Result<Vec<Finding>, UnreadableSource> {
    let mut findings = Vec::new();
    for file in sources::all(root)? {
        findings.extend(leftovers(&file.path, &file.text));
        findings.extend(too_long(&file.path, &file.text));
        findings.extend(never_run(&file.path, &file.text));
    }
    Ok(findings)
}

/// Returns a finding for a file in a folder `src` below `crates` that is longer than [`MAX_LINES`].
fn too_long(path: &Path, text: &str) -> Option<Finding> {
    let mut parts = path.iter();
    let in_crate_source =
        parts.next().is_some_and(|part| part == "crates") && parts.any(|part| part == "src");
    let lines = text.lines().count();
    (in_crate_source && lines > MAX_LINES).then(|| Finding {
        path: path.to_owned(),
        line: None,
        what: format!("{lines} lines, at most {MAX_LINES}; split it by what it does"),
    })
}

/// Returns findings for debug prints and unexplained notes of unfinished work.
fn leftovers(path: &Path, text: &str) -> Vec<Finding> {
    let lines = (1..).zip(text.lines());
    let finding = |(line, text): (usize, &str)| {
        let what = if text.contains(DEBUG_PRINT) {
            format!("{DEBUG_PRINT} left behind; remove it")
        } else if unexplained(text) {
            format!("{UNFINISHED} without a reason; do it, or write {UNFINISHED}(why not now)")
        } else {
            return None;
        };
        Some(Finding {
            path: path.to_owned(),
            line: Some(line),
            what,
        })
    };
    lines.filter_map(finding).collect()
}

/// Whether the line has the word without a reason in parentheses after it.
fn unexplained(line: &str) -> bool {
    let mut after = line.split(UNFINISHED).skip(1);
    after.any(|rest| {
        let reason = rest
            .strip_prefix('(')
            .and_then(|rest| rest.split_once(')'))
            .map_or("", |(reason, _)| reason.trim());
        reason.is_empty()
    })
}

/// Returns findings for ignored tests whose reason does not end in the command that runs them: a test that
/// nobody runs proves nothing.
fn never_run(path: &Path, text: &str) -> Vec<Finding> {
    let finding = |(line, text): (usize, &str)| {
        let attribute = text.trim_start();
        let is_ignored = attribute.starts_with("#[ignore")
            || (attribute.starts_with("#[cfg_attr(") && attribute.contains(" ignore"));
        (is_ignored && !names_a_command(attribute)).then(|| Finding {
            path: path.to_owned(),
            line: Some(line),
            what: "an ignored test; end its reason in the command that runs it, as in \
                   \"takes minutes; cargo xtask campaign --only tables\""
                .to_owned(),
        })
    };
    if !sources::is_rust(path) {
        return Vec::new();
    }
    (1..).zip(text.lines()).filter_map(finding).collect()
}

/// Whether a string on the line ends in a command of this program for a step or a campaign.
fn names_a_command(line: &str) -> bool {
    let command = line
        .split_once("cargo xtask ")
        .and_then(|(_, rest)| rest.split_once('"'))
        .map_or("", |(command, _)| command);
    let words = ["cargo xtask"]
        .into_iter()
        .chain(command.split_whitespace());
    match Cli::try_parse_from(words).map(|cli| cli.task) {
        Ok(Task::Test(args)) => args.only.len() == 1,
        Ok(Task::Campaign(args)) => args.only.len() == 1,
        _ => false,
    }
}

/// Returns findings for dependencies of others that their page does not name.
fn unnamed(metadata: &Metadata, page: &str) -> Vec<Finding> {
    let dependencies = metadata
        .packages
        .iter()
        .flat_map(|package| &package.dependencies);
    let names: BTreeSet<_> = dependencies
        .filter(|dependency| dependency.source.is_some())
        .map(|dependency| &dependency.name)
        .collect();
    names
        .into_iter()
        .filter(|name| !page.contains(&format!("`{name}`")))
        .map(|name| Finding {
            path: PathBuf::from(DEPENDENCIES),
            line: None,
            what: format!("dependency `{name}` is not named; say what it is for"),
        })
        .collect()
}

impl Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.path.display())?;
        if let Some(line) = self.line {
            write!(f, ":{line}")?;
        }
        write!(f, ": {}", self.what)
    }
}

#[cfg(test)]
#[path = "tests/tidy.rs"]
mod tests;
