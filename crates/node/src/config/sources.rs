//! The three sources of configuration keys, and which of them set each key.

use std::{collections::BTreeMap, ffi::OsString, fs, ops::Range, path::PathBuf};

use figment::{
    Figment, Metadata, Profile, Provider, Source,
    providers::{Format, Toml},
    value::{Dict, Map, Value},
};
use toml_edit::{ImDocument, TableLike};

use super::{ConfigError, KEYS, Key, Kind, Origin, keys::nearest};

const PREFIX: &str = "UNDERTONE_";

const FILE: &str = "file";
const ENVIRONMENT: &str = "environment";
const FLAGS: &str = "flags";

/// Sources of configuration keys; each overrides the ones before it.
#[derive(Debug, Clone, Default)]
pub struct Sources {
    /// Path of a TOML file.
    pub file: Option<PathBuf>,
    /// Environment variables; those that do not start with `UNDERTONE_` are ignored.
    pub environment: Vec<(OsString, OsString)>,
    /// Key names (see [`KEYS`]) and values from the command line; lists are separated by commas.
    pub flags: Vec<(String, String)>,
}

impl Sources {
    /// Takes the environment of this process, a file and flags.
    pub fn from_process(file: Option<PathBuf>, flags: Vec<(String, String)>) -> Self {
        Self {
            file,
            environment: std::env::vars_os().collect(),
            flags,
        }
    }

    pub(super) fn gather(&self) -> Result<Gathered, ConfigError> {
        let mut file_lines = BTreeMap::new();
        let mut figment = Figment::new();
        if let Some(path) = &self.file {
            let (layer, lines) = read_file(path)?;
            file_lines = lines;
            figment = figment.merge(layer);
        }
        figment = figment.merge(read_environment(&self.environment)?);
        figment = figment.merge(read_flags(&self.flags)?);
        Ok(Gathered {
            figment,
            file_lines,
        })
    }
}

/// Merged values, each with its source.
pub(super) struct Gathered {
    pub(super) figment: Figment,
    file_lines: BTreeMap<String, usize>,
}

impl Gathered {
    /// Returns the source that set the effective value of `key`.
    pub(super) fn origin(&self, key: &Key) -> Origin {
        let Some(metadata) = self.figment.find_metadata(key.name) else {
            return Origin::Default;
        };
        match &*metadata.name {
            ENVIRONMENT => Origin::Environment {
                variable: key.variable(),
            },
            FLAGS => Origin::Flag { flag: key.flag() },
            _ => Origin::File {
                path: metadata
                    .source
                    .as_ref()
                    .and_then(Source::file_path)
                    .map(Into::into)
                    .unwrap_or_default(),
                line: self.file_lines.get(key.name).copied().unwrap_or(1),
            },
        }
    }
}

/// Values of one source, in the form that figment merges.
struct Layer {
    metadata: Metadata,
    dict: Dict,
}

impl Provider for Layer {
    fn metadata(&self) -> Metadata {
        self.metadata.clone()
    }

    fn data(&self) -> figment::Result<Map<Profile, Dict>> {
        Ok(Profile::Default.collect(self.dict.clone()))
    }
}

fn read_file(path: &PathBuf) -> Result<(Layer, BTreeMap<String, usize>), ConfigError> {
    let text = fs::read_to_string(path).map_err(|source| ConfigError::Read {
        path: path.clone(),
        source,
    })?;
    let syntax = |line, message: &str| ConfigError::Syntax {
        path: path.clone(),
        line,
        message: message.trim().to_owned(),
    };
    let document = ImDocument::parse(text.as_str())
        .map_err(|e| syntax(line_of(&text, e.span()), e.message()))?;
    let mut lines = BTreeMap::new();
    list_keys(document.as_table(), "", &text, &mut lines);
    for (name, line) in &lines {
        let origin = Origin::File {
            path: path.clone(),
            line: *line,
        };
        if let Some(table) = table(name) {
            let value = document
                .get(name)
                .map(ToString::to_string)
                .unwrap_or_default();
            return Err(ConfigError::BadValue {
                origin,
                key: table,
                value: value.trim().to_owned(),
                expected: format!("a table [{table}] of keys"),
            });
        }
        if Key::by_name(name).is_none() {
            return Err(ConfigError::UnknownKey {
                origin,
                key: name.clone(),
                nearest: nearest(name, KEYS.iter().map(|key| key.name)).map(str::to_owned),
            });
        }
    }
    let mut data = Toml::string(&text)
        .data()
        .map_err(|e| syntax(1, &e.kind.to_string()))?;
    let layer = Layer {
        metadata: Metadata::from(FILE, path.as_path()),
        dict: data.remove(&Profile::Default).unwrap_or_default(),
    };
    Ok((layer, lines))
}

