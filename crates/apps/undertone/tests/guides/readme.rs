//! The shell lines of the README, run as they stand but for the ports and the place.

use std::path::Path;
use std::process::Command;

use crate::with_free_ports;

const README: &str = include_str!("../../../../../README.md");

/// The code block that follows a marker.
fn block(marker: &str) -> &'static str {
    let (_, after) = README
        .split_once(marker)
        .expect("the README has the marker");
    let (_, code) = after.split_once("```sh\n").expect("a code block follows");
    code.split_once("\n```").expect("which ends").0
}

#[test]
#[ignore = "needs curl; cargo xtask test --only unit"]
fn two_nodes_exchange_a_message_by_rest() {
    let folder = tempfile::tempdir().unwrap();
    let binary = Path::new(env!("CARGO_BIN_EXE_undertone"));
    let path = std::env::var("PATH").unwrap_or_default();
    let script = format!(
        "set -eu\ntrap 'kill $(jobs -p); wait' EXIT\n{}\n",
        with_free_ports(
            block("<!-- test: two nodes -->"),
            &["60000", "60001", "8645", "8646"]
        )
    );
    let output = Command::new("timeout")
        .args(["120", "bash", "-c", &script])
        .current_dir(folder.path())
        .env(
            "PATH",
            format!("{}:{path}", binary.parent().unwrap().display()),
        )
        .output()
        .unwrap();
    let stdout = String::from_utf8_lossy(&output.stdout);
    let stderr = String::from_utf8_lossy(&output.stderr);
    let last = stdout.lines().last().unwrap_or_default();
    assert!(
        last.contains(r#""payload":"aGVsbG8gQm9i""#) && last.contains("/my-app/1/chat/proto"),
        "Bob did not get the message.\nstdout:\n{stdout}\nstderr:\n{stderr}"
    );
}
