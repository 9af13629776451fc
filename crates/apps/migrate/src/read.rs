//! Reads flags of the reference node from files of its deployment.

mod compose;
mod shell;
mod words;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use thiserror::Error;
use undertone_rln::durable::read_bounded_text;
use undertone_settings::{TomlEntry, TomlValue};

use crate::flags;
use crate::release::Releases;

pub(crate) use compose::read as read_compose;
pub(crate) use shell::read as read_script;

/// Shell variables; `None` for a value that cannot be determined here.
pub(crate) type Variables = BTreeMap<String, Option<String>>;

/// A flag as a source sets it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct GivenFlag {
    /// Name without dashes, in lower case.
    pub(crate) name: String,
    pub(crate) value: String,
    /// File and line.
    pub(crate) place: String,
}

/// Content of a source: flags, and remarks about what could not be evaluated.
#[derive(Debug, Default)]
pub(crate) struct Found {
    pub(crate) flags: Vec<GivenFlag>,
    /// Releases to which the source may belong.
    pub(crate) releases: Releases,
    /// Place and text of each remark.
    pub(crate) remarks: Vec<(String, String)>,
}

impl Found {
    /// Adds a later source, whose flags replace those of the same name.
    pub(crate) fn overlay(&mut self, later: Self) {
        let is_set = |name: &str| later.flags.iter().any(|flag| flag.name == name);
        self.flags.retain(|flag| !is_set(&flag.name));
        let place = later.flags.first().map(|flag| flag.place.clone());
        self.is_of(later.releases, place.as_deref().unwrap_or("the sources"));
        self.flags.extend(later.flags);
        self.remarks.extend(later.remarks);
    }

    /// Narrows the possible releases, given that something at `place` is of `releases`.
    fn is_of(&mut self, releases: Releases, place: &str) {
        let both = self.releases.and(releases);
        if both.is_none() {
            let what = format!(
                "this is of release {releases}, other things are of {}; {releases} is believed",
                self.releases
            );
            self.remarks.push((place.to_owned(), what));
        }
        self.releases = both.unwrap_or(releases);
    }

    fn remark(&mut self, place: &str, what: String) {
        self.remarks.push((place.to_owned(), what));
    }
}

/// Reason why a source cannot be read.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ReadFault {
    /// The file cannot be read.
    #[error("{}: {source}; check that the file is there and readable", path.display())]
    Io {
        /// Path of the file.
        path: PathBuf,
        /// Error of the operating system.
        source: std::io::Error,
    },
    /// The file is not valid TOML.
    #[error(transparent)]
    Toml(#[from] undertone_settings::Error),
    /// The compose file is not valid YAML, has content that compose files do not have, or exceeds a limit.
    #[error("{place}: {what}; correct the file, or give the flags with --flags")]
    Yaml {
        /// File and line.
        place: String,
        /// What is wrong there.
        what: String,
    },
    /// The compose file has no service of the reference node.
    #[error("{}: no service whose image or command is the reference node's{unset}; give the flags with --flags", path.display())]
    NoService {
        /// The compose file.
        path: PathBuf,
        /// Image variables that are not set anywhere, in brackets; empty if there are none.
        unset: String,
    },
    /// The script neither runs the reference node nor lists flags.
    #[error("{}: no command of the reference node and no flag; give a file with its flags, such as run_node.sh", path.display())]
    NoCommand {
        /// Path of the script.
        path: PathBuf,
    },
}

/// Maximum size of a deployment's file, bytes.
pub(crate) const MAX_FILE_BYTES: u64 = 256 << 10;

/// Reads a text file.
pub(crate) fn text_of(path: &Path) -> Result<String, ReadFault> {
    read_bounded_text(path, MAX_FILE_BYTES).map_err(|source| ReadFault::Io {
        path: path.to_owned(),
        source,
    })
}

fn at(path: &Path, line: usize) -> String {
    format!("{}:{line}", path.display())
}

/// Reads variables from a `.env` file: `NAME=value`, quoted or not.
pub(crate) fn read_env(path: &Path) -> Result<Variables, ReadFault> {
    let text = text_of(path)?;
    let lines = text
        .lines()
        .map(|line| line.trim().trim_start_matches("export "));
    let pairs = lines
        .filter(|line| !line.starts_with('#'))
        .filter_map(|line| line.split_once('='));
    Ok(pairs
        .map(|(name, value)| (name.trim().to_owned(), Some(unquoted(value).to_owned())))
        .collect())
}

