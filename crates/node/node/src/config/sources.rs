//! The sources of configuration keys: file, text, environment, flags, and settings passed by the program.

use std::{ffi::OsString, path::PathBuf};

use undertone_rln::durable::read_bounded_text;
use undertone_settings::{Error, Origin, TomlEntry, nearest};

use super::error::ConfigError;
use super::keys::{KEYS, by_name};
use super::setting::{ConfigKey, Values};

const PREFIX: &str = "UNDERTONE_";
/// Longest configuration file, bytes.
const FILE_BYTES_MAX: u64 = 1 << 20;
/// Name of [`Sources::text`] in errors.
const TEXT: &str = "configuration text";
/// Advice for an unknown key that does not resemble a known one.
const REFERENCE: &str = "see the documentation for the list of keys";

/// Sources of configuration keys; each overrides the ones before it.
#[derive(Debug, Clone, Default)]
pub struct Sources {
    /// Path of a TOML file.
    pub file: Option<PathBuf>,
    /// TOML as in a file, from a program that embeds the node.
    pub text: Option<String>,
    /// Environment variables; those that do not start with `UNDERTONE_` are ignored.
    pub environment: Vec<(OsString, OsString)>,
    /// Key names (see [`KEYS`]) and values from the command line; lists are separated by commas.
    pub flags: Vec<(String, String)>,
    /// Key names and values in the format of flags, from a program that embeds the node.
    pub settings: Vec<(String, String)>,
}

impl Sources {
    /// Takes the environment of this process, a file and flags.
    pub fn from_process(file: Option<PathBuf>, flags: Vec<(String, String)>) -> Self {
        Self {
            file,
            environment: std::env::vars_os().collect(),
            flags,
            ..Self::default()
        }
    }

    pub(super) fn gather(&self) -> Result<Values, ConfigError> {
        let mut values = Values::default();
        if let Some(path) = &self.file {
            let text =
                read_bounded_text(path, FILE_BYTES_MAX).map_err(|source| ConfigError::Read {
                    path: path.to_owned(),
                    source,
                })?;
            read_toml(&text, &path.to_string_lossy(), &mut values)?;
        }
        if let Some(text) = &self.text {
            read_toml(text, TEXT, &mut values)?;
        }
        read_environment(&self.environment, &mut values)?;
        read_pairs(&self.flags, &mut values, |name| Origin::Flag {
            flag: format!("--{}", name.replace('.', "-")),
        })?;
        read_pairs(&self.settings, &mut values, |_| Origin::Program)?;
        Ok(values)
    }
}

fn read_toml(text: &str, place: &str, values: &mut Values) -> Result<(), ConfigError> {
    let root = TomlEntry::read(text, place)?;
    let tables = || KEYS.iter().filter_map(|key| key.name.split_once('.'));
    for (name, entry) in root.as_table().into_iter().flatten() {
        if !tables().any(|(table, _)| table == name) {
            insert(values, name, entry)?;
            continue;
        }
        let Some(table) = entry.as_table() else {
            let shown = serde_json::to_string(&entry.value);
            let bad = Error::BadValue {
                origin: entry.origin.clone(),
                key: name.clone(),
                value: shown.unwrap_or_else(|_| entry.value.to_string()),
                expected: format!("a table [{name}] of keys"),
            };
            return Err(bad.into());
        };
        for (inner, entry) in table {
            insert(values, &format!("{name}.{inner}"), entry)?;
        }
    }
    Ok(())
}

fn insert(values: &mut Values, name: &str, entry: &TomlEntry) -> Result<(), ConfigError> {
    let key = by_name(name).ok_or_else(|| unknown(name, entry.origin.clone()))?;
    values.insert(key, entry.clone());
    Ok(())
}

fn unknown(name: &str, origin: Origin) -> ConfigError {
    let unknown = Error::UnknownKey {
        origin,
        key: name.to_owned(),
        nearest: nearest(name, KEYS.iter().map(|key| key.name)),
        reference: REFERENCE,
    };
    unknown.into()
}

fn read_environment(
    variables: &[(OsString, OsString)],
    values: &mut Values,
) -> Result<(), ConfigError> {
    for (variable, text) in variables {
        let variable = variable.to_string_lossy();
        if !variable.starts_with(PREFIX) {
            continue;
        }
        let origin = Origin::Environment {
            variable: variable.clone().into_owned(),
        };
        // Text that is not valid Unicode cannot be a valid value of any key; its lossy form identifies it in
        // the error.
        let text = text.to_string_lossy();
        if let Some(key) = KEYS.iter().find(|key| key.variable() == variable) {
            values.insert(key, key.kind.parse(&text, &origin));
        } else if let Some(meant) = nearest_variable(&variable) {
            let unknown = Error::UnknownKey {
                origin,
                key: variable.into_owned(),
                nearest: Some(meant),
                reference: REFERENCE,
            };
            return Err(unknown.into());
        }
    }
    Ok(())
}

/// Returns the variable that was probably meant. Other programs may use the prefix too, so only a near miss
/// is an error.
fn nearest_variable(variable: &str) -> Option<String> {
    let distance = |key: &ConfigKey| strsim::damerau_levenshtein(&key.variable(), variable);
    KEYS.iter()
        .find(|key| distance(key) <= 2)
        .map(ConfigKey::variable)
}

fn read_pairs(
    pairs: &[(String, String)],
    values: &mut Values,
    origin: impl Fn(&str) -> Origin,
) -> Result<(), ConfigError> {
    for (name, text) in pairs {
        let origin = origin(name);
        let key = by_name(name).ok_or_else(|| unknown(name, origin.clone()))?;
        values.insert(key, key.kind.parse(text, &origin));
    }
    Ok(())
}
