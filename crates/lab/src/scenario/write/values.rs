//! Values of keys as files write them, the reverse of the methods of `SectionKey` with the same names.

use std::collections::BTreeMap;
use std::time::Duration;

use undertone_settings::{Origin, TomlEntry, TomlTable, TomlValue};

/// Largest whole number below which every one is exact as a floating-point number.
const EXACT: f64 = 9e15;

/// A key with the value that a parameter gives it.
pub(in crate::scenario) struct WrittenKey<T: 'static> {
    /// Name of the key.
    pub(in crate::scenario) key: &'static str,
    /// Returns the value of the key.
    pub(in crate::scenario) write: fn(&T) -> TomlValue,
}

/// A whole number; the bounds are those of the reader.
pub(in crate::scenario) fn whole<T: Copy + TryInto<u64>>(
    _: u64,
    _: u64,
) -> impl Fn(&T) -> TomlValue {
    |value| count((*value).try_into().unwrap_or(u64::MAX))
}

/// A number; the bounds are those of the reader.
pub(in crate::scenario) fn number(_: f64, _: f64) -> impl Fn(&f64) -> TomlValue {
    |value| shortest(*value)
}

/// A number without bounds.
pub(in crate::scenario) fn any_number() -> impl Fn(&f64) -> TomlValue {
    |value| shortest(*value)
}

/// A time in units of `unit_ns` nanoseconds.
pub(in crate::scenario) fn duration(unit_ns: f64) -> impl Fn(&Duration) -> TomlValue {
    move |value| time(u64::try_from(value.as_nanos()).unwrap_or(u64::MAX), unit_ns)
}

/// Either true or false.
pub(in crate::scenario) fn flag() -> impl Fn(&bool) -> TomlValue {
    |value| TomlValue::Bool(*value)
}

/// The word with a meaning.
pub(in crate::scenario) fn word<T: PartialEq>(words: &[(&str, T)]) -> impl Fn(&T) -> TomlValue {
    |value| named(value, words)
}

/// The word with a meaning; empty if there is none, which the reader refuses.
pub(super) fn named<T: PartialEq>(value: &T, words: &[(&str, T)]) -> TomlValue {
    let known = words.iter().find(|(_, meaning)| meaning == value);
    text(known.map_or("", |(word, _)| word))
}

/// A time in nanoseconds, in units of `unit_ns` nanoseconds.
pub(super) fn time(ns: u64, unit_ns: f64) -> TomlValue {
    shortest(ns as f64 / unit_ns)
}

/// A whole number without bounds.
pub(super) fn count(value: impl Into<u64>) -> TomlValue {
    TomlValue::Integer(i64::try_from(value.into()).unwrap_or(i64::MAX))
}

pub(super) fn text(value: impl Into<String>) -> TomlValue {
    TomlValue::Text(value.into())
}

/// A number, written as a whole one if it is one.
pub(super) fn shortest(value: f64) -> TomlValue {
    if value.fract() == 0.0 && value.abs() < EXACT {
        TomlValue::Integer(value as i64)
    } else {
        TomlValue::Float(value)
    }
}

pub(super) fn list(items: impl IntoIterator<Item = TomlValue>) -> TomlValue {
    TomlValue::List(items.into_iter().map(entry).collect())
}

/// A matrix as a list of rows.
pub(super) fn matrix<T: Copy>(rows: &[Vec<T>], cell: impl Fn(T) -> TomlValue) -> TomlValue {
    list(rows.iter().map(|row| list(row.iter().copied().map(&cell))))
}

/// A table under construction.
#[derive(Default)]
pub(super) struct WrittenTable(TomlTable);

impl WrittenTable {
    /// Sets a key.
    pub(super) fn set(&mut self, key: &str, value: TomlValue) {
        self.0.insert(key.to_owned(), entry(value));
    }

    /// Sets a key to a time in units of `unit_ns` nanoseconds.
    pub(super) fn time(&mut self, key: &str, ns: u64, unit_ns: f64) {
        self.set(key, time(ns, unit_ns));
    }

    /// Sets every key of a list.
    pub(super) fn fill<T>(&mut self, keys: &[WrittenKey<T>], source: &T) {
        for key in keys {
            self.set(key.key, (key.write)(source));
        }
    }

    pub(super) fn finish(self) -> TomlValue {
        TomlValue::Table(self.0)
    }
}

/// Tables with names of their own.
pub(super) fn tables<'a, T: 'a>(
    named: impl IntoIterator<Item = (&'a String, &'a T)>,
    write: impl Fn(&T) -> TomlValue,
) -> TomlValue {
    let tables = named.into_iter();
    let tables: BTreeMap<_, _> = tables
        .map(|(name, table)| (name.clone(), entry(write(table))))
        .collect();
    TomlValue::Table(tables)
}

fn entry(value: TomlValue) -> TomlEntry {
    let origin = Origin::Program;
    TomlEntry { value, origin }
}