/// Returns the table called `name`, if some key belongs to it.
fn table(name: &str) -> Option<&'static str> {
    KEYS.iter()
        .filter_map(|key| key.name.split_once('.'))
        .map(|(table, _)| table)
        .find(|t| *t == name)
}

/// Lists the names of all keys with their lines. Tables that hold known keys are entered, not listed.
fn list_keys(
    within: &dyn TableLike,
    prefix: &str,
    text: &str,
    lines: &mut BTreeMap<String, usize>,
) {
    for (name, item) in within.iter() {
        let span = within.key(name).and_then(toml_edit::Key::span);
        let name = format!("{prefix}{name}");
        match item.as_table_like() {
            Some(inner) if table(&name).is_some() => {
                list_keys(inner, &format!("{name}."), text, lines);
            }
            _ => {
                lines.insert(name, line_of(text, span.or_else(|| item.span())));
            }
        }
    }
}

fn line_of(text: &str, span: Option<Range<usize>>) -> usize {
    let end = span.map_or(0, |span| span.start).min(text.len());
    1 + text.as_bytes()[..end]
        .iter()
        .filter(|byte| **byte == b'\n')
        .count()
}

fn read_environment(variables: &[(OsString, OsString)]) -> Result<Layer, ConfigError> {
    let mut dict = Dict::new();
    for (variable, text) in variables {
        let variable = variable.to_string_lossy();
        if !variable.starts_with(PREFIX) {
            continue;
        }
        // Text that is not Unicode cannot be a valid value of any key; its lossy form identifies
        // it in the error.
        let text = text.to_string_lossy();
        if let Some(key) = KEYS.iter().find(|key| key.variable() == variable) {
            insert(&mut dict, key, &text);
        } else if let Some(meant) = nearest_variable(&variable) {
            return Err(ConfigError::UnknownKey {
                origin: Origin::Environment {
                    variable: variable.clone().into_owned(),
                },
                key: variable.into_owned(),
                nearest: Some(meant),
            });
        }
    }
    Ok(Layer {
        metadata: Metadata::named(ENVIRONMENT),
        dict,
    })
}

/// Returns the variable that was probably meant. Other programs may use the prefix too, so only a near miss
/// is an error.
fn nearest_variable(variable: &str) -> Option<String> {
    let distance = |key: &Key| strsim::damerau_levenshtein(&key.variable(), variable);
    KEYS.iter()
        .find(|key| distance(key) <= 2)
        .map(Key::variable)
}

fn read_flags(flags: &[(String, String)]) -> Result<Layer, ConfigError> {
    let mut dict = Dict::new();
    for (name, text) in flags {
        let key = Key::by_name(name).ok_or_else(|| ConfigError::UnknownKey {
            origin: Origin::Flag {
                flag: format!("--{}", name.replace('.', "-")),
            },
            key: name.clone(),
            nearest: nearest(name, KEYS.iter().map(|key| key.name)).map(str::to_owned),
        })?;
        insert(&mut dict, key, text);
    }
    Ok(Layer {
        metadata: Metadata::named(FLAGS),
        dict,
    })
}

fn insert(dict: &mut Dict, key: &Key, text: &str) {
    let value = read_text(key.kind, text);
    match key.name.split_once('.') {
        None => {
            dict.insert(key.name.to_owned(), value);
        }
        Some((table, name)) => {
            let entry = dict
                .entry(table.to_owned())
                .or_insert_with(|| Dict::new().into());
            if let Value::Dict(_, inner) = entry {
                inner.insert(name.to_owned(), value);
            }
        }
    }
}

/// Parses text by the key's type. Text that does not parse stays text, which the typed extraction then
/// refuses with the key's name.
fn read_text(kind: Kind, text: &str) -> Value {
    let items = || {
        text.split(',')
            .map(str::trim)
            .filter(|item| !item.is_empty())
    };
    match kind {
        Kind::Bool => text
            .parse::<bool>()
            .map_or_else(|_| text.into(), Value::from),
        Kind::Integer => integer(text),
        Kind::Float => text
            .parse::<f64>()
            .map_or_else(|_| text.into(), Value::from),
        Kind::Text => text.into(),
        Kind::IntegerList => items().map(integer).collect::<Vec<_>>().into(),
        Kind::TextList => items().map(Value::from).collect::<Vec<_>>().into(),
    }
}

fn integer(text: &str) -> Value {
    text.parse::<i64>()
        .map_or_else(|_| text.into(), Value::from)
}
