//! Tests of the driver with a shell as the peer, so that its input and output are visible in the test.

use super::{PeerCommand, PeerError, PeerProcess};

const READY: &str = r#"echo '{"event":"ready","peer":"P","addrs":["/a","/b"]}'"#;

fn shell(script: &str) -> PeerCommand {
    PeerCommand::new("shell", "sh").arg("-c").arg(script)
}

async fn ready_then(script: &str) -> PeerProcess {
    PeerProcess::spawn(&shell(&format!("{READY}\n{script}")))
        .await
        .unwrap()
}

#[test]
fn a_command_line_is_split_at_white_space() {
    let expected = PeerCommand::new("x", "peer").option("d", 6).arg("--flag");
    assert_eq!(
        PeerCommand::parse("x", " peer  --d 6 --flag"),
        Some(expected)
    );
    assert_eq!(PeerCommand::parse("x", "  "), None);
}

#[tokio::test]
async fn replies_find_those_who_asked_in_any_order() {
    let mut peer = ready_then(
        r#"
        read first; read second
        echo '{"ref":1,"ok":{"peers":["B"]}}'
        echo '{"event":"message","topic":"t","id":"1","from":"B","seq":4,"latency_ns":5,"bytes":6,"head":""}'
        echo '{"ref":0,"error":"no route"}'
        read last"#,
    )
    .await;
    assert_eq!((peer.peer_id(), peer.addr()), ("P", "/a"));

    let connect = crate::protocol::Command::Connect {
        addr: "/a".to_owned(),
    };
    let first = peer.send("connect", connect).await.unwrap();
    assert_eq!(peer.mesh("t").await.unwrap(), ["B"]);
    let refused = peer.reply::<serde_json::Value>(first).await.unwrap_err();
    assert_eq!(refused.to_string(), "shell refused connect: no route");
    assert_eq!(peer.next_message().await.unwrap().seq, Some(4));
    assert!(peer.try_message().is_none());
}

#[tokio::test]
async fn waiting_for_a_mesh_asks_until_it_is_there() {
    let mut peer = ready_then(
        r#"
        read line; echo '{"ref":0,"ok":{"peers":[]}}'
        read line; echo '{"ref":1,"ok":{"peers":["B"]}}'
        read line; echo '{"ref":2,"ok":{}}'"#,
    )
    .await;
    peer.wait_mesh("t", 1).await.unwrap();
    peer.quit().await.unwrap();
}

#[tokio::test]
async fn the_last_words_of_a_peer_that_dies_are_shown() {
    let mut peer = ready_then("read line; echo out of luck >&2; exit 7").await;
    let error = peer.stat().await.unwrap_err();
    assert!(matches!(error, PeerError::Gone { .. }), "{error}");
    let text = error.to_string();
    assert!(
        text.contains("out of luck") && text.contains('7') && text.contains("stat"),
        "{text}"
    );
}

#[tokio::test]
async fn a_peer_that_never_gets_ready_is_an_error() {
    let error = PeerProcess::spawn(&shell("echo bad option >&2; exit 2"))
        .await
        .unwrap_err();
    assert!(error.to_string().contains("bad option"), "{error}");

    let missing = PeerCommand::new("none", "no-such-program");
    let error = PeerProcess::spawn(&missing).await.unwrap_err();
    assert!(matches!(error, PeerError::Start { .. }), "{error}");
}

#[tokio::test]
async fn a_line_outside_the_protocol_is_shown() {
    let mut peer = ready_then("read line; echo hello; read line").await;
    let error = peer.stat().await.unwrap_err();
    assert_eq!(error.to_string(), "shell broke the line protocol: hello");

    let mut peer = ready_then(r#"read line; echo '{"ref":0,"ok":{"cpu":1}}'; read line"#).await;
    let error = peer.stat().await.unwrap_err();
    assert!(matches!(error, PeerError::Protocol { .. }), "{error}");
}

#[tokio::test]
async fn a_failing_exit_after_quit_is_an_error() {
    let peer = ready_then(r#"read line; echo '{"ref":0,"ok":{}}'; exit 1"#).await;
    assert!(matches!(peer.quit().await, Err(PeerError::Gone { .. })));
}
