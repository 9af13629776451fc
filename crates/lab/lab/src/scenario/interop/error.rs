//! Errors in scripts of gossipsub-interop.

use serde_json::Value;
use thiserror::Error;

/// Length to which a value is cut in an error, characters.
const LONGEST_VALUE: usize = 60;

/// Reason why a script cannot be simulated, with its place in the file.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum InteropError {
    /// The file is not JSON.
    #[error("not JSON: {problem}")]
    Json {
        /// Description with line and column.
        problem: String,
    },
    /// A value is missing or has an unexpected type.
    #[error("{place} = {value}: expected {expected}")]
    Value {
        /// Place of the value, such as `script[3].connectTo`.
        place: String,
        /// The value as JSON, shortened; `null` if missing.
        value: String,
        /// Description of what is accepted.
        expected: String,
    },
    /// A word is unknown.
    #[error("{place}: {word:?} is not known{}", hint(nearest.as_deref()))]
    Unknown {
        /// Place of the word.
        place: String,
        /// The unknown word.
        word: String,
        /// Nearest known word.
        nearest: Option<String>,
    },
    /// The simulator has no such mechanism.
    #[error("{place}: {what} cannot be simulated; {remedy}")]
    NotSimulated {
        /// Place of the instruction.
        place: String,
        /// Mechanism that is missing.
        what: &'static str,
        /// What can be done instead.
        remedy: &'static str,
    },
    /// The script has more items of a kind than are accepted.
    #[error("{place}: {count} {what}; at most {max} are read")]
    TooMany {
        /// Place of the items.
        place: String,
        /// Number of items.
        count: usize,
        /// Kind of the items.
        what: &'static str,
        /// Largest accepted number.
        max: usize,
    },
    /// The script has nothing to simulate.
    #[error("the script has no {what}; {remedy}")]
    Nothing {
        /// Part that is missing.
        what: &'static str,
        /// Instruction that adds it.
        remedy: &'static str,
    },
}

fn hint(nearest: Option<&str>) -> String {
    nearest.map_or_else(String::new, |nearest| {
        format!("; did you mean {nearest:?}?")
    })
}

/// A value as JSON, shortened; its beginning suffices to find it.
pub(super) fn shortened(value: &Value) -> String {
    let text = value.to_string();
    match text.char_indices().nth(LONGEST_VALUE) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text,
    }
}
