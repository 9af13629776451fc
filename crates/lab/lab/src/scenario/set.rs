//! Overrides from the command line: `network.one_way_ms=100`, `faults.0.at_s=30`, or `network.loss=` without a value,
//! which removes the key.

use undertone_settings::{Error, Origin, TomlEntry, TomlTable, TomlValue};

use super::error::ScenarioError;

/// Maximum depth of a key path; no scenario has a path half as deep.
const MAX_DEPTH: usize = 8;

/// Applies one override to the document. A whole number in the key path selects an item of a list.
pub(super) fn apply(root: &mut TomlEntry, text: &str) -> Result<(), ScenarioError> {
    let malformed = || ScenarioError::Override {
        text: text.to_owned(),
    };
    let (key, value) = text.split_once('=').ok_or_else(malformed)?;
    let path: Vec<&str> = key.split('.').map(str::trim).collect();
    if path.len() > MAX_DEPTH || path.iter().any(|part| part.is_empty()) {
        return Err(malformed());
    }
    let bad = |value: &str, expected| Error::BadValue {
        origin: Origin::Set,
        key: key.to_owned(),
        value: value.to_owned(),
        expected,
    };
    if value.trim().is_empty() {
        let expected = "a key that is set, to take it away";
        let is_taken = remove(root, &path);
        return is_taken.ok_or_else(|| bad("", expected.to_owned()).into());
    }
    let mut at = root;
    for (depth, part) in path.iter().enumerate() {
        at = match &mut at.value {
            TomlValue::Table(table) => {
                table
                    .entry((*part).to_owned())
                    .or_insert_with(|| TomlEntry {
                        value: TomlValue::Table(TomlTable::new()),
                        origin: Origin::Set,
                    })
            }
            TomlValue::List(items) => {
                let expected = format!("a position in a list of {}, counted from 0", items.len());
                let index = part.parse::<usize>().ok();
                index
                    .and_then(|index| items.get_mut(index))
                    .ok_or_else(|| bad(part, expected))?
            }
            other => {
                let above = path[..depth].join(".");
                let expected = format!("no key below {above}, which is {other}");
                return Err(bad(value.trim(), expected).into());
            }
        };
    }
    *at = TomlEntry::read_value(value.trim(), &Origin::Set);
    Ok(())
}

/// Removes a key from a table, or an item from a list; `None` if it is not there.
pub(super) fn remove(root: &mut TomlEntry, path: &[&str]) -> Option<()> {
    let (last, above) = path.split_last()?;
    let table = above
        .iter()
        .try_fold(root, |at, part| match &mut at.value {
            TomlValue::Table(table) => table.get_mut(*part),
            TomlValue::List(items) => items.get_mut(part.parse::<usize>().ok()?),
            _ => None,
        })?;
    match &mut table.value {
        TomlValue::Table(table) => table.remove(*last).map(|_| ()),
        TomlValue::List(items) => {
            let at = last.parse::<usize>().ok()?;
            (at < items.len()).then(|| items.remove(at)).map(|_| ())
        }
        _ => None,
    }
}
