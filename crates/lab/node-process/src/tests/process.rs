//! Tests with a shell as the node, so that its output and its end are visible in the test.

use super::*;

const HANG: Duration = Duration::from_secs(60);

const READY: &str = r#"echo '{"peerId":"P","listenAddresses":["/a"],"rest":"http://127.0.0.1:7"}'"#;

fn shell(script: &str) -> (tempfile::TempDir, Result<(NodeProcess, Ready), StartError>) {
    let folder = tempfile::tempdir().unwrap();
    let mut sh = command("sh");
    let started = NodeProcess::start(sh.arg("-c").arg(script), &folder.path().join("log"), HANG);
    (folder, started)
}

#[test]
fn a_node_is_ready_logs_and_ends_by_a_signal() {
    let (_folder, started) = shell(&format!("{READY}; echo said >&2; exec sleep 600"));
    let (mut node, ready) = started.unwrap();
    let expected = Ready {
        peer_id: "P".to_owned(),
        listen_addresses: vec!["/a".to_owned()],
        rest: "127.0.0.1:7".parse().unwrap(),
    };
    assert_eq!(ready, expected);
    wait_for(HANG, || node.log().contains("said").then_some(())).unwrap();
    assert_eq!(node.status(), None);
    node.signal(Signal::TERM);
    assert!(!node.wait_for_end(HANG).unwrap().success());
}

#[test]
fn the_last_words_of_a_node_that_does_not_start_are_shown() {
    let (_folder, started) = shell("for n in $(seq 50); do echo line $n >&2; done; exit 1");
    let said = started.unwrap_err().to_string();
    assert!(said.ends_with("line 49\nline 50"), "{said}");
    assert!(!said.contains("line 10\n"), "{said}");
}

#[test]
fn what_a_node_prints_after_it_is_ready_does_not_hold_it_up() {
    let (_folder, started) = shell(&format!("{READY}; seq 100000; exit 3"));
    let (mut node, _) = started.unwrap();
    assert_eq!(node.wait_for_end(HANG).unwrap().code(), Some(3));
}

#[test]
fn a_program_that_is_missing_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let started = NodeProcess::start(
        &mut command("/nowhere/undertone"),
        &folder.path().join("log"),
        HANG,
    );
    let said = started.unwrap_err().to_string();
    assert!(said.contains("/nowhere/undertone"), "{said}");
}