/// Returns a value of a `.env` file without its quotes, or without the comment after it.
fn unquoted(value: &str) -> &str {
    let value = value.trim();
    for quote in ['"', '\''] {
        if let Some((inner, _)) = value
            .strip_prefix(quote)
            .and_then(|rest| rest.split_once(quote))
        {
            return inner;
        }
    }
    value.split(" #").next().unwrap_or_default().trim_end()
}

/// Returns the flags set by environment variables: `LOGOS_DELIVERY_NODE_TCP_PORT` and, up to 0.38,
/// `WAKUNODE2_TCP_PORT` set `tcp-port`.
pub(crate) fn flags_of(variables: &Variables, place: &str) -> Found {
    let known = variables.iter();
    let known =
        known.filter_map(|(name, value)| Some((Releases::of_variable(name)?, value.as_ref()?)));
    let mut known: Vec<_> = known.collect();
    // The newer prefix comes last and so overrides the older one.
    known.sort_by_key(|((releases, _), _)| releases.first);
    let mut all = Found::default();
    for ((releases, name), value) in known {
        // A list is written as JSON: ["a", "b"].
        let list: Result<Vec<serde_json::Value>, _> = serde_json::from_str(value);
        let items = list.map(|items| {
            let texts = items.iter();
            let texts = texts.map(|v| v.as_str().map_or_else(|| v.to_string(), str::to_owned));
            texts.collect()
        });
        let items: Vec<String> = items.unwrap_or_else(|_| vec![value.clone()]);
        let flags = items.into_iter().map(|value| GivenFlag {
            name: name.clone(),
            value,
            place: place.to_owned(),
        });
        all.overlay(Found {
            flags: flags.collect(),
            releases,
            ..Found::default()
        });
    }
    all
}

/// Reads flags from the reference node's TOML file, whose keys are the names of flags.
pub(crate) fn read_toml(path: &Path) -> Result<Found, ReadFault> {
    let root = TomlEntry::read(&text_of(path)?, &path.to_string_lossy())?;
    let mut found = Found::default();
    for (name, entry) in root.as_table().into_iter().flatten() {
        let place = entry.origin.to_string();
        let items = match &entry.value {
            TomlValue::List(items) => items.as_slice(),
            _ => std::slice::from_ref(entry),
        };
        for item in items {
            let value = item
                .as_text()
                .map_or_else(|| item.value.to_string(), str::to_owned);
            found.flags.push(GivenFlag {
                name: normal(name),
                value,
                place: place.clone(),
            });
        }
    }
    Ok(found)
}

fn normal(name: &str) -> String {
    name.to_ascii_lowercase().replace('_', "-")
}

/// Reads the words of a command: `--key=value`, `--key:value`, `--key value`, or `--key` alone for `true`.
fn read_words(words: &[String], place: &str, found: &mut Found) {
    let mut words = words.iter().peekable();
    while let Some(word) = words.next() {
        let Some(flag) = word.strip_prefix("--").filter(|flag| !flag.is_empty()) else {
            let what = format!("{word:?} is no flag; it is left out");
            found.remarks.push((place.to_owned(), what));
            continue;
        };
        let (name, value) = match flag.find(['=', ':']) {
            Some(end) => (&flag[..end], Some(flag[end + 1..].to_owned())),
            None => (flag, None),
        };
        let name = normal(name);
        let is_bool = flags::by_name(&name).is_some_and(flags::KnownFlag::is_bool);
        let is_value = |next: &&String| match is_bool {
            true => crate::values::boolean(next).is_ok(),
            false => !next.starts_with("--"),
        };
        let value = value.or_else(|| words.next_if(|next| is_value(next)).cloned());
        let value = value.unwrap_or_else(|| "true".to_owned());
        found.flags.push(GivenFlag {
            name,
            value,
            place: place.to_owned(),
        });
    }
}

/// Describes an unset variable; `word` is the word left out because of it.
fn unset(name: &str, word: Option<&str>) -> String {
    // Not the whole word, which may contain a secret.
    let effect = match word.map(|word| word.split_once('=')) {
        Some(Some((flag, _))) => format!("{flag} is left out"),
        Some(None) => "the word with it is left out".to_owned(),
        None => "it counts as empty".to_owned(),
    };
    format!("${{{name}}} is set nowhere: {effect}; set it in the file of --env")
}

#[cfg(test)]
#[path = "tests/read.rs"]
mod tests;
