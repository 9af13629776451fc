//! The first steps of a new user in docs/use/operating.md, run as they stand but for the ports, with the time that each takes.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::with_free_ports;

const PAGE: &str = include_str!("../../../../../docs/use/operating.md");

/// Variable with the path of another program to be timed, such as an optimised one.
const PROGRAM: &str = "UNDERTONE_STEPS_PROGRAM";

/// Ports in the document.
const PORTS: [&str; 7] = ["8545", "60000", "60001", "8645", "8646", "9000", "9001"];

/// The code block that follows the marker.
fn block() -> &'static str {
    let (_, after) = PAGE.split_once("<!-- test: first steps -->").unwrap();
    let (_, code) = after.split_once("```sh\n").unwrap();
    code.split_once("\n```").unwrap().0
}

/// Makes of each comment a line of the table of times, printed when the next one begins.
fn timed(script: &str) -> String {
    let mut timed = String::from(
        "set -eu\ntrap 'kill $(jobs -p) 2>/dev/null; wait' EXIT\n\
         step() { now=$(date +%s%N); [ -z \"${what-}\" ] || \
         printf '\n| %s | %d.%02d |\\n' \"$what\" $(((now - since) / 1000000000)) \
         $(((now - since) / 10000000 % 100)); what=$1 since=$(date +%s%N); }\n",
    );
    for line in script.lines() {
        match line.strip_prefix("# ") {
            Some(comment) => timed.push_str(&format!("step '{}'\n", comment.replace('\'', ""))),
            None => timed.push_str(&format!("{line}\n")),
        }
    }
    timed.push_str("step end\n");
    timed
}

/// Folders of the program and of anvil, before those where the system looks.
fn path() -> String {
    let program = env::var_os(PROGRAM).map_or_else(
        || PathBuf::from(env!("CARGO_BIN_EXE_undertone")),
        PathBuf::from,
    );
    let anvil = env::var_os("UNDERTONE_ANVIL").map(PathBuf::from);
    let anvil = anvil.as_deref().and_then(Path::parent).map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../contracts/node_modules/.bin"),
        Path::to_owned,
    );
    let system = env::var("PATH").unwrap_or_default();
    format!(
        "{}:{}:{system}",
        program.parent().unwrap().display(),
        anvil.display()
    )
}

#[test]
#[ignore = "needs anvil; cargo xtask test --only contracts"]
fn a_new_user_comes_from_nothing_to_a_published_message() {
    let folder = tempfile::tempdir().unwrap();
    let script = timed(&with_free_ports(block(), &PORTS));
    let output = Command::new("timeout")
        .args(["120", "bash", "-c", &script])
        .current_dir(folder.path())
        .env("PATH", path())
        .env_remove("UNDERTONE_LOG")
        .output()
        .unwrap();
    let printed = String::from_utf8_lossy(&output.stdout);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{printed}\n{said}");
    // What the other node got, and the page.
    assert!(
        printed.contains(r#""payload":"aGVsbG8=""#),
        "{printed}\n{said}"
    );
    assert!(printed.contains("<title>"), "{printed}\n{said}");
    let times = printed.lines().filter(|line| line.starts_with("| "));
    println!("| step | s |\n| --- | ---: |");
    times.for_each(|line| println!("{line}"));
}
