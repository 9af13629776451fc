//! A single table: typed reading of its keys, and errors about mistakes in it.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::time::Duration;

use crate::error::{Error, Origin};
use crate::nearest::nearest;
use crate::tree::{TomlEntry, TomlTable};

/// Longest time that a setting can have, seconds; about 31 years.
const MAX_S: f64 = 1e9;

/// Nanoseconds in a second.
pub const S: f64 = 1e9;
/// Nanoseconds in a millisecond.
pub const MS: f64 = 1e6;
/// Nanoseconds in a microsecond.
pub const US: f64 = 1e3;

/// A table, and which of its keys have been read.
#[derive(Debug)]
pub struct Section<'a> {
    name: String,
    origin: Origin,
    table: Option<&'a TomlTable>,
    reference: &'static str,
    read: RefCell<BTreeSet<&'static str>>,
}

impl<'a> Section<'a> {
    /// Creates the section for the table in `entry`, called `name` (empty for the root). `reference` is the advice for
    /// unknown keys without a similar known one.
    ///
    /// # Errors
    /// Fails if the entry is not a table.
    pub fn new(
        entry: &'a TomlEntry,
        name: impl Into<String>,
        reference: &'static str,
    ) -> Result<Self, Error> {
        let name = name.into();
        let Some(table) = entry.as_table() else {
            return Err(Error::BadValue {
                origin: entry.origin.clone(),
                value: entry.value.to_string(),
                expected: format!("a table [{name}] of keys"),
                key: name,
            });
        };
        Ok(Self {
            name,
            origin: entry.origin.clone(),
            table: Some(table),
            reference,
            read: RefCell::default(),
        })
    }

    /// Returns the position at which the table begins.
    pub fn origin(&self) -> &Origin {
        &self.origin
    }

    /// Whether any source contains this table.
    pub fn is_present(&self) -> bool {
        self.table.is_some()
    }

    /// Returns a key of this table, set or not.
    pub fn key(&self, name: &'static str) -> SectionKey<'_> {
        SectionKey {
            section: self,
            name,
        }
    }

    /// Checks that the table has only the given keys.
    ///
    /// # Errors
    /// Fails at the first other key.
    pub fn check_known(&self, keys: &[&'static str]) -> Result<(), Error> {
        let unknown = self
            .table
            .into_iter()
            .flatten()
            .find(|(key, _)| !keys.contains(&key.as_str()));
        match unknown {
            None => Ok(()),
            Some((key, entry)) => Err(Error::UnknownKey {
                origin: entry.origin.clone(),
                key: self.full(key),
                nearest: nearest(key, keys.iter().copied()),
                reference: self.reference,
            }),
        }
    }

    /// Checks that every key of the table was read; `why` is the reason shown for one that was not.
    ///
    /// # Errors
    /// Fails at the first key that was not read.
    pub fn check_all_read(&self, why: &'static str) -> Result<(), Error> {
        let read = self.read.borrow();
        let unread = self
            .table
            .into_iter()
            .flatten()
            .find(|(key, _)| !read.contains(key.as_str()));
        match unread {
            None => Ok(()),
            Some((key, entry)) => Err(Error::NoEffect {
                origin: entry.origin.clone(),
                key: self.full(key),
                why,
            }),
        }
    }

    fn full(&self, key: &str) -> String {
        if self.name.is_empty() {
            key.to_owned()
        } else {
            format!("{}.{key}", self.name)
        }
    }
}

/// A key of a table, set or not. Reading its value marks it as read.
#[derive(Clone, Copy, Debug)]
pub struct SectionKey<'a> {
    section: &'a Section<'a>,
    name: &'static str,
}

impl<'a> SectionKey<'a> {
    /// Whether the table has the key.
    pub fn is_set(&self) -> bool {
        let table = self.section.table;
        table.is_some_and(|table| table.contains_key(self.name))
    }

