//! Values in the form that files have.

use undertone_settings::{Origin, TomlEntry, TomlValue};

/// Whole numbers below this are exact as floating-point numbers.
const EXACT: f64 = 9e15;

/// A time in nanoseconds, in units of `unit_ns` nanoseconds.
pub(super) fn time(ns: u64, unit_ns: f64) -> TomlValue {
    shortest(ns as f64 / unit_ns)
}

/// A whole number.
pub(super) fn count(value: impl Into<u64>) -> TomlValue {
    TomlValue::Integer(i64::try_from(value.into()).unwrap_or(i64::MAX))
}

pub(super) fn text(value: impl Into<String>) -> TomlValue {
    TomlValue::Text(value.into())
}

/// A number, written without a fraction if it is whole.
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

/// A value that a program has set.
pub(super) fn entry(value: TomlValue) -> TomlEntry {
    let origin = Origin::Program;
    TomlEntry { value, origin }
}
