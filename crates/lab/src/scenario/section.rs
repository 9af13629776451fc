//! One table of a scenario file: typed reading of its keys, and messages about mistakes.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::time::Duration;

use super::tree::{Entry, Table, Value};
use super::{Origin, ScenarioError};

/// Longest time that a scenario can state, seconds; some 31 years.
const MAX_S: f64 = 1e9;

/// Nanoseconds in each unit of time.
pub(super) const S: f64 = 1e9;
pub(super) const MS: f64 = 1e6;
pub(super) const US: f64 = 1e3;

/// A table, its permitted keys, and the keys that have been read.
pub(super) struct Section<'a> {
    name: String,
    origin: Origin,
    table: Option<&'a Table>,
    keys: &'static [&'static str],
    read: RefCell<BTreeSet<&'static str>>,
}

impl<'a> Section<'a> {
    /// The table in `entry`, which is called `name` (empty for the root) and may have
    /// only the given keys.
    pub(super) fn new(
        entry: &'a Entry,
        name: String,
        keys: &'static [&'static str],
    ) -> Result<Self, ScenarioError> {
        let Value::Table(table) = &entry.value else {
            return Err(ScenarioError::BadValue {
                origin: entry.origin.clone(),
                key: name.clone(),
                value: entry.value.to_string(),
                expected: format!("a table [{name}] of keys"),
            });
        };
        let section = Self {
            name,
            origin: entry.origin.clone(),
            table: Some(table),
            keys,
            read: RefCell::default(),
        };
        match table.iter().find(|(key, _)| !keys.contains(&key.as_str())) {
            None => Ok(section),
            Some((key, entry)) => Err(ScenarioError::UnknownKey {
                origin: entry.origin.clone(),
                key: section.full(key),
                nearest: nearest(key, keys.iter().copied()),
            }),
        }
    }

    /// The table under `key`; an empty table if the key is missing.
    pub(super) fn below(
        &self,
        key: &'static str,
        keys: &'static [&'static str],
    ) -> Result<Self, ScenarioError> {
        match self.get(key) {
            Some(entry) => Section::new(entry, self.full(key), keys),
            None => Ok(Section {
                name: self.full(key),
                origin: self.origin.clone(),
                table: None,
                keys,
                read: RefCell::default(),
            }),
        }
    }

    /// Position at which the table begins.
    pub(super) fn origin(&self) -> &Origin {
        &self.origin
    }

    /// Whether the file has this table.
    pub(super) fn is_present(&self) -> bool {
        self.table.is_some()
    }

    /// Whether the table has the given key.
    pub(super) fn has(&self, key: &str) -> bool {
        self.table.is_some_and(|table| table.contains_key(key))
    }

    /// Returns the value of a key, and marks the key as read.
    pub(super) fn get(&self, key: &'static str) -> Option<&'a Entry> {
        debug_assert!(self.keys.contains(&key), "{key} is in the list of keys");
        self.read.borrow_mut().insert(key);
        self.table.and_then(|table| table.get(key))
    }

    fn full(&self, key: &str) -> String {
        if self.name.is_empty() {
            key.to_owned()
        } else {
            format!("{}.{key}", self.name)
        }
    }

    /// Error for a key whose value is missing or not as expected.
    pub(super) fn bad(&self, key: &'static str, expected: impl Into<String>) -> ScenarioError {
        match self.get(key) {
            Some(entry) => self.bad_entry(key, entry, expected),
            None => ScenarioError::Missing {
                origin: self.origin.clone(),
                key: self.full(key),
                expected: expected.into(),
            },
        }
    }

    /// Error for a value within a list that is not as expected.
    pub(super) fn bad_entry(
        &self,
        key: &str,
        entry: &Entry,
        expected: impl Into<String>,
    ) -> ScenarioError {
        ScenarioError::BadValue {
            origin: entry.origin.clone(),
            key: self.full(key),
            value: entry.value.to_string(),
            expected: expected.into(),
        }
    }

    /// Fails if the table has a key that was not read; `why` is the reason shown for it.
    pub(super) fn check_all_read(&self, why: &'static str) -> Result<(), ScenarioError> {
        let read = self.read.borrow();
        let unread = self
            .table
            .into_iter()
            .flatten()
            .find(|(key, _)| !read.contains(key.as_str()));
        match unread {
            None => Ok(()),
            Some((key, entry)) => Err(ScenarioError::NoEffect {
                origin: entry.origin.clone(),
                key: self.full(key),
                why,
            }),
        }
    }

    /// Reads a whole number between two bounds, inclusive.
    pub(super) fn whole<T: TryFrom<u64>>(
        &self,
        key: &'static str,
        min: u64,
        max: u64,
    ) -> Result<Option<T>, ScenarioError> {
        let Some(entry) = self.get(key) else {
            return Ok(None);
        };
        let value = match entry.value {
            Value::Integer(value) => u64::try_from(value).ok(),
            _ => None,
        };
        value
            .filter(|value| (min..=max).contains(value))
            .and_then(|value| T::try_from(value).ok())
            .map(Some)
            .ok_or_else(|| {
                self.bad_entry(key, entry, format!("a whole number from {min} to {max}"))
            })
    }

    /// Reads a number between two bounds, inclusive.
    pub(super) fn number(
        &self,
        key: &'static str,
        min: f64,
        max: f64,
    ) -> Result<Option<f64>, ScenarioError> {
        let Some(entry) = self.get(key) else {
            return Ok(None);
        };
        as_number(entry)
            .filter(|value| (min..=max).contains(value))
            .map(Some)
            .ok_or_else(|| self.bad_entry(key, entry, format!("a number from {min} to {max}")))
    }

    /// Reads a time in units of `unit_ns` nanoseconds; returns nanoseconds.
    pub(super) fn time(
        &self,
        key: &'static str,
        unit_ns: f64,
    ) -> Result<Option<u64>, ScenarioError> {
        let max = MAX_S * S / unit_ns;
        Ok(self.number(key, 0.0, max)?.map(|value| ns(value, unit_ns)))
    }

    pub(super) fn flag(&self, key: &'static str) -> Result<Option<bool>, ScenarioError> {
        match self.get(key).map(|entry| (entry, &entry.value)) {
            None => Ok(None),
            Some((_, Value::Bool(value))) => Ok(Some(*value)),
            Some((entry, _)) => Err(self.bad_entry(key, entry, "true or false")),
        }
    }

    pub(super) fn text(
        &self,
        key: &'static str,
        expected: &str,
    ) -> Result<Option<&'a str>, ScenarioError> {
        match self.get(key).map(|entry| (entry, &entry.value)) {
            None => Ok(None),
            Some((_, Value::Text(value))) => Ok(Some(value)),
            Some((entry, _)) => Err(self.bad_entry(key, entry, expected)),
        }
    }

    /// Reads one of several words, and returns its meaning.
    pub(super) fn word<T: Copy>(
        &self,
        key: &'static str,
        words: &[(&str, T)],
    ) -> Result<Option<T>, ScenarioError> {
        let Some(entry) = self.get(key) else {
            return Ok(None);
        };
        let known = match &entry.value {
            Value::Text(word) => words.iter().find(|(known, _)| known == word),
            _ => None,
        };
        known.map(|(_, value)| Some(*value)).ok_or_else(|| {
            let words: Vec<_> = words.iter().map(|(word, _)| format!("{word:?}")).collect();
            self.bad_entry(key, entry, format!("one of {}", words.join(", ")))
        })
    }

    /// Sets `target` to a whole number if the key is present.
    pub(super) fn set_whole<T: TryFrom<u64>>(
        &self,
        key: &'static str,
        target: &mut T,
        min: u64,
        max: u64,
    ) -> Result<(), ScenarioError> {
        self.whole(key, min, max).map(|value| put(target, value))
    }

    /// Sets `target` to a number if the key is present.
    pub(super) fn set_number(
        &self,
        key: &'static str,
        target: &mut f64,
    ) -> Result<(), ScenarioError> {
        const ANY: f64 = 1e15;
        self.number(key, -ANY, ANY).map(|value| put(target, value))
    }

    /// Sets `target` to a time in units of `unit_ns` nanoseconds if the key is present.
    pub(super) fn set_time(
        &self,
        key: &'static str,
        target: &mut Duration,
        unit_ns: f64,
    ) -> Result<(), ScenarioError> {
        let value = self.time(key, unit_ns)?.map(Duration::from_nanos);
        put(target, value);
        Ok(())
    }

    /// Sets `target` to a boolean if the key is present.
    pub(super) fn set_flag(
        &self,
        key: &'static str,
        target: &mut bool,
    ) -> Result<(), ScenarioError> {
        self.flag(key).map(|value| put(target, value))
    }
}

