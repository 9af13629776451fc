use serde_json::{Map, Value, json};

use super::*;
use crate::rest::fake::{Fake, FakeNode};

const ALL: MountedServices = MountedServices {
    store: true,
    filter: true,
    lightpush: true,
    peer_exchange: true,
};

async fn protocols(mounted: MountedServices, node: FakeNode) -> Map<String, Value> {
    let fake = Fake::with_node(mounted, node, |call| panic!("{call:?}"));
    let (status, body) = fake.get("/health").await;
    assert_eq!(status, 200);
    let entries = body["protocolsHealth"].as_array().unwrap();
    let mut all = Map::new();
    for entry in entries {
        for (name, value) in entry.as_object().unwrap() {
            let is_new = name == "desc" || all.insert(name.clone(), value.clone()).is_none();
            assert!(is_new, "{name} once: {entries:?}");
        }
    }
    all
}

#[tokio::test]
async fn services_are_reported_as_they_are_mounted() {
    let ready = FakeNode {
        is_relay_ready: true,
        ..FakeNode::default()
    };
    let with = protocols(ALL, ready.clone()).await;
    let without = protocols(MountedServices::default(), ready).await;
    for service in [
        "Store",
        "Filter",
        "Lightpush",
        "Legacy Lightpush",
        "Peer Exchange",
    ] {
        assert_eq!(with[service], "READY", "{service}");
        assert_eq!(without[service], "NOT_MOUNTED", "{service}");
    }
    assert_eq!(with["Mix"], "NOT_MOUNTED", "others stay");
    assert_eq!(with["Store Client"], "READY", "it has a store of its own");
    assert_eq!(without["Store Client"], "NOT_READY");
}

#[tokio::test]
async fn services_that_relay_need_relay_peers() {
    let alone = protocols(ALL, FakeNode::default()).await;
    for service in ["Filter", "Lightpush", "Legacy Lightpush"] {
        assert_eq!(alone[service], "NOT_READY", "{service}");
    }
    assert_eq!(alone["Store"], "READY");
}

#[tokio::test]
async fn clients_need_a_connected_peer_with_the_service() {
    let mut peer = PeerSnapshot {
        protocols: vec![STORE.into(), FILTER_SUBSCRIBE.into()],
        ..crate::rest::fake::peer()
    };
    for (connected, expected) in [
        (Connectedness::Connected, "READY"),
        (Connectedness::CanConnect, "NOT_READY"),
    ] {
        peer.connected = connected;
        let node = FakeNode {
            peers: vec![peer.clone()],
            ..FakeNode::default()
        };
        let all = protocols(MountedServices::default(), node).await;
        let of = |name: &str| all[name].clone();
        assert_eq!(
            json!([
                of("Store Client"),
                of("Filter Client"),
                of("Lightpush Client")
            ]),
            json!([expected, expected, "NOT_READY"])
        );
    }
}
