//! Overrides from the command line: `network.one_way_ms=100`, `faults.0.at_s=30`.

use super::tree::{self, Entry, Table, Value};
use super::{Origin, ScenarioError};

/// Maximum depth of a key path; no scenario has a path half as deep.
const MAX_DEPTH: usize = 8;

/// Applies one override to the document. A whole number in the key path selects an item of a list.
pub(super) fn apply(root: &mut Entry, text: &str) -> Result<(), ScenarioError> {
    let malformed = || ScenarioError::Override {
        text: text.to_owned(),
    };
    let (key, value) = text.split_once('=').ok_or_else(malformed)?;
    let path: Vec<&str> = key.split('.').map(str::trim).collect();
    if path.len() > MAX_DEPTH || path.iter().any(|part| part.is_empty()) {
        return Err(malformed());
    }
    let mut at = root;
    for (depth, part) in path.iter().enumerate() {
        at = match &mut at.value {
            Value::Table(table) => table.entry((*part).to_owned()).or_insert_with(|| Entry {
                value: Value::Table(Table::new()),
                origin: Origin::Set,
            }),
            Value::List(items) => {
                let length = items.len();
                part.parse::<usize>()
                    .ok()
                    .and_then(|index| items.get_mut(index))
                    .ok_or_else(|| ScenarioError::BadValue {
                        origin: Origin::Set,
                        key: key.to_owned(),
                        value: (*part).to_owned(),
                        expected: format!("a position in a list of {length}, counted from 0"),
                    })?
            }
            other => {
                return Err(ScenarioError::BadValue {
                    origin: Origin::Set,
                    key: key.to_owned(),
                    value: value.trim().to_owned(),
                    expected: format!("no key below {}, which is {other}", path[..depth].join(".")),
                });
            }
        };
    }
    *at = tree::read_value(value.trim());
    Ok(())
}
