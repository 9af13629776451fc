//! A TOML document as a tree of values that know their origin.

use std::{collections::BTreeMap, fmt, ops::Range, sync::Arc};

use serde::{Serialize, Serializer};
use toml_edit::{Document, TableLike};

use crate::error::{Error, Origin};

/// Keys of a table with their entries.
pub type TomlTable = BTreeMap<String, TomlEntry>;

/// A value with its origin.
#[derive(Clone, Debug)]
pub struct TomlEntry {
    /// The value itself.
    pub value: TomlValue,
    /// Source that set the value.
    pub origin: Origin,
}

/// A TOML value. It serializes to its JSON form.
#[derive(Clone, Debug)]
pub enum TomlValue {
    /// True or false.
    Bool(bool),
    /// A whole number.
    Integer(i64),
    /// A floating-point number.
    Float(f64),
    /// A text without its quotes.
    Text(String),
    /// A list of values.
    List(Vec<TomlEntry>),
    /// A table of keys.
    Table(TomlTable),
    /// A date or time, which no key accepts.
    Other(String),
}

impl TomlEntry {
    /// Reads a TOML document, called `place` in errors; the root is a table.
    ///
    /// # Errors
    /// Fails with [`Error::Syntax`] if the text is not TOML.
    pub fn read(text: &str, place: &str) -> Result<Self, Error> {
        let place: Arc<str> = place.into();
        let reader = TreeReader {
            origin: |line| Origin::File {
                place: Arc::clone(&place),
                line,
            },
            text,
        };
        let document = Document::parse(text).map_err(|error| Error::Syntax {
            origin: reader.at(error.span()),
            message: error.message().trim().replace('\n', ", "),
        })?;
        Ok(Self {
            value: TomlValue::Table(reader.table(document.as_table())),
            origin: reader.at(None),
        })
    }

    /// Reads one value: TOML, or otherwise plain text. All of it gets the given origin.
    pub fn read_value(text: &str, origin: &Origin) -> Self {
        let reader = TreeReader {
            origin: |_| origin.clone(),
            text: "",
        };
        let value = text.parse::<toml_edit::Value>();
        Self {
            value: value.map_or_else(
                |_| TomlValue::Text(text.to_owned()),
                |value| reader.value(&value),
            ),
            origin: origin.clone(),
        }
    }

    /// Returns a number, whole or not; `None` for a value of another type.
    pub fn as_number(&self) -> Option<f64> {
        match self.value {
            TomlValue::Integer(value) => Some(value as f64),
            TomlValue::Float(value) => Some(value),
            _ => None,
        }
    }

    /// Returns a whole number that is not negative; `None` for other values.
    pub fn as_whole(&self) -> Option<u64> {
        match self.value {
            TomlValue::Integer(value) => u64::try_from(value).ok(),
            _ => None,
        }
    }

    /// Returns true or false; `None` for a value of another type.
    pub fn as_bool(&self) -> Option<bool> {
        match self.value {
            TomlValue::Bool(value) => Some(value),
            _ => None,
        }
    }

    /// Returns a text; `None` for a value of another type.
    pub fn as_text(&self) -> Option<&str> {
        match &self.value {
            TomlValue::Text(text) => Some(text),
            _ => None,
        }
    }

    /// Returns the items of a list; `None` for a value of another type.
    pub fn as_list(&self) -> Option<&[Self]> {
        match &self.value {
            TomlValue::List(items) => Some(items),
            _ => None,
        }
    }

    /// Returns the keys of a table; `None` for a value of another type.
    pub fn as_table(&self) -> Option<&TomlTable> {
        match &self.value {
            TomlValue::Table(table) => Some(table),
            _ => None,
        }
    }
}

impl TomlValue {
    /// Returns the value as it would be written in a file.
    pub fn to_toml(&self) -> toml_edit::Value {
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

/// Shows a value in one short line; lists and tables are only summarised.
impl fmt::Display for TomlValue {
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

impl Serialize for TomlValue {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Bool(value) => serializer.serialize_bool(*value),
            Self::Integer(value) => serializer.serialize_i64(*value),
            Self::Float(value) => serializer.serialize_f64(*value),
            Self::Text(value) | Self::Other(value) => serializer.serialize_str(value),
            Self::List(items) => serializer.collect_seq(items.iter().map(|item| &item.value)),
            Self::Table(table) => {
                serializer.collect_map(table.iter().map(|(key, entry)| (key, &entry.value)))
            }
        }
    }
}

/// Converts a parsed document to a tree, with the origin of the content of each line.
struct TreeReader<'a, F> {
    text: &'a str,
    origin: F,
}

impl<F: Fn(usize) -> Origin> TreeReader<'_, F> {
    fn at(&self, span: Option<Range<usize>>) -> Origin {
        let end = span.map_or(0, |span| span.start).min(self.text.len());
        let before = &self.text.as_bytes()[..end];
        (self.origin)(1 + before.iter().filter(|byte| **byte == b'\n').count())
    }

    fn table(&self, table: &dyn TableLike) -> TomlTable {
        table
            .iter()
            .map(|(name, item)| {
                let span = table.key(name).and_then(toml_edit::Key::span);
                let origin = self.at(span.or_else(|| item.span()));
                let value = self.item(item);
                (name.to_owned(), TomlEntry { value, origin })
            })
            .collect()
    }

    fn item(&self, item: &toml_edit::Item) -> TomlValue {
        match item {
            toml_edit::Item::None => TomlValue::Other("nothing".to_owned()),
            toml_edit::Item::Value(value) => self.value(value),
            toml_edit::Item::Table(table) => TomlValue::Table(self.table(table)),
            toml_edit::Item::ArrayOfTables(tables) => {
                let items = tables.iter().map(|table| TomlEntry {
                    value: TomlValue::Table(self.table(table)),
                    origin: self.at(table.span()),
                });
                TomlValue::List(items.collect())
            }
        }
    }

    fn value(&self, value: &toml_edit::Value) -> TomlValue {
        match value {
            toml_edit::Value::Boolean(value) => TomlValue::Bool(*value.value()),
            toml_edit::Value::Integer(value) => TomlValue::Integer(*value.value()),
            toml_edit::Value::Float(value) => TomlValue::Float(*value.value()),
            toml_edit::Value::String(value) => TomlValue::Text(value.value().clone()),
            toml_edit::Value::Datetime(value) => TomlValue::Other(value.value().to_string()),
            toml_edit::Value::InlineTable(table) => TomlValue::Table(self.table(table)),
            toml_edit::Value::Array(items) => {
                let items = items.iter().map(|item| TomlEntry {
                    value: self.value(item),
                    origin: self.at(item.span()),
                });
                TomlValue::List(items.collect())
            }
        }
    }
}
