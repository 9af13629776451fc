//! A scenario as a short file: what differs from the one that it is based on.

use undertone_settings::{Origin, TomlEntry, TomlTable, TomlValue};
use undertone_sim::Scenario;

use super::document::Document;
use super::tables::write_scenario;
use super::{ScenarioError, read_document, set};

/// Text of a scenario file that describes `scenario` by what differs from the scenario `base`, which is named as for
/// [`load`](super::load).
///
/// # Errors
/// As [`load`](super::load) for the base.
pub fn based_on(
    base: &str,
    scenario: &Scenario,
    description: &str,
) -> Result<String, ScenarioError> {
    let document = Document::load(base)?;
    let below = write_scenario(&read_document(&document, &[], None)?.scenario, "");
    let above = write_scenario(scenario, description);
    let mut without = Vec::new();
    let mut table = TomlTable::new();
    if let (TomlValue::Table(below), TomlValue::Table(above)) = (below, above) {
        table = difference(below, above, "", &mut without);
    }
    table.insert("base".to_owned(), entry(TomlValue::Text(base.to_owned())));
    // The others are defaults of keys that the file has, and need not be taken away.
    without.retain(|path: &TomlEntry| {
        let path: Vec<&str> = path.as_text().unwrap_or_default().split('.').collect();
        set::remove(&mut document.root.clone(), &path).is_some()
    });
    if !without.is_empty() {
        table.insert("without".to_owned(), entry(TomlValue::List(without)));
    }
    Ok(toml_edit::ser::to_string_pretty(&TomlValue::Table(table)).expect("scenarios are TOML"))
}

/// What `above` has and `below` has not. The paths of what only `below` has go to `without`.
fn difference(
    below: TomlTable,
    mut above: TomlTable,
    path: &str,
    without: &mut Vec<TomlEntry>,
) -> TomlTable {
    for (key, old) in below {
        let path = format!("{path}{key}");
        match (old.value, above.remove(&key)) {
            (_, None) => without.push(entry(TomlValue::Text(path))),
            (
                TomlValue::Table(old),
                Some(TomlEntry {
                    value: TomlValue::Table(new),
                    ..
                }),
            ) => {
                let rest = difference(old, new, &format!("{path}."), without);
                if !rest.is_empty() {
                    above.insert(key, entry(TomlValue::Table(rest)));
                }
            }
            (old, Some(new)) => {
                if old.to_toml().to_string() != new.value.to_toml().to_string() {
                    above.insert(key, new);
                }
            }
        }
    }
    above
}

fn entry(value: TomlValue) -> TomlEntry {
    TomlEntry {
        value,
        origin: Origin::Set,
    }
}

#[cfg(test)]
mod tests {
    use super::super::{BUILT_IN, load, parse};
    use super::*;

    #[test]
    fn every_scenario_can_be_written_on_top_of_another() {
        for base in ["small", "attack-found-1"] {
            for scenario in BUILT_IN {
                let loaded = load(scenario.name, &[]).unwrap();
                let text = based_on(base, &loaded.scenario, &loaded.description).unwrap();
                let read = parse(&text, "test", scenario.name, None, &[]);
                let read = read.unwrap_or_else(|error| panic!("{error}\n{text}"));
                assert_eq!(read.resolved.hash, loaded.resolved.hash, "{text}");
            }
        }
    }
}
