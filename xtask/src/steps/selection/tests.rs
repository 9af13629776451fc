use std::path::PathBuf;

use super::*;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

#[test]
fn every_integration_test_is_in_a_step() {
    let unit = unit(&root()).unwrap();
    assert!(unit.contains(&"--test=it".to_owned()), "{unit:?}");
    assert!(unit.contains(&"--test=guides".to_owned()), "{unit:?}");
    let others: Vec<_> = OWN_STEP
        .iter()
        .flat_map(|package| integration_tests(&root().join(package).join("tests")).unwrap())
        .collect();
    let mut known: Vec<_> = [
        super::super::contracts::CONTRACT,
        &super::super::TESTBED,
        &super::super::INTEROP,
        &super::super::SERVICES,
        &super::super::ARCHIVE,
        &super::super::BINDINGS,
        &super::super::HOSTILE,
    ]
    .concat();
    known.sort_unstable();
    let mut found: Vec<_> = others.iter().map(String::as_str).collect();
    found.sort_unstable();
    assert_eq!(found, known, "tests with a step of their own");
    for name in found {
        let twice = format!("--test={name}");
        assert!(!unit.contains(&twice), "{name} is the name of two tests");
    }
}

#[test]
fn a_folder_of_other_files_is_no_test() {
    let tests = integration_tests(&root().join("crates/node/tests")).unwrap();
    assert!(tests.contains(&"it".to_owned()));
    assert!(!tests.contains(&"browser".to_owned()), "that is for npm");
}

#[test]
fn only_a_build_that_is_not_repeated_has_a_package_of_one_unit() {
    assert_eq!(units(Some("0")).count(), 2);
    assert_eq!(units(Some("1")).count(), 0);
    assert_eq!(units(None).count(), 0);
}