    /// Returns the raw value; `None` if the key is missing.
    pub fn entry(&self) -> Option<&'a TomlEntry> {
        self.section.read.borrow_mut().insert(self.name);
        self.section.table.and_then(|table| table.get(self.name))
    }

    /// Returns the error for a value that is missing or not as expected.
    pub fn bad(&self, expected: impl Into<String>) -> Error {
        match self.entry() {
            Some(entry) => self.bad_item(entry, expected),
            None => Error::Missing {
                origin: self.section.origin.clone(),
                key: self.section.full(self.name),
                expected: expected.into(),
            },
        }
    }

    /// Returns the error for an item of a list that is not as expected.
    pub fn bad_item(&self, item: &TomlEntry, expected: impl Into<String>) -> Error {
        Error::BadValue {
            origin: item.origin.clone(),
            key: self.section.full(self.name),
            value: item.value.to_string(),
            expected: expected.into(),
        }
    }

    /// Returns the value converted by `convert`; `None` if the key is missing.
    ///
    /// # Errors
    /// Fails if `convert` returns `None`.
    pub fn read<T>(
        &self,
        convert: impl FnOnce(&'a TomlEntry) -> Option<T>,
        expected: impl FnOnce() -> String,
    ) -> Result<Option<T>, Error> {
        let Some(entry) = self.entry() else {
            return Ok(None);
        };
        match convert(entry) {
            None => Err(self.bad_item(entry, expected())),
            value => Ok(value),
        }
    }

    /// Returns the table under this key; an empty one if the key is missing.
    ///
    /// # Errors
    /// Fails if the value is not a table.
    pub fn table(&self) -> Result<Section<'a>, Error> {
        let above = self.section;
        let name = above.full(self.name);
        match self.entry() {
            Some(entry) => Section::new(entry, name, above.reference),
            None => Ok(Section {
                name,
                origin: above.origin.clone(),
                table: None,
                reference: above.reference,
                read: RefCell::default(),
            }),
        }
    }

    /// Returns the named tables under this key, as sections of the same kind.
    ///
    /// # Errors
    /// Fails if the value or an entry in it is not a table.
    pub fn tables(&self, expected: &str) -> Result<Vec<(&'a str, Section<'a>)>, Error> {
        let tables = self.read(TomlEntry::as_table, || expected.to_owned())?;
        let tables = tables.into_iter().flatten().map(|(name, entry)| {
            let full = format!("{}.{name}", self.section.full(self.name));
            let section = Section::new(entry, full, self.section.reference)?;
            Ok((name.as_str(), section))
        });
        tables.collect()
    }

