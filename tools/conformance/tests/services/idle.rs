//! Clients that were silent for a while are served at once.

use std::time::Duration;

use serde_json::json;

use crate::client::is_pushed;
use crate::test_network::{At, Sharding, TOPIC, TestNetwork};

/// Longer than servers wait for a request. The library opens the streams of its next requests in advance: a
/// server that half-closes such a stream, rather than resetting it, gets a request and gives no answer.
const SILENCE: Duration = Duration::from_secs(40);

#[tokio::test]
async fn every_service_answers_the_first_request_after_a_silence() {
    let stage = TestNetwork::start(Sharding::Automatic).await;
    let mut client = stage.client(At::Edge, "client").await;
    client.subscribe(TOPIC).await;
    for round in ["first", "second"] {
        tokio::time::sleep(SILENCE).await;
        let text = format!("relayed after the {round} silence");
        stage.publish(At::Far, TOPIC, &text).await;
        client.message("receive by filter", &text).await;
        let query = json!({"cmd": "query", "topics": [TOPIC], "forward": true});
        client.must("query", query).await;
        for is_legacy in [false, true] {
            let text = format!("pushed after the {round} silence, legacy {is_legacy}");
            let push =
                json!({"cmd": "lightpush", "topic": TOPIC, "text": text, "legacy": is_legacy});
            let result = client.must("lightpush", push).await;
            assert!(is_pushed(&result), "{round}, legacy {is_legacy}: {result}");
            client.message("receive what was pushed", &text).await;
        }
        let other = format!("/interop/1/{round}/proto");
        client.subscribe(&other).await;
    }
    assert_eq!(
        client.events("disconnected").len(),
        0,
        "the client was cut off"
    );
    client.quit().await;
}
