//! The discovery of light clients asks the node for peers, and can read what it answers.

use crate::stage::{At, Sharding, Stage};

#[tokio::test]
async fn peer_exchange_is_answered() {
    let stage = Stage::start(Sharding::Automatic).await;
    let command = stage.client_of(At::Edge, "client").arg("--peer-exchange");
    let client = stage.start_client(&command).await;
    let is_it = |event: &serde_json::Value| event["kind"] == "peer-exchange";
    let answer = client.event("ask for peers", "answer", is_it).await;
    assert!(
        answer["records"].is_array(),
        "the answer has no response: {answer}"
    );
    client.quit().await;
}
