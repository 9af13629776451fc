//! Errors in scripts of gossipsub-interop.

use serde_json::Value;
use thiserror::Error;

/// Length from which a value is cut short in an error, characters.
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
    /// A value is missing or of another kind than expected.
    #[error("{place} = {value}: expected {expected}")]
    Value {
        /// Place of the value, such as `script[3].connectTo`.
        place: String,
        /// The value as JSON, shortened; `null` for one that is missing.
        value: String,
        /// Description of what is accepted.
        expected: String,
    },
    /// A word is not known.
    #[error("{place}: {word:?} is not known{}", hint(nearest.as_deref()))]
    Unknown {
        /// Place of the word.
        place: String,
        /// Word that is not known.
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
        /// Advice for what can be done instead.
        remedy: &'static str,
    },
    /// There is more of something than is read.
    #[error("{place}: {count} {what}; at most {max} are read")]
    TooMany {
        /// Place of what is too much.
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

/// A value as JSON, of which the beginning suffices to find it.
pub(super) fn shortened(value: &Value) -> String {
    let text = value.to_string();
    match text.char_indices().nth(LONGEST_VALUE) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text,
    }
}
