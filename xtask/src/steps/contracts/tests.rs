use std::{env, process};

use super::*;

#[test]
fn packages_are_installed_again_when_the_lock_file_changes() {
    let folder = env::temp_dir().join(format!("undertone-xtask-{}", process::id()));
    fs::create_dir_all(folder.join("node_modules")).unwrap();
    fs::write(folder.join(LOCK), "one").unwrap();
    assert!(!is_installed(&folder).unwrap());
    fs::copy(folder.join(LOCK), folder.join(STAMP)).unwrap();
    assert!(is_installed(&folder).unwrap());
    fs::write(folder.join(LOCK), "two").unwrap();
    assert!(!is_installed(&folder).unwrap());
    fs::remove_dir_all(folder).unwrap();
}

#[test]
fn a_program_that_fails_fails_the_step() {
    let folder = env::temp_dir();
    assert_eq!(program("rustc", &["--version"], &folder), Outcome::Passed);
    let failed = program("rustc", &["--no-such-flag"], &folder);
    assert!(matches!(failed, Outcome::Failed(_)), "{failed:?}");
}
