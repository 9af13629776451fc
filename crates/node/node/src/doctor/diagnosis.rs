//! Result of a check, with advice.

use std::fmt;

use serde::Serialize;

/// Outcome of one check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum CheckOutcome {
    /// Nothing is wrong.
    Good,
    /// The check is not possible here, for example without a network.
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

/// Finding of a check, with advice.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Diagnosis {
    /// Subject of the check, such as `rest-port`.
    pub subject: String,
    /// Outcome of the check.
    pub verdict: CheckOutcome,
    /// What was found, with its value.
    pub says: String,
    /// Advice; `None` if there is nothing to do.
    pub remedy: Option<String>,
}

impl Diagnosis {
    /// Creates a finding that needs no action.
    pub fn good(subject: impl Into<String>, says: impl Into<String>) -> Self {
        Self {
            subject: subject.into(),
            verdict: CheckOutcome::Good,
            says: says.into(),
            remedy: None,
        }
    }

    /// Creates a finding with advice.
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
