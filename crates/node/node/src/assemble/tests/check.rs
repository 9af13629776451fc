use std::path::Path;

use super::*;
use crate::config::Sources;

/// Result of the check with these flags, in which `FOLDER` stands for the folder.
fn checked(folder: &Path, flags: &[(&str, &str)]) -> Result<(), String> {
    let shown = folder.display().to_string();
    let common = [
        ("data-dir", "FOLDER/data"),
        ("rest-port", "0"),
        ("tcp-port", "0"),
    ];
    let flags = common.iter().chain(flags);
    let flags = flags.map(|(name, value)| ((*name).to_owned(), value.replace("FOLDER", &shown)));
    let sources = Sources {
        flags: flags.collect(),
        ..Sources::default()
    };
    let config = NodeConfig::load(&sources).expect("the test's flags are valid");
    check(&config).map_err(|error| error.to_string())
}

#[test]
fn files_that_are_only_read_are_there_and_whole() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("damaged"), "no such thing").unwrap();
    let missing = "FOLDER/missing";
    let damaged = "FOLDER/damaged";
    let tls = ("websocket-secure-support", "true");
    let (chain, key) = ("websocket-secure-cert-path", "websocket-secure-key-path");
    let cases: &[(&str, &[(&str, &str)])] = &[
        ("node-key-file", &[("node-key-file", missing)]),
        ("node key", &[("node-key-file", damaged)]),
        ("node key", &[("node-key-file", "/dev/zero")]),
        ("rln-identity-file", &[("rln-identity-file", missing)]),
        ("identity", &[("rln-identity-file", damaged)]),
        (chain, &[tls, (chain, missing), (key, missing)]),
        (chain, &[tls, (chain, damaged), (key, damaged)]),
    ];
    for (subject, flags) in cases {
        let error = checked(folder.path(), flags).expect_err(subject);
        assert!(error.contains(subject), "{flags:?}: {error}");
    }
    let error = checked(folder.path(), &[("node-key-file", missing)]).unwrap_err();
    assert!(error.contains("the node then makes node-key"), "{error}");
}

#[test]
fn what_a_start_makes_itself_need_not_be_there_and_is_not_made() {
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(checked(folder.path(), &[]), Ok(()));
    assert!(!folder.path().join("data").exists());
}
