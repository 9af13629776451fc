use std::path::Path;

use super::*;

#[test]
fn a_program_that_is_not_there_is_a_reason_with_a_remedy() {
    assert_eq!(
        version_of("no-such-npm"),
        Err("no-such-npm not found: install it".to_owned())
    );
    assert_eq!(version_of("rustc"), Ok(()));
}

#[test]
fn cargo_failing_and_cargo_succeeding_differ() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    assert_eq!(cargo(root, &["--version"], &[]), Outcome::Passed);
    let failed = cargo(root, &["no-such-command"], &[]);
    assert!(
        matches!(&failed, Outcome::Failed(reason) if reason.contains("101")),
        "{failed:?}"
    );
}

#[test]
fn only_the_description_of_a_package_is_withheld_from_cargo() {
    assert!(describes_a_package("CARGO_PKG_NAME"));
    assert!(describes_a_package("CARGO_MANIFEST_DIR"));
    assert!(!describes_a_package("CARGO_TARGET_DIR"));
    assert!(!describes_a_package("CARGO_HOME"));
}
