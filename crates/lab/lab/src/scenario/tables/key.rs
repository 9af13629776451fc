//! Tables and keys, for code that both reads and writes them.
//!
//! Methods of a [`Key`] take a reference to the parameter. When reading, they set it from the file if the key is there.
//! When writing, they put its value into the table. So each key is defined once, with its type, bounds and unit.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::mem::discriminant;
use std::time::Duration;

use undertone_settings::{Error, Section, SectionKey, TomlTable, TomlValue};

use super::values::{count, entry, list, shortest, text, time};

/// A table of a file.
pub(super) enum Table<'a> {
    /// A table that is being read.
    Read(Section<'a>),
    /// A table that is being written.
    Written(&'a RefCell<TomlTable>),
}

/// Writes a table.
pub(super) fn write<E>(both: impl FnOnce(&Table<'_>) -> Result<(), E>) -> Result<TomlValue, E> {
    let written = RefCell::default();
    both(&Table::Written(&written))?;
    Ok(TomlValue::Table(written.into_inner()))
}

impl Table<'_> {
    /// Whether the table is read.
    pub(super) fn is_read(&self) -> bool {
        matches!(self, Self::Read(_))
    }

    /// Whether a file that is read has the table.
    pub(super) fn is_present(&self) -> bool {
        matches!(self, Self::Read(section) if section.is_present())
    }

    /// Returns a key of the table; [`keys!`](undertone_settings::keys) calls it.
    pub(super) fn key(&self, name: &'static str) -> Key<'_> {
        match self {
            Self::Read(section) => Key::Read(section.key(name)),
            Self::Written(table) => Key::Written { name, table },
        }
    }

    /// When reading, refuses keys other than these.
    pub(super) fn check_known(&self, keys: &[&'static str]) -> Result<(), Error> {
        match self {
            Self::Read(section) => section.check_known(keys),
            Self::Written(_) => Ok(()),
        }
    }

    /// When reading, refuses keys that are set but were not read; `why` is the reason shown.
    pub(super) fn check_all_read(&self, why: &'static str) -> Result<(), Error> {
        match self {
            Self::Read(section) => section.check_all_read(why),
            Self::Written(_) => Ok(()),
        }
    }

    /// Reads or writes the fields of `target`.
    pub(super) fn fill<T>(&self, fields: &[FieldKey<T>], target: &mut T) -> Result<(), Error> {
        let mut fields = fields.iter();
        fields.try_for_each(|field| (field.both)(self.key(field.key), target))
    }
}

/// A key for one field of a `T`; [`fields!`] lists them.
pub(super) struct FieldKey<T> {
    /// Name of the key.
    pub(super) key: &'static str,
    /// Reads or writes the field.
    pub(super) both: fn(Key<'_>, &mut T) -> Result<(), Error>,
}

/// Lists keys as one [`FieldKey`] each, with the method of [`Key`] that reads and writes them:
/// `fields![whole(0, 9): d, d_low = degrees.low; flag(): enabled]`. A key without a path belongs to the field of the
/// same name.
macro_rules! fields {
    ($($method:ident $arguments:tt: $($key:ident $(= $($path:ident).+)?),+ $(,)?);+ $(;)?) => {
        &[$($($crate::scenario::tables::key::FieldKey {
            key: stringify!($key),
            both: |key, target| {
                let place = $crate::scenario::tables::key::fields!(@place target, $key $(, $($path).+)?);
                $crate::scenario::tables::key::fields!(@call key, place, $method $arguments)
            },
        }),+),+]
    };
    (@place $target:ident, $key:ident) => { &mut $target.$key };
    (@place $target:ident, $key:ident, $($path:ident).+) => { &mut $target.$($path).+ };
    (@call $key:ident, $place:ident, $method:ident ($($argument:expr),*)) => {
        $key.$method($($argument,)* $place)
    };
}

pub(super) use fields;

/// A key of a table.
#[derive(Clone, Copy)]
pub(super) enum Key<'a> {
    /// A key that is being read; it may be absent.
    Read(SectionKey<'a>),
    /// One that is written.
    Written {
        name: &'static str,
        table: &'a RefCell<TomlTable>,
    },
}

impl<'a> Key<'a> {
    /// Returns the key in the file; `None` if it is not set, or when writing.
    pub(super) fn source(self) -> Option<SectionKey<'a>> {
        match self {
            Self::Read(key) => Some(key).filter(SectionKey::is_set),
            Self::Written { .. } => None,
        }
    }

    /// Whether a file that is read sets the key.
    pub(super) fn is_set(self) -> bool {
        self.source().is_some()
    }

    /// When reading, refuses a file without the key.
    pub(super) fn required(self, expected: impl Into<String>) -> Result<Self, Error> {
        match self {
            Self::Read(key) if !key.is_set() => Err(key.bad(expected)),
            _ => Ok(self),
        }
    }

    /// When reading, refuses a file without the key; its value is one of `words`.
    pub(super) fn required_word<T>(self, words: &[(&str, T)]) -> Result<Self, Error> {
        let words: Vec<_> = words.iter().map(|(word, _)| *word).collect();
        self.required(format!("one of {}", words.join(", ")))
    }

    /// When reading, refuses the value if `is_wrong`, because it contradicts others.
    pub(super) fn refuse_if(
        self,
        is_wrong: bool,
        expected: impl Into<String>,
    ) -> Result<(), Error> {
        match self {
            Self::Read(key) if is_wrong => Err(key.bad(expected)),
            _ => Ok(()),
        }
    }

    /// Reads or writes a value. `read` returns `None` to keep the value, `write` returns `None` to leave the key out.
    pub(super) fn both<T>(
        self,
        value: &mut T,
        read: impl FnOnce(SectionKey<'a>) -> Result<Option<T>, Error>,
        write: impl FnOnce(&T) -> Option<TomlValue>,
    ) -> Result<(), Error> {
        match self {
            Self::Read(key) => {
                if let Some(read) = read(key)? {
                    *value = read;
                }
            }
            Self::Written { .. } => self.write(write(value)),
        }
        Ok(())
    }

    /// Writes a value if there is one.
    fn write(self, value: Option<TomlValue>) {
        if let (Self::Written { name, table }, Some(value)) = (self, value) {
            table.borrow_mut().insert(name.to_owned(), entry(value));
        }
    }

    /// Reads or writes an optional value, starting from `initial` if it was missing.
    pub(super) fn some<T>(
        self,
        value: &mut Option<T>,
        initial: T,
        both: impl FnOnce(Self, &mut T) -> Result<(), Error>,
    ) -> Result<(), Error> {
        if self.is_set() || value.is_some() {
            both(self, value.get_or_insert(initial))?;
        }
        Ok(())
    }

    /// Reads or writes a table.
    pub(super) fn table<E: From<Error>>(
        self,
        both: impl FnOnce(&Table<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        if let Self::Read(key) = self {
            return both(&Table::Read(key.table()?));
        }
        self.write(Some(write(both)?));
        Ok(())
    }

    /// Reads or writes a table that has only these fields.
    pub(super) fn fields<T>(self, fields: &[FieldKey<T>], target: &mut T) -> Result<(), Error> {
        self.table(|table| {
            undertone_settings::keys!(table, fields =>);
            table.fill(fields, target)
        })
    }

    /// Reads or writes a list of tables, left out if empty. Each item starts as `initial`.
    pub(super) fn each<T: Clone, E: From<Error>>(
        self,
        items: &mut Vec<T>,
        initial: &T,
        both: impl Fn(&Table<'_>, &mut T) -> Result<(), E>,
    ) -> Result<(), E> {
        if let Self::Read(key) = self {
            for section in key.array_of_tables()? {
                let mut item = initial.clone();
                both(&Table::Read(section), &mut item)?;
                items.push(item);
            }
            return Ok(());
        }
        let tables = items
            .iter_mut()
            .map(|item| write(|table| both(table, item)));
        let tables: Vec<_> = tables.collect::<Result<_, E>>()?;
        self.write(Some(tables).filter(|tables| !tables.is_empty()).map(list));
        Ok(())
    }

    /// Reads or writes tables with names chosen by the file, left out if there are none. Each starts as `initial`.
    pub(super) fn named<T: Clone>(
        self,
        items: &mut BTreeMap<String, T>,
        initial: &T,
        expected: &str,
        both: impl Fn(&Table<'_>, &mut T) -> Result<(), Error>,
    ) -> Result<(), Error> {
        if let Self::Read(key) = self {
            for (name, section) in key.tables(expected)? {
                let mut item = initial.clone();
                both(&Table::Read(section), &mut item)?;
                items.insert(name.to_owned(), item);
            }
            return Ok(());
        }
        let tables = items.iter_mut().map(|(name, item)| {
            let table = write(|table| both(table, item))?;
            Ok((name.clone(), entry(table)))
        });
        let tables: TomlTable = tables.collect::<Result<_, Error>>()?;
        let tables = Some(tables).filter(|tables| !tables.is_empty());
        self.write(tables.map(TomlValue::Table));
        Ok(())
    }

    /// A whole number between two bounds, inclusive.
    pub(super) fn whole<T: Copy + TryFrom<u64> + TryInto<u64>>(
        self,
        min: u64,
        max: u64,
        value: &mut T,
    ) -> Result<(), Error> {
        let write = |value: &T| Some(count((*value).try_into().unwrap_or(u64::MAX)));
        self.both(value, |key| key.whole(min, max), write)
    }

    /// A number between two bounds, inclusive.
    pub(super) fn number(self, min: f64, max: f64, value: &mut f64) -> Result<(), Error> {
        let write = |value: &f64| Some(shortest(*value));
        self.both(value, |key| key.number(min, max), write)
    }

    /// A number of any size that a parameter can reasonably have.
    pub(super) fn any_number(self, value: &mut f64) -> Result<(), Error> {
        let write = |value: &f64| Some(shortest(*value));
        self.both(value, |key| key.any_number(), write)
    }

    /// A time in nanoseconds, in units of `unit_ns` nanoseconds.
    pub(super) fn time(self, unit_ns: f64, ns: &mut u64) -> Result<(), Error> {
        let write = |ns: &u64| Some(time(*ns, unit_ns));
        self.both(ns, |key| key.time(unit_ns), write)
    }

    /// A time in units of `unit_ns` nanoseconds.
    pub(super) fn duration(self, unit_ns: f64, value: &mut Duration) -> Result<(), Error> {
        let ns = |value: &Duration| u64::try_from(value.as_nanos()).unwrap_or(u64::MAX);
        let write = |value: &Duration| Some(time(ns(value), unit_ns));
        self.both(value, |key| key.duration(unit_ns), write)
    }

    /// Either true or false.
    pub(super) fn flag(self, value: &mut bool) -> Result<(), Error> {
        let write = |value: &bool| Some(TomlValue::Bool(*value));
        self.both(value, |key| key.flag(), write)
    }

    /// One of several values, each named by a word.
    pub(super) fn word<T: Clone + PartialEq>(
        self,
        words: &[(&str, T)],
        value: &mut T,
    ) -> Result<(), Error> {
        self.word_by(words, value, T::eq)
    }

    /// The variant of an enum named by one of several words. Its content comes from `words`; further keys may change
    /// it.
    pub(super) fn variant<T: Clone>(self, words: &[(&str, T)], value: &mut T) -> Result<(), Error> {
        let is_same = |a: &T, b: &T| discriminant(a) == discriminant(b);
        self.word_by(words, value, is_same)
    }

    fn word_by<T: Clone>(
        self,
        words: &[(&str, T)],
        value: &mut T,
        is_same: impl Fn(&T, &T) -> bool,
    ) -> Result<(), Error> {
        let meanings: Vec<_> = words
            .iter()
            .map(|(word, meaning)| (*word, meaning))
            .collect();
        let write = |value: &T| {
            let known = words.iter().find(|(_, meaning)| is_same(meaning, value));
            known.map(|(word, _)| text(*word))
        };
        self.both(value, |key| Ok(key.word(&meanings)?.cloned()), write)
    }
}
