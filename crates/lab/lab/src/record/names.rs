//! Names for files and fragment identifiers, derived from the ids of records.

use std::collections::BTreeSet;

use super::ExperimentRecord;

/// Length to which ids are shortened, characters.
const MAX_CHARS: usize = 80;

/// A unique name for each record: its id, reduced to letters, digits and dashes.
pub fn names(records: &[ExperimentRecord]) -> Vec<String> {
    let mut taken = BTreeSet::new();
    let name = |record: &ExperimentRecord| {
        let letters = record.id.chars().take(MAX_CHARS);
        let base: String = letters
            .map(|c| match c.is_ascii_alphanumeric() {
                true => c.to_ascii_lowercase(),
                false => '-',
            })
            .collect();
        let mut name = base.clone();
        let mut number = 2;
        while !taken.insert(name.clone()) {
            name = format!("{base}-{number}");
            number += 1;
        }
        name
    };
    records.iter().map(name).collect()
}
