//! Examination of a machine before a node is started on it: ports, disk, clock, files, peers, lists in DNS.
//!
//! Nothing is changed but for a file that is written and removed again; a node that runs already holds its ports, so
//! it is examined while it is stopped.

use std::fmt;

use serde::Serialize;

use crate::config::NodeConfig;

mod clock;
mod disk;
mod network;
mod ports;

#[cfg(test)]
mod tests;

pub use clock::NtpServer;

/// Result of one examination.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// Nothing is wrong.
    Good,
    /// The question has no answer here, such as without a network.
    NotChecked,
    /// The node will run, but not well.
    Warning,
    /// The node will not start, or cannot do its work.
    Bad,
}

impl fmt::Display for Verdict {
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
pub struct Finding {
    /// Subject of the examination, such as `rest-port`.
    pub subject: String,
    /// Result.
    pub verdict: Verdict,
    /// Statement of what was found, with its value.
    pub says: String,
    /// Advice; `None` if nothing need be done.
    pub remedy: Option<String>,
}

impl Finding {
    /// Makes a finding that needs nothing done.
    pub fn good(subject: impl Into<String>, says: impl Into<String>) -> Self {
        Self {
            subject: subject.into(),
            verdict: Verdict::Good,
            says: says.into(),
            remedy: None,
        }
    }

    /// Makes a finding with advice.
    pub fn other(
        subject: impl Into<String>,
        verdict: Verdict,
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

/// Examines the machine for a node of this configuration; all examinations that wait for others run at a time.
pub async fn examine(config: &NodeConfig, ntp: Option<NtpServer>) -> Vec<Finding> {
    let mut findings = disk::examine(config);
    findings.extend(ports::examine(config));
    let (clock, peers, lists, records) = tokio::join!(
        clock::examine(ntp),
        network::peers(config),
        network::lists(config),
        network::records(config),
    );
    findings.push(clock);
    findings.extend(peers);
    findings.extend(lists);
    findings.extend(records);
    findings
}
