//! Several processes on one registry file.

#![allow(clippy::unwrap_used, reason = "a failed step is a failed test")]

use std::collections::BTreeSet;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use undertone_membership::{MembershipLog, MembershipView, SqliteRegistry, Version};
use undertone_rln::Fr;

/// Set for the child only: the registry file and the child's number.
const PATH: &str = "UNDERTONE_REGISTRY_PATH";
const NUMBER: &str = "UNDERTONE_REGISTRY_CHILD";

const CHILDREN: u64 = 3;
const EACH: u64 = 15;

/// Not a test of its own: what each process of the test below does.
#[test]
#[ignore = "child process of processes_never_share_an_index, a test of cargo xtask test --only unit"]
fn child_registers() {
    let path = std::env::var_os(PATH).expect("started by processes_never_share_an_index");
    let number: u64 = std::env::var(NUMBER).unwrap().parse().unwrap();
    let registry = SqliteRegistry::open(path).unwrap();
    for commitment in 1 + number * EACH..=(number + 1) * EACH {
        let index = registry.register(Fr::from(commitment), 5).unwrap();
        println!("index {index} end");
    }
}

#[test]
fn processes_never_share_an_index() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("members.sqlite");
    // No registry yet: the children race for its creation too.
    let children: Vec<Child> = (0..CHILDREN).map(|number| start(&path, number)).collect();
    let mut indices = Vec::new();
    for child in children {
        let output = child.wait_with_output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(output.status.success(), "{text}");
        indices.extend(text.lines().filter_map(parse));
    }
    let distinct = BTreeSet::from_iter(&indices);
    assert_eq!(distinct.len() as u64, CHILDREN * EACH, "{indices:?}");

    let registry = SqliteRegistry::open(&path).unwrap();
    assert_eq!(registry.version().unwrap(), Version(CHILDREN * EACH));
    let mut view = MembershipView::new(50);
    view.refresh(&registry).unwrap();
    assert_eq!(view.tree().root(), registry.tree().unwrap().root());
}

fn start(path: &Path, number: u64) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args([
            "--ignored",
            "--exact",
            "processes::child_registers",
            "--nocapture",
        ])
        .env(PATH, path)
        .env(NUMBER, number.to_string())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap()
}

fn parse(line: &str) -> Option<u32> {
    line.rsplit_once("index ")?
        .1
        .strip_suffix(" end")?
        .parse()
        .ok()
}
