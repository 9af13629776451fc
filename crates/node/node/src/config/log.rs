//! Settings of the log: level and format.

use serde::Deserialize;
use tracing::Level;

/// Level and format of log lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LogConfig {
    /// Least severe level that is logged.
    pub level: Level,
    /// Form of the log lines.
    pub format: LogFormat,
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
