//! The values of all sources, and a single key's value with what its errors show.

use std::{collections::BTreeMap, ops::RangeBounds};

use undertone_membership::evm::without_credentials;
use undertone_settings::{Error, Origin, TomlEntry, TomlValue};

use super::error::ConfigError;
use super::kind::{FromEntry, Kind};

/// Keys whose values are secrets.
const SECRETS: [&str; 1] = ["rest-token"];

/// Keys whose values are URLs; their users, paths and queries may contain credentials.
const URLS: [&str; 3] = ["rln-eth-rpc", "store-message-db-url", "otlp-endpoint"];

/// Text shown in place of a hidden value.
const NOT_SHOWN: &str = "(not shown)";

/// Returns the value of a key as JSON for errors and explanations, without credentials.
pub(super) fn shown(key: &ConfigKey, entry: &TomlEntry) -> String {
    let url = |entry: &TomlEntry| match entry.as_text() {
        Some(text) => TomlValue::Text(shown_url(text)),
        None => TomlValue::Text(NOT_SHOWN.to_owned()),
    };
    let value = match &entry.value {
        _ if SECRETS.contains(&key.name) => return NOT_SHOWN.to_owned(),
        TomlValue::List(items) if URLS.contains(&key.name) => {
            let items = items.iter().map(|item| TomlEntry {
                value: url(item),
                origin: item.origin.clone(),
            });
            TomlValue::List(items.collect())
        }
        _ if URLS.contains(&key.name) => url(entry),
        value => value.clone(),
    };
    serde_json::to_string(&value).unwrap_or_else(|_| value.to_string())
}

fn shown_url(text: &str) -> String {
    let is_path = ["sqlite://", "/", "."]
        .iter()
        .any(|start| text.starts_with(start));
    let name = without_credentials(text);
    match is_path || name == text {
        true => text.to_owned(),
        false => format!("{name}/…"),
    }
}

/// One configuration key, with its spelling in each source.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ConfigKey {
    /// Name in the file and as a flag; a dot separates a table from its key.
    pub name: &'static str,
    /// Type of the value; determines how text from the environment or a flag is parsed.
    pub kind: Kind,
    /// Description of the values allowed, for error messages and help.
    pub expected: &'static str,
    /// Default as text; `None` if it depends on other keys or is defined by another crate.
    pub default: Option<&'static str>,
    /// Purpose of the key and its default, for help.
    pub help: &'static str,
}

impl ConfigKey {
    /// Returns the environment variable that sets the key, e.g. `UNDERTONE_TCP_PORT`.
    pub fn variable(&self) -> String {
        format!(
            "UNDERTONE_{}",
            self.name.replace(['-', '.'], "_").to_ascii_uppercase()
        )
    }

    /// Returns the flag that sets the key, e.g. `--tcp-port`; a table and its key are joined with a dash.
    pub fn flag(&self) -> String {
        format!("--{}", self.name.replace('.', "-"))
    }
}

/// Effective value of each key that a source sets.
#[derive(Debug, Default)]
pub(super) struct Values(BTreeMap<&'static str, TomlEntry>);

impl Values {
    /// Sets a key, overriding an earlier source.
    pub(super) fn insert(&mut self, key: &'static ConfigKey, entry: TomlEntry) {
        self.0.insert(key.name, entry);
    }

    /// Returns the value of a key if a source sets it.
    pub(super) fn entry(&self, key: &ConfigKey) -> Option<&TomlEntry> {
        self.0.get(key.name)
    }

    /// Returns the typed value of a key.
    pub(super) fn setting<T: FromEntry>(
        &self,
        key: &'static ConfigKey,
    ) -> Result<Setting<Option<T>>, ConfigError> {
        let default = || Some(key.kind.parse(key.default?, &Origin::Default));
        let entry = self.0.get(key.name).cloned().or_else(default);
        let mut setting = Setting {
            key,
            entry,
            value: None,
            is_allowed: true,
        };
        if let Some(entry) = &setting.entry {
            setting.value = Some(T::from_entry(entry).ok_or_else(|| setting.bad())?);
        }
        Ok(setting)
    }
}

/// Value of a key: a `T` for keys with a default, an `Option<T>` for the others.
#[derive(Debug)]
pub(super) struct Setting<T> {
    key: &'static ConfigKey,
    entry: Option<TomlEntry>,
    value: T,
    is_allowed: bool,
}

impl<T: Clone> Setting<T> {
    /// Returns the value, which is within the key's bounds.
    pub(super) fn get(&self) -> Result<T, ConfigError> {
        if self.is_allowed {
            Ok(self.value.clone())
        } else {
            Err(self.bad())
        }
    }
}

impl<T> Setting<Option<T>> {
    /// Returns the setting of a key that has a default.
    pub(super) fn with_default(self) -> Setting<T> {
        let value = self.value;
        Setting {
            value: value.expect("a key with a default has a value if no source sets it"),
            key: self.key,
            entry: self.entry,
            is_allowed: self.is_allowed,
        }
    }

    /// Whether a source sets the key.
    pub(super) fn is_set(&self) -> bool {
        self.value.is_some()
    }
}

impl<T: PartialOrd> Setting<Option<T>> {
    /// Returns the setting with bounds, which are checked when the value is used.
    pub(super) fn within(mut self, bounds: &impl RangeBounds<T>) -> Self {
        let value = self.value.as_ref();
        self.is_allowed = value.is_none_or(|value| bounds.contains(value));
        self
    }
}

impl<T: PartialEq> Setting<Option<T>> {
    /// Whether a source sets the key to this value.
    pub(super) fn is(&self, value: &T) -> bool {
        self.value.as_ref() == Some(value)
    }
}

impl Setting<bool> {
    /// Whether a source other than the default sets the key to true.
    pub(super) fn is_asked_for(&self) -> bool {
        self.value && !matches!(self.origin(), Origin::Default)
    }
}

impl<T> Setting<T> {
    /// Name of the key.
    pub(super) fn name(&self) -> &'static str {
        self.key.name
    }

    /// Source of the value.
    pub(super) fn origin(&self) -> Origin {
        let entry = self.entry.as_ref();
        entry.map_or(Origin::Default, |entry| entry.origin.clone())
    }

    /// Returns the error for a value that the key does not allow.
    pub(super) fn bad(&self) -> ConfigError {
        self.bad_because(self.key.expected)
    }

    /// Returns the error for a value that does not fit the rest of the configuration.
    pub(super) fn bad_because(&self, expected: impl Into<String>) -> ConfigError {
        let entry = self.entry.as_ref();
        let value = entry.map_or_else(|| "nothing".to_owned(), |entry| shown(self.key, entry));
        let bad = Error::BadValue {
            origin: self.origin(),
            key: self.key.name.to_owned(),
            value,
            expected: expected.into(),
        };
        bad.into()
    }
}
