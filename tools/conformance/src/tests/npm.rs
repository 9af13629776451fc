use std::fs;
use std::path::Path;

use super::{NpmError, ensure_with};

/// Fake npm, checked in rather than written by the test: running a file that was just written can fail
/// with "text file busy" while another test forks.
const FAKE_NPM: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/src/npm/fake-npm.sh");

/// Folder with a lock file, in which the fake npm records each call and then runs `plan`.
fn folder(plan: &str) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("package-lock.json"), "{}").unwrap();
    fs::write(dir.path().join("plan.sh"), plan).unwrap();
    dir
}

fn calls(dir: &Path) -> usize {
    fs::read_to_string(dir.join("calls")).map_or(0, |text| text.lines().count())
}

#[test]
fn installs_once_and_again_when_the_lock_file_changes() {
    let dir = folder("mkdir -p node_modules");
    ensure_with(FAKE_NPM, dir.path()).unwrap();
    ensure_with(FAKE_NPM, dir.path()).unwrap();
    assert_eq!(calls(dir.path()), 1);
    let noted = fs::read_to_string(dir.path().join("calls")).unwrap();
    assert!(noted.starts_with("ci "), "{noted}");

    fs::write(dir.path().join("package-lock.json"), "{ }").unwrap();
    ensure_with(FAKE_NPM, dir.path()).unwrap();
    assert_eq!(calls(dir.path()), 2);

    fs::remove_dir_all(dir.path().join("node_modules")).unwrap();
    ensure_with(FAKE_NPM, dir.path()).unwrap();
    assert_eq!(calls(dir.path()), 3);
}

#[test]
fn what_npm_says_is_passed_on() {
    let dir = folder("echo the lock file is out of date >&2; exit 3");
    let error = ensure_with(FAKE_NPM, dir.path()).unwrap_err();
    assert!(matches!(&error, NpmError::Failed { status, .. } if status.code() == Some(3)));
    assert!(
        error.to_string().contains("the lock file is out of date"),
        "{error}"
    );
}

#[test]
fn a_machine_without_npm_is_told_what_to_do() {
    let dir = folder("true");
    let error = ensure_with("no-such-npm", dir.path()).unwrap_err();
    assert!(matches!(error, NpmError::NoNpm { .. }));
    assert!(error.to_string().contains("install Node.js"), "{error}");
}

#[test]
fn a_folder_without_a_lock_file_is_named() {
    let dir = tempfile::tempdir().unwrap();
    let error = ensure_with("npm", dir.path()).unwrap_err();
    assert!(error.to_string().contains("package-lock.json"), "{error}");
}
