use std::env;
use std::fs;
use std::process::Command;

use super::*;

#[test]
fn a_program_is_found_by_any_of_its_names() {
    let folders = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
    let path = env::join_paths(folders.iter().map(tempfile::TempDir::path)).unwrap();
    let names = ["one", "other"];
    assert_eq!(find(&names, &path), None);
    let program = folders[1].path().join("other");
    fs::create_dir(folders[0].path().join("other")).unwrap();
    fs::write(&program, "").unwrap();
    assert_eq!(find(&names, &path), Some(program));
}

#[test]
fn packages_are_installed_again_when_the_lock_file_has_changed() {
    let folder = tempfile::tempdir().unwrap();
    let at = |seconds| SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(seconds);
    let write = |name: &str, seconds| {
        let file = fs::File::create(folder.path().join(name)).unwrap();
        file.set_modified(at(seconds)).unwrap();
    };
    write("package-lock.json", 10);
    assert!(!is_installed(folder.path()));
    fs::create_dir(folder.path().join("node_modules")).unwrap();
    write("node_modules/.package-lock.json", 11);
    assert!(is_installed(folder.path()));
    write("package-lock.json", 12);
    assert!(!is_installed(folder.path()));
}

#[test]
fn a_check_that_fails_says_which() {
    let failed = ended("false", Command::new("false").status());
    assert!(matches!(&failed, Outcome::Failed(reason) if reason.starts_with("false: ")));
    let missing = ended("x", Command::new("no-such-program").status());
    assert!(matches!(&missing, Outcome::Failed(reason) if reason.starts_with("cannot run x")));
}
