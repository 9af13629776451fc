//! Result of an examination, with advice.

use std::fmt;

use serde::Serialize;

/// Result of one examination.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum CheckOutcome {
    /// Nothing is wrong.
    Good,
    /// The question has no answer here, such as without a network.
    NotChecked,
    /// The node will run, but not well.
    Warning,
    /// The node will not start, or cannot do its work.
    Bad,
}

impl fmt::Display for CheckOutcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Good => "good",
            Self::NotChecked => "not checked",
            Self::Warning => "warning",
            Self::Bad => "bad",
        })
    }
}

/// Finding of an examination, and what to do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Diagnosis {
    /// Subject of the examination, such as `rest-port`.
    pub subject: String,
    /// Outcome of the examination.
    pub verdict: CheckOutcome,
    /// Statement of what was found, with its value.
    pub says: String,
    /// Advice; `None` if nothing need be done.
    pub remedy: Option<String>,
}

impl Diagnosis {
    /// Makes a finding that needs nothing done.
    pub fn good(subject: impl Into<String>, says: impl Into<String>) -> Self {
        Self {
            subject: subject.into(),
            verdict: CheckOutcome::Good,
            says: says.into(),
            remedy: None,
        }
    }

    /// Makes a finding with advice.
    pub fn other(
        subject: impl Into<String>,
        verdict: CheckOutcome,
        says: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Self {
        Self {
            verdict,
            remedy: Some(remedy.into()),
            ..Self::good(subject, says)
        }
    }
}
