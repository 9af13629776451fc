//! Tests of the table of flags against the recorded list.

use std::collections::BTreeSet;

use undertone_node::config::{KEYS, Sources, explain};

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
fn the_page_of_defaults_has_ours_as_they_are_and_names_flags_that_mean_the_same() {
    const PAGE: &str = include_str!("../../../../../docs/use/defaults.md");
    let ours = explain(&Sources::default()).unwrap();
    let rows = PAGE.lines().filter(|line| line.starts_with("| `"));
    let mut found = 0;
    for row in rows {
        let cells: Vec<_> = row
            .split('|')
            .map(|cell| cell.trim().trim_matches('`'))
            .collect();
        let [_, key, here, flag, there, ..] = cells[..] else {
            panic!("{row}");
        };
        let explained = ours.iter().find(|explained| explained.key == key);
        let explained = explained.unwrap_or_else(|| panic!("no key {key}"));
        assert_eq!(explained.value, here, "{key}");
        assert_ne!(here, there, "{key} does not differ");
        match by_name(flag)
            .unwrap_or_else(|| panic!("no flag {flag}"))
            .fate
        {
            Key(same, _) => assert_eq!(same, key),
            Used(_) | Not(_) | None_(_) => {}
        }
        found += 1;
    }
    assert!(found > 20, "{found}");
}

#[test]
fn a_flag_is_explained_by_what_it_is_here() {
    let told = |name| explain_flag(name).unwrap();
    assert_eq!(
        told("relay-peer-exchange"),
        "--relay-peer-exchange of the reference node is --gossip-peer-exchange here"
    );
    assert!(told("nodekey").contains("node-key-file"));
    assert!(told("keep-alive").contains("is not needed here"));
    assert!(told("mix").contains("has no counterpart here"));
    assert_eq!(explain_flag("colour"), None);
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
