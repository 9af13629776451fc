//! Configuration of a node by a program in another language: text, settings, and the keys that there are.

use std::collections::HashMap;

use serde::Serialize;
use undertone_node::config::{KEYS, NodeConfig, Sources};
use undertone_node::logging;

use crate::error::NodeError;

/// Configuration key, with the texts that describe it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, uniffi::Record)]
#[serde(rename_all = "camelCase")]
pub struct KeyDescription {
    /// Name of the key; a dot separates a table of the TOML text from its key.
    pub name: String,
    /// Values that are allowed.
    pub expected: String,
    /// Value without a setting, if it depends on no other key.
    pub default_value: Option<String>,
    /// Purpose of the key.
    pub help: String,
}

/// Returns the version of the library.
#[uniffi::export]
#[must_use]
pub fn version() -> String {
    env!("CARGO_PKG_VERSION").to_owned()
}

/// Returns all configuration keys of a node.
#[uniffi::export]
#[must_use]
pub fn configuration_keys() -> Vec<KeyDescription> {
    let keys = KEYS.iter().map(|key| KeyDescription {
        name: key.name.to_owned(),
        expected: key.expected.to_owned(),
        default_value: key.default.map(str::to_owned),
        help: key.help.to_owned(),
    });
    keys.collect()
}

/// Writes log lines of all nodes of this process to standard error from now on; once in a process. Without this
/// call nothing is written, and the keys `log-level` and `log-format` of a node have no effect.
///
/// # Errors
/// `Configuration` if there is no such level or format, `Start` if the process has a log already.
#[uniffi::export(default(level = "info", format = "text"))]
pub fn enable_logging(level: String, format: String) -> Result<(), NodeError> {
    let settings = [("log-level", level), ("log-format", format)];
    let settings = settings.map(|(key, value)| (key.to_owned(), value));
    let config = load(String::new(), settings.into())?;
    logging::init(config.log, None).map_err(|error| NodeError::Start {
        reason: error.to_string(),
    })
}

/// Loads a configuration; settings override the text. The environment of the process plays no part.
pub(crate) fn load(
    toml: String,
    settings: HashMap<String, String>,
) -> Result<NodeConfig, NodeError> {
    let mut settings: Vec<_> = settings.into_iter().collect();
    // Of several mistakes, the same one is reported each time.
    settings.sort_unstable();
    let sources = Sources {
        text: Some(toml),
        settings,
        ..Sources::default()
    };
    Ok(NodeConfig::load(&sources)?)
}
