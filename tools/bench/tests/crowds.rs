//! A thousand honest clients at a time, each of which gets every message once.

use std::path::Path;
use std::process::Command;

use undertone_attacks::node;

fn complete(args: &[&str]) {
    let node = node::program(Path::new(env!("CARGO_BIN_EXE_bench")));
    assert!(
        node.exists(),
        "{} is missing: build it with `cargo build --package undertone`, or run `cargo xtask test --only hostile`",
        node.display()
    );
    let output = Command::new(env!("CARGO_BIN_EXE_bench"))
        .arg("serving")
        .args(args)
        .arg("--node")
        .arg(node)
        .output()
        .expect("the benchmark was built with the tests");
    let text = String::from_utf8_lossy(&output.stdout);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{text}{errors}");
}

#[test]
fn a_thousand_filter_clients_get_every_message() {
    complete(&["filter", "--messages", "5"]);
}

#[test]
fn a_thousand_event_streams_bring_every_message_once_and_a_hundred_go_on_where_they_were() {
    complete(&["events", "--messages", "12"]);
}

#[test]
fn lightpush_publishes_with_and_without_proofs() {
    complete(&["lightpush", "--messages", "5"]);
    complete(&["lightpush", "--rln", "--messages", "3"]);
}
