//! Explains a configuration: the value of each key and its source.

use serde::Serialize;

use super::keys::KEYS;
use super::setting::shown;
use super::{ConfigError, Sources};

/// Configuration key with its value and the source that sets it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ExplainedKey {
    /// Name of the key, as in the file.
    pub key: &'static str,
    /// Value as JSON, or the text of the default if no source sets the key.
    pub value: String,
    /// Source of the value: a file with its line, a variable, a flag, or the defaults.
    pub source: String,
    /// Purpose of the key.
    pub help: &'static str,
}

/// Explains every key of a configuration. Does not check the values, see
/// [`NodeConfig::load`](super::NodeConfig::load). Secrets are not shown, nor parts of URLs that may be
/// secrets.
///
/// # Errors
/// [`ConfigError`] if a source cannot be read.
pub fn explain(sources: &Sources) -> Result<Vec<ExplainedKey>, ConfigError> {
    let values = sources.gather()?;
    let explained = KEYS.iter().map(|key| {
        let (purpose, default) = help_and_default(key.help);
        let (value, source) = match values.entry(key) {
            Some(entry) => (shown(key, entry), entry.origin.to_string()),
            None => (default.to_owned(), "defaults".to_owned()),
        };
        ExplainedKey {
            key: key.name,
            value,
            source,
            help: purpose,
        }
    });
    Ok(explained.collect())
}

/// Values of all keys at one time, secrets among them; used to detect which keys change later.
pub struct ConfigValues(Vec<(&'static str, Option<String>)>);

impl ConfigValues {
    /// Reads the values from their sources.
    ///
    /// # Errors
    /// [`ConfigError`] if a source cannot be read.
    pub fn read(sources: &Sources) -> Result<Self, ConfigError> {
        let values = sources.gather()?;
        // JSON, because a list's `Display` names only its kind.
        let value = |key| serde_json::to_string(&values.entry(key)?.value).ok();
        Ok(Self(
            KEYS.iter().map(|key| (key.name, value(key))).collect(),
        ))
    }

    /// Returns the names of the keys whose values differ from those `before`.
    pub fn changed_since(&self, before: &Self) -> Vec<&'static str> {
        let pairs = self.0.iter().zip(&before.0);
        let changed = pairs.filter(|(now, before)| now.1 != before.1);
        changed.map(|(now, _)| now.0).collect()
    }
}

/// Splits the help of a key into its purpose and the default in brackets at its end.
fn help_and_default(help: &'static str) -> (&'static str, &'static str) {
    let split = help
        .strip_suffix(']')
        .and_then(|help| help.rsplit_once(" ["));
    split.unwrap_or((help, ""))
}
