//! Log lines on standard error, so that standard output stays free for results.

use std::io::IsTerminal as _;
use std::sync::OnceLock;

use thiserror::Error;
use tracing::{Level, Subscriber};
use tracing_subscriber::{
    Layer, filter::Targets, fmt, layer::SubscriberExt as _, registry::LookupSpan, reload,
    util::SubscriberInitExt as _,
};

use crate::config::{LogConfig, LogFormat};

mod line;
mod share;
#[cfg(test)]
#[path = "tests/logging.rs"]
mod tests;

use line::LogLine;
use share::LineShares;

/// Handle that changes the filter of this process's subscriber.
static FILTER: OnceLock<reload::Handle<Targets, tracing_subscriber::Registry>> = OnceLock::new();

/// Environment variable whose filter (`info,libp2p=warn`) replaces the configured level.
pub const VARIABLE: &str = "UNDERTONE_LOG";

/// Reason why logging could not start.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum LoggingError {
    /// The filter cannot be parsed.
    #[error("{VARIABLE} = {filter:?} is not a filter such as \"info,libp2p=warn\": {source}")]
    Filter {
        /// The filter as written.
        filter: String,
        /// Error of the parser.
        source: tracing_subscriber::filter::ParseError,
    },
    /// Another subscriber is installed already.
    #[error("logging is already set up in this process")]
    AlreadySet,
}

/// Installs the subscriber of this process; `filter` is the value of [`VARIABLE`], if set.
pub fn init(config: LogConfig, filter: Option<&str>) -> Result<(), LoggingError> {
    let filter = parse_filter(config.level, filter)?;
    let (filter, handle) = reload::Layer::new(filter);
    let installed = tracing_subscriber::registry()
        .with(filter)
        .with(lines(config.format))
        .with(LineShares::default())
        .try_init();
    installed.map_err(|_| LoggingError::AlreadySet)?;
    // Only the first subscriber is ever installed.
    let _ = FILTER.set(handle);
    Ok(())
}

/// Layer that writes the lines to standard error.
fn lines<S>(format: LogFormat) -> Box<dyn Layer<S> + Send + Sync>
where
    S: Subscriber + for<'a> LookupSpan<'a>,
{
    let layer = fmt::layer().with_writer(std::io::stderr);
    match format {
        LogFormat::Text => {
            let colours = std::io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none();
            layer.with_ansi(colours).event_format(LogLine).boxed()
        }
        LogFormat::Json => layer.json().boxed(),
    }
}

/// Changes the level of this process's log, in place of the configured one and of [`VARIABLE`]. Returns
/// `false` if logging was not set up here.
pub fn set_level(level: Level) -> bool {
    FILTER
        .get()
        .is_some_and(|handle| handle.reload(filter_of(level)).is_ok())
}

fn parse_filter(level: Level, filter: Option<&str>) -> Result<Targets, LoggingError> {
    match filter.filter(|text| !text.trim().is_empty()) {
        Some(text) => text.parse().map_err(|source| LoggingError::Filter {
            filter: text.to_owned(),
            source,
        }),
        None => Ok(filter_of(level)),
    }
}

/// Returns the filter for a level. Libraries are limited to `debug`: their finer lines are about single frames and
/// would hide ours.
fn filter_of(level: Level) -> Targets {
    Targets::new()
        .with_default(level.min(Level::DEBUG))
        .with_target("undertone", level)
}
