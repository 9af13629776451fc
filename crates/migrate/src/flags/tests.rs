//! Tests of the table of flags against the recorded list.

use std::collections::BTreeSet;

use undertone_node::config::KEYS;

use super::*;

const RECORDED: &str = include_str!("../../tests/flags.txt");

fn recorded() -> BTreeSet<&'static str> {
    let lines = RECORDED.lines().filter(|line| !line.starts_with('#'));
    lines
        .filter_map(|line| line.split_whitespace().next())
        .collect()
}

#[test]
fn the_table_has_every_recorded_flag_once_and_no_other() {
    let names: Vec<_> = FLAGS.iter().map(|flag| flag.name).collect();
    let unique: BTreeSet<_> = names.iter().copied().collect();
    assert_eq!(unique.len(), names.len());
    assert_eq!(unique, recorded());
    assert!(unique.len() > 100);
}

#[test]
fn every_key_of_the_table_is_one_of_ours() {
    for flag in FLAGS {
        if let Key(key, _) = flag.fate {
            assert!(KEYS.iter().any(|known| known.name == key), "{key}");
        }
    }
}

#[test]
fn lists_of_special_flags_name_flags_of_the_table() {
    for name in BOOLS.iter().chain(SECRETS) {
        assert!(by_name(name).is_some(), "{name}");
    }
}
