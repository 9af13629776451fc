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
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
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

impl LogLevel {
    /// Returns the level with a name or its three letters, in any case. Of the reference node's levels, one between
    /// two of ours is the finer one: what was asked for is logged.
    pub(crate) fn by_name(name: &str) -> Option<Self> {
        match name.to_ascii_uppercase().as_str() {
            "TRACE" | "TRC" => Some(Self::Trace),
            "DEBUG" | "DBG" => Some(Self::Debug),
            "INFO" | "INF" | "NOTICE" | "NTC" => Some(Self::Info),
            "WARN" | "WRN" => Some(Self::Warn),
            "ERROR" | "ERR" | "FATAL" | "FTL" => Some(Self::Error),
            _ => None,
        }
    }
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
