//! Log lines on standard error, so that standard output stays for results.

use thiserror::Error;
use tracing_subscriber::{EnvFilter, fmt, util::SubscriberInitExt as _};

use crate::config::{LogConfig, LogFormat, LogLevel};

#[cfg(test)]
mod tests;

/// The variable whose filter (`info,libp2p=warn`) replaces the configured level.
pub const VARIABLE: &str = "UNDERTONE_LOG";

/// Why logging could not start.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum LoggingError {
    /// The filter cannot be parsed.
    #[error("{VARIABLE} = {filter:?} is not a filter such as \"info,libp2p=warn\": {source}")]
    Filter {
        /// The filter.
        filter: String,
        /// What is wrong with it.
        source: tracing_subscriber::filter::ParseError,
    },
    /// Another subscriber is installed already.
    #[error("logging is already set up in this process")]
    AlreadySet,
}

/// Installs the subscriber of this process; `filter` is the value of [`VARIABLE`], if set.
pub fn init(config: LogConfig, filter: Option<&str>) -> Result<(), LoggingError> {
    let filter = parse_filter(config.level, filter)?;
    let builder = fmt().with_env_filter(filter).with_writer(std::io::stderr);
    let installed = match config.format {
        LogFormat::Text => builder.finish().try_init(),
        LogFormat::Json => builder.json().finish().try_init(),
    };
    installed.map_err(|_| LoggingError::AlreadySet)
}

fn parse_filter(level: LogLevel, filter: Option<&str>) -> Result<EnvFilter, LoggingError> {
    let default = match level {
        LogLevel::Error => "error",
        LogLevel::Warn => "warn",
        LogLevel::Info => "info",
        LogLevel::Debug => "debug",
        LogLevel::Trace => "trace",
    };
    let filter = filter
        .filter(|text| !text.trim().is_empty())
        .unwrap_or(default);
    EnvFilter::try_new(filter).map_err(|source| LoggingError::Filter {
        filter: filter.to_owned(),
        source,
    })
}