    /// Returns the items of an array of tables, `[[key]]`; none if the key is missing.
    ///
    /// # Errors
    /// Fails if the value is not a list or one of its items is not a table.
    pub fn array_of_tables(&self) -> Result<Vec<Section<'a>>, Error> {
        let full = self.section.full(self.name);
        let items = self.read(TomlEntry::as_list, || format!("tables [[{full}]]"))?;
        let items =
            items.into_iter().flatten().enumerate().map(|(at, entry)| {
                Section::new(entry, format!("{full}.{at}"), self.section.reference)
            });
        items.collect()
    }

    /// Returns the items of a list; `None` if the key is missing.
    ///
    /// # Errors
    /// Fails if the value is not a list.
    pub fn list(
        &self,
        expected: impl FnOnce() -> String,
    ) -> Result<Option<&'a [TomlEntry]>, Error> {
        self.read(TomlEntry::as_list, expected)
    }

    /// Returns the value as text; `None` if the key is missing.
    ///
    /// # Errors
    /// Fails if the value has another type.
    pub fn text(&self, expected: &str) -> Result<Option<&'a str>, Error> {
        self.read(TomlEntry::as_text, || expected.to_owned())
    }

    /// Returns true or false; `None` if the key is missing.
    ///
    /// # Errors
    /// Fails if the value has another type.
    pub fn flag(&self) -> Result<Option<bool>, Error> {
        self.read(TomlEntry::as_bool, || "true or false".to_owned())
    }

    /// Returns a whole number between two inclusive bounds; `None` if the key is missing.
    ///
    /// # Errors
    /// Fails if the value is not one, is out of bounds, or does not fit into `T`.
    pub fn whole<T: TryFrom<u64>>(&self, min: u64, max: u64) -> Result<Option<T>, Error> {
        let convert = |entry: &TomlEntry| {
            let within = entry.as_whole().filter(|value| (min..=max).contains(value));
            within.and_then(|value| T::try_from(value).ok())
        };
        self.read(convert, || format!("a whole number from {min} to {max}"))
    }

    /// Returns a number between two inclusive bounds; `None` if the key is missing.
    ///
    /// # Errors
    /// Fails if the value is not a number or is out of bounds.
    pub fn number(&self, min: f64, max: f64) -> Result<Option<f64>, Error> {
        let convert = |entry: &TomlEntry| {
            let value = entry.as_number();
            value.filter(|value| (min..=max).contains(value))
        };
        self.read(convert, || format!("a number from {min} to {max}"))
    }

    /// Returns a number of any size that is reasonable for a parameter; `None` if the key is missing.
    ///
    /// # Errors
    /// Fails if the value is not a number, or its magnitude exceeds 1e15.
    pub fn any_number(&self) -> Result<Option<f64>, Error> {
        const ANY: f64 = 1e15;
        self.number(-ANY, ANY)
    }

    /// Reads a time in units of `unit_ns` nanoseconds and returns nanoseconds; `None` if the key is missing.
    ///
    /// # Errors
    /// Fails if the value is not a number, is negative, or exceeds 31 years.
    pub fn time(&self, unit_ns: f64) -> Result<Option<u64>, Error> {
        let max = MAX_S * S / unit_ns;
        Ok(self.number(0.0, max)?.map(|value| ns(value, unit_ns)))
    }

    /// Reads a time in units of `unit_ns` nanoseconds; `None` if the key is missing.
    ///
    /// # Errors
    /// Fails in the same cases as [`Self::time`].
    pub fn duration(&self, unit_ns: f64) -> Result<Option<Duration>, Error> {
        Ok(self.time(unit_ns)?.map(Duration::from_nanos))
    }

    /// Returns the value that belongs to one of several words; `None` if the key is missing.
    ///
    /// # Errors
    /// Fails if the value is not one of the words.
    pub fn word<T: Copy>(&self, words: &[(&str, T)]) -> Result<Option<T>, Error> {
        let convert = |entry: &TomlEntry| {
            let word = entry.as_text()?;
            let known = words.iter().find(|(known, _)| *known == word);
            known.map(|(_, meaning)| *meaning)
        };
        self.read(convert, || {
            let words: Vec<_> = words.iter().map(|(word, _)| format!("{word:?}")).collect();
            format!("one of {}", words.join(", "))
        })
    }
}

/// Converts a time to nanoseconds. The caller must have checked its bounds.
pub fn ns(value: f64, unit_ns: f64) -> u64 {
    (value * unit_ns).round() as u64
}

/// Binds each key of a [`Section`] to a variable of the same name, as a [`SectionKey`], and makes the enclosing
/// function return an error if the table has others: `keys!(section => one_way_ms, loss)`. Lists of items with a field
/// `key` may precede the arrow; the table may then have these keys too: `keys!(section, FIELDS => one_way_ms)`.
#[macro_export]
macro_rules! keys {
    ($section:ident $(, $fields:expr)* => $($key:ident),* $(,)?) => {
        let known = [$(stringify!($key)),*].into_iter();
        $(let known = known.chain($fields.iter().map(|field| field.key));)*
        $section.check_known(&known.collect::<Vec<_>>())?;
        $(let $key = $section.key(stringify!($key));)*
    };
}
