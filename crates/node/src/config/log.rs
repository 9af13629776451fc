//! Settings of the log: level and format.

use serde::Deserialize;

/// Level and format of log lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LogConfig {
    /// Least severe level that is logged.
    pub level: LogLevel,
    /// Form of the log lines.
    pub format: LogFormat,
}

/// Severity of a log line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LogLevel {
    /// Failures of the node or of an operation.
    Error,
    /// Conditions that need attention.
    Warn,
    /// Milestones, such as listening addresses.
    Info,
    /// Decisions about peers and messages, for debugging.
    Debug,
    /// Everything, including the router's reports.
    Trace,
}

/// Form of a log line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LogFormat {
    /// One line of text for each event.
    Text,
    /// One JSON object for each event.
    Json,
}
