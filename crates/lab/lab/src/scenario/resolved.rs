//! A scenario with every parameter, and the origin of each.

use std::collections::BTreeSet;
use std::fmt::Write;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};
use undertone_settings::{Origin, TomlEntry, TomlTable, TomlValue};

/// Origin of a parameter that nobody has set.
const DEFAULT: &str = "default";

/// Parameters that are written under another key than the ones that set them, each with those keys.
const FORMS: [(&str, &[&str]); 2] = [
    ("network.places", &["network.gml", "network.cities"]),
    (
        "services.light_clients",
        &["services.clients_per_service_node"],
    ),
];

/// Every parameter of a scenario with its value and origin. A file with these values describes the same scenario.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ResolvedScenario {
    /// SHA-256 over the parameters, hex. It does not depend on names, descriptions, comments, or where a value came
    /// from.
    pub hash: String,
    /// All parameters, by table and key, as a scenario file would state them.
    pub parameters: Value,
    /// Origin of each parameter, in the same form: file and line, override, or default.
    pub from: Value,
}

/// Start of an origin that is an override.
const OVERRIDE: &str = "--set ";

impl ResolvedScenario {
    /// Overrides that some parameter comes from, as they were given.
    pub(crate) fn overrides(&self) -> Vec<&str> {
        let (mut set, mut origins) = (BTreeSet::new(), vec![&self.from]);
        while let Some(origin) = origins.pop() {
            match origin {
                Value::Object(table) => origins.extend(table.values()),
                Value::Array(items) => origins.extend(items),
                Value::String(text) if text.starts_with(OVERRIDE) => {
                    let (given, _) = text.split_once(", from ").unwrap_or((text, ""));
                    set.insert(given);
                }
                _ => {}
            }
        }
        set.into_iter().collect()
    }

    /// Finds the origin of each value of `parameters`. `root` is the document that was read, `overrides` are those
    /// applied to it, and `earlier` is the resolved scenario that `root` came from, if any.
    pub(super) fn new(
        parameters: &TomlValue,
        root: &TomlEntry,
        overrides: &[String],
        earlier: Option<&Self>,
    ) -> Self {
        let origins = Origins {
            root,
            overrides,
            earlier: earlier.map(|earlier| &earlier.from),
        };
        Self {
            hash: hash(parameters),
            parameters: serde_json::to_value(parameters).expect("TOML has string keys only"),
            from: origins.of(parameters, &mut Vec::new()),
        }
    }

    /// The parameters as a document for the reader; `place` names it in messages. `None` if a value is null.
    pub(super) fn document(&self, place: &str) -> Option<TomlEntry> {
        let origin = Origin::File {
            place: place.into(),
            line: 1,
        };
        from_json(&self.parameters, &origin)
    }
}

/// Hash over everything that determines a run.
fn hash(parameters: &TomlValue) -> String {
    let mut parameters = parameters.clone();
    if let TomlValue::Table(root) = &mut parameters
        && let Some(general) = root.get_mut("scenario")
        && let TomlValue::Table(general) = &mut general.value
    {
        general.remove("description");
    }
    // Tables are ordered by key, so equal parameters have equal text.
    let text = serde_json::to_string(&parameters).expect("TOML has string keys only");
    hex::encode(Sha256::digest(text))
}

/// Where origins are looked up.
struct Origins<'a> {
    root: &'a TomlEntry,
    overrides: &'a [String],
    earlier: Option<&'a Value>,
}

impl Origins<'_> {
    /// Origins of a value and of everything in it.
    fn of(&self, value: &TomlValue, path: &mut Vec<String>) -> Value {
        match value {
            TomlValue::Table(table) => {
                let mut origins = Map::new();
                for (key, entry) in table {
                    path.push(key.clone());
                    origins.insert(key.clone(), self.of(&entry.value, path));
                    path.pop();
                }
                Value::Object(origins)
            }
            TomlValue::List(items) if items.iter().any(|item| item.as_table().is_some()) => {
                let mut origins = Vec::new();
                for (at, item) in items.iter().enumerate() {
                    path.push(at.to_string());
                    origins.push(self.of(&item.value, path));
                    path.pop();
                }
                Value::Array(origins)
            }
            _ => Value::String(self.origin(path)),
        }
    }

    fn origin(&self, path: &[String]) -> String {
        let full = path.join(".");
        if let Some(origin) = self.looked_up(path, &full) {
            return origin;
        }
        let is_below = |form: &str| full == form || full.starts_with(&format!("{form}."));
        let forms = FORMS.iter().filter(|(form, _)| is_below(form));
        let keys = forms.flat_map(|(_, keys)| keys.iter());
        let mut origins = keys.filter_map(|key| {
            let path: Vec<String> = key.split('.').map(str::to_owned).collect();
            Some(format!("{}, from {key}", self.looked_up(&path, key)?))
        });
        origins.next().unwrap_or_else(|| DEFAULT.to_owned())
    }

    /// Origin of the entry at a path, if a source has it.
    fn looked_up(&self, path: &[String], full: &str) -> Option<String> {
        let entry = path
            .iter()
            .try_fold(self.root, |at, part| match &at.value {
                TomlValue::Table(table) => table.get(part),
                TomlValue::List(items) => items.get(part.parse::<usize>().ok()?),
                _ => None,
            })?;
        match (&entry.origin, self.earlier) {
            (Origin::Set, _) => {
                let sets = |text: &&String| {
                    let key = text.split('=').next().unwrap_or_default().trim();
                    full == key || full.starts_with(&format!("{key}."))
                };
                let set = self.overrides.iter().rev().find(sets);
                Some(set.map_or_else(|| Origin::Set.to_string(), |set| format!("{OVERRIDE}{set}")))
            }
            (_, Some(earlier)) => {
                let pointer = path.iter().fold(String::new(), |mut pointer, part| {
                    // Writing to a string cannot fail.
                    let _ = write!(pointer, "/{}", part.replace('~', "~0").replace('/', "~1"));
                    pointer
                });
                let origin = earlier.pointer(&pointer)?;
                Some(origin.as_str().unwrap_or(DEFAULT).to_owned())
            }
            (origin, None) => Some(origin.to_string()),
        }
    }
}

/// Converts JSON to a document; `None` if it contains a null, which no scenario has.
pub(super) fn from_json(value: &Value, origin: &Origin) -> Option<TomlEntry> {
    let value = match value {
        Value::Null => return None,
        Value::Bool(value) => TomlValue::Bool(*value),
        Value::Number(number) => match number.as_i64() {
            Some(whole) => TomlValue::Integer(whole),
            None => TomlValue::Float(number.as_f64()?),
        },
        Value::String(text) => TomlValue::Text(text.clone()),
        Value::Array(items) => {
            let items = items.iter().map(|item| from_json(item, origin));
            TomlValue::List(items.collect::<Option<_>>()?)
        }
        Value::Object(table) => {
            let entries = table
                .iter()
                .map(|(key, value)| Some((key.clone(), from_json(value, origin)?)));
            TomlValue::Table(entries.collect::<Option<TomlTable>>()?)
        }
    };
    Some(TomlEntry {
        value,
        origin: origin.clone(),
    })
}
