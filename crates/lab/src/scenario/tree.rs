//! A TOML document as a tree of values that know their origin.

use std::{collections::BTreeMap, fmt, ops::Range, sync::Arc};

use toml_edit::{ImDocument, TableLike};

use super::{Origin, ScenarioError};

/// Keys of a table with their entries.
pub(super) type Table = BTreeMap<String, Entry>;

/// A value with its origin.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub(super) value: Value,
    pub(super) origin: Origin,
}

/// A TOML value, as far as scenarios need it.
#[derive(Clone, Debug)]
pub(super) enum Value {
    Bool(bool),
    Integer(i64),
    Float(f64),
    Text(String),
    List(Vec<Entry>),
    Table(Table),
    /// A date or time, which no key accepts.
    Other(String),
}

impl Value {
    /// The value as it would be written in a file.
    pub(super) fn to_toml(&self) -> toml_edit::Value {
        match self {
            Self::Bool(value) => (*value).into(),
            Self::Integer(value) => (*value).into(),
            Self::Float(value) => (*value).into(),
            Self::Text(value) | Self::Other(value) => value.into(),
            Self::List(items) => {
                let items = items.iter().map(|item| item.value.to_toml());
                toml_edit::Value::Array(items.collect())
            }
            Self::Table(table) => {
                let keys = table
                    .iter()
                    .map(|(key, entry)| (key, entry.value.to_toml()));
                toml_edit::Value::InlineTable(keys.collect())
            }
        }
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bool(value) => write!(f, "{value}"),
            Self::Integer(value) => write!(f, "{value}"),
            Self::Float(value) => write!(f, "{value}"),
            Self::Text(value) => write!(f, "{value:?}"),
            Self::List(items) => write!(f, "a list of {}", items.len()),
            Self::Table(_) => f.write_str("a table"),
            Self::Other(value) => f.write_str(value),
        }
    }
}

/// Reads a TOML document; the root is a table.
pub(super) fn read(text: &str, place: &str) -> Result<Entry, ScenarioError> {
    let reader = Reader {
        text,
        place: place.into(),
    };
    let document = ImDocument::parse(text).map_err(|error| ScenarioError::Syntax {
        origin: reader.origin(error.span()),
        message: error.message().trim().replace('\n', ", "),
    })?;
    Ok(Entry {
        value: Value::Table(reader.table(document.as_table())),
        origin: reader.origin(None),
    })
}

struct Reader<'a> {
    text: &'a str,
    place: Arc<str>,
}

impl Reader<'_> {
    fn origin(&self, span: Option<Range<usize>>) -> Origin {
        let end = span.map_or(0, |span| span.start).min(self.text.len());
        let before = &self.text.as_bytes()[..end];
        Origin::File {
            place: Arc::clone(&self.place),
            line: 1 + before.iter().filter(|byte| **byte == b'\n').count(),
        }
    }

    fn table(&self, table: &dyn TableLike) -> Table {
        table
            .iter()
            .map(|(name, item)| {
                let span = table.key(name).and_then(toml_edit::Key::span);
                let origin = self.origin(span.or_else(|| item.span()));
                let value = self.item(item);
                (name.to_owned(), Entry { value, origin })
            })
            .collect()
    }

    fn item(&self, item: &toml_edit::Item) -> Value {
        match item {
            toml_edit::Item::None => Value::Other("nothing".to_owned()),
            toml_edit::Item::Value(value) => self.value(value),
            toml_edit::Item::Table(table) => Value::Table(self.table(table)),
            toml_edit::Item::ArrayOfTables(tables) => Value::List(
                tables
                    .iter()
                    .map(|table| Entry {
                        value: Value::Table(self.table(table)),
                        origin: self.origin(table.span()),
                    })
                    .collect(),
            ),
        }
    }

    fn value(&self, value: &toml_edit::Value) -> Value {
        match value {
            toml_edit::Value::Boolean(value) => Value::Bool(*value.value()),
            toml_edit::Value::Integer(value) => Value::Integer(*value.value()),
            toml_edit::Value::Float(value) => Value::Float(*value.value()),
            toml_edit::Value::String(value) => Value::Text(value.value().clone()),
            toml_edit::Value::Datetime(value) => Value::Other(value.value().to_string()),
            toml_edit::Value::InlineTable(table) => Value::Table(self.table(table)),
            toml_edit::Value::Array(items) => Value::List(
                items
                    .iter()
                    .map(|item| Entry {
                        value: self.value(item),
                        origin: self.origin(item.span()),
                    })
                    .collect(),
            ),
        }
    }
}

/// Reads one value of `--set`: TOML, or otherwise plain text.
pub(super) fn read_value(text: &str) -> Entry {
    let set = |value| Entry {
        value,
        origin: Origin::Set,
    };
    let Ok(value) = text.parse::<toml_edit::Value>() else {
        return set(Value::Text(text.to_owned()));
    };
    let reader = Reader {
        text: "",
        place: "--set".into(),
    };
    let mut entry = set(reader.value(&value));
    mark_set(&mut entry);
    entry
}

fn mark_set(entry: &mut Entry) {
    entry.origin = Origin::Set;
    match &mut entry.value {
        Value::List(items) => items.iter_mut().for_each(mark_set),
        Value::Table(table) => table.values_mut().for_each(mark_set),
        _ => {}
    }
}