fn put<T>(target: &mut T, value: Option<T>) {
    if let Some(value) = value {
        *target = value;
    }
}

/// Returns a number, whole or not; `None` for a value of another type.
pub(super) fn as_number(entry: &Entry) -> Option<f64> {
    match entry.value {
        Value::Integer(value) => Some(value as f64),
        Value::Float(value) => Some(value),
        _ => None,
    }
}

/// Converts a time to nanoseconds; it must have been checked to be within bounds.
pub(super) fn ns(value: f64, unit_ns: f64) -> u64 {
    (value * unit_ns).round() as u64
}

/// Returns the candidate whose spelling is closest to `wanted`, if it is close enough to be meant: at
/// most a third of the letters differ (or two), or only the unit is left out.
pub(super) fn nearest<'a>(
    wanted: &str,
    candidates: impl Iterator<Item = &'a str>,
) -> Option<String> {
    let most = (wanted.chars().count() / 3).max(2);
    candidates
        .map(|candidate| {
            let slips = strsim::damerau_levenshtein(wanted, candidate);
            let without_unit = candidate
                .strip_prefix(wanted)
                .is_some_and(|rest| rest.starts_with('_'));
            (if without_unit { 1 } else { slips }, candidate)
        })
        .filter(|(distance, _)| *distance <= most)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate.to_owned())
}
