//! Check of house rules that no other tool checks.

use std::fmt::{self, Display};
use std::path::{Path, PathBuf};

use crate::args::{self, Task};
use crate::sources::{self, UnreadableSource, read};

/// Maximum length of a source file in `crates/*/src`, lines.
const MAX_LINES: usize = 500;

/// Word of a forgotten debug print, written in two halves so that this file does not match itself.
const DEBUG_PRINT: &str = concat!("dbg", "!");
const UNFINISHED: &str = concat!("TO", "DO");

/// The fewest words that can name a subject and say something about it.
const WORDS_MIN: usize = 3;

/// Words with which a sentence begins that cannot be read alone.
const PRONOUNS: [&str; 10] = [
    "Who", "Which", "Where", "What", "Why", "It", "They", "Them", "Of", "So",
];

/// Violation of a rule, with its location.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Finding {
    path: PathBuf,
    /// Line number from 1; `None` if the finding concerns the whole file.
    line: Option<usize>,
    what: String,
}

/// Checks the workspace at `root`.
pub(crate) fn check(root: &Path) -> Result<Vec<Finding>, UnreadableSource> {
    let mut findings = Vec::new();
    for file in sources::all(root)? {
        findings.extend(leftovers(&file.path, &file.text));
        findings.extend(too_long(&file.path, &file.text));
        findings.extend(riddles(&file.path, &file.text));
        findings.extend(never_run(&file.path, &file.text));
    }
    findings.extend(dependencies(root)?);
    Ok(findings)
}

/// Returns a finding for a file in `crates/*/src` that is longer than [`MAX_LINES`].
fn too_long(path: &Path, text: &str) -> Option<Finding> {
    let mut parts = path.iter();
    let in_crate_source = parts.next().is_some_and(|part| part == "crates")
        && parts.nth(1).is_some_and(|part| part == "src");
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

/// First lines of doc comments in `src` folders that name no subject: rustdoc shows them in an index, without
/// the item that they belong to.
fn riddles(path: &Path, text: &str) -> Vec<Finding> {
    let in_source = path.iter().any(|part| part == "src") && !sources::is_test(path);
    if !in_source || !sources::is_rust(path) {
        return Vec::new();
    }
    let finding = |(line, text): (usize, &str)| {
        let reason = riddle(text)?;
        Some(Finding {
            path: path.to_owned(),
            line: Some(line),
            what: format!("the doc comment {reason}; name what it is about"),
        })
    };
    sources::first_doc_lines(text).filter_map(finding).collect()
}

/// Returns findings for ignored tests whose reason does not end in the command that runs them: one that nobody
/// runs proves nothing.
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

/// Whether a string on the line ends in a command of this program for one step or campaign.
fn names_a_command(line: &str) -> bool {
    let command = line
        .split_once("cargo xtask ")
        .and_then(|(_, rest)| rest.split_once('"'))
        .map_or("", |(command, _)| command);
    let words = command.split_whitespace().map(str::to_owned);
    match args::parse(words) {
        Ok(Task::Test { steps, .. }) => steps.len() == 1,
        Ok(Task::Campaign { campaigns, .. }) => campaigns.len() == 1,
        _ => false,
    }
}

/// Reason why the first line of a doc comment cannot be read alone, if there is one.
fn riddle(line: &str) -> Option<String> {
    let first = line.split_whitespace().next()?;
    if line.split_whitespace().count() < WORDS_MIN {
        return Some(format!("has fewer than {WORDS_MIN} words"));
    }
    let bare = first.trim_end_matches(|c: char| !c.is_alphanumeric());
    PRONOUNS
        .contains(&bare)
        .then(|| format!("begins with {bare}"))
}

/// Returns findings for dependencies of the workspace that ARCHITECTURE.md does not name; none if that
/// file is absent.
fn dependencies(root: &Path) -> Result<Vec<Finding>, UnreadableSource> {
    let architecture = root.join("ARCHITECTURE.md");
    if !architecture.exists() {
        return Ok(Vec::new());
    }
    let manifest = read(&root.join("Cargo.toml"))?;
    Ok(unnamed(&manifest, &read(&architecture)?))
}

fn unnamed(manifest: &str, architecture: &str) -> Vec<Finding> {
    let named = |name: &str| architecture.contains(&format!("`{name}`"));
    external(manifest)
        .filter(|name| !named(name))
        .map(|name| Finding {
            path: PathBuf::from("ARCHITECTURE.md"),
            line: None,
            what: format!("dependency `{name}` is not named; say what it is for"),
        })
        .collect()
}

/// Returns the names in `[workspace.dependencies]` except the workspace's own crates. Expects one
/// dependency per line, with its further lines indented.
fn external(manifest: &str) -> impl Iterator<Item = &str> {
    let table = manifest
        .lines()
        .skip_while(|line| line.trim() != "[workspace.dependencies]")
        .skip(1)
        .take_while(|line| !line.starts_with('['));
    table.filter_map(|line| {
        let (name, value) = line.split_once(['=', '.'])?;
        let is_own = value.contains("path = ");
        let is_name = name.starts_with(|first: char| first.is_ascii_alphanumeric());
        (is_name && !is_own).then(|| name.trim_end())
    })
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
mod tests;
