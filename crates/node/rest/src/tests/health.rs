use serde_json::{Map, Value, json};

use super::*;
use crate::fake::{Fake, FakeNode};
use undertone_network::command::{
    EpochAllowance, JobSizes, MembershipSnapshot, ProofTotals, VerifierSnapshot,
};

const ALL: MountedServices = MountedServices {
    store: true,
    filter: true,
    lightpush: true,
    lightpush_proofs: true,
    peer_exchange: true,
    rendezvous: true,
};

async fn health(mounted: MountedServices, node: FakeNode) -> Value {
    let fake = Fake::with_node(mounted, node, |call| panic!("{call:?}"));
    let (status, body) = fake.get("/health").await;
    assert_eq!(status, 200);
    body
}

async fn protocols(mounted: MountedServices, node: FakeNode) -> Map<String, Value> {
    let body = health(mounted, node).await;
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
        "Rendezvous",
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
        ..crate::fake::peer()
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

#[tokio::test]
async fn a_node_without_relay_is_judged_by_its_service_peers() {
    let offering = |protocols: &[&str]| FakeNode {
        peers: vec![PeerSnapshot {
            protocols: protocols.iter().map(ToString::to_string).collect(),
            ..crate::fake::peer()
        }],
        is_light: true,
        ..FakeNode::default()
    };
    for (protocols, expected) in [
        (&[][..], "Disconnected"),
        (&[STORE], "Disconnected"),
        (&[FILTER_SUBSCRIBE], "PartiallyConnected"),
        (&[FILTER_SUBSCRIBE, LIGHTPUSH_V3], "Connected"),
    ] {
        let said = health(MountedServices::default(), offering(protocols)).await;
        assert_eq!(said["connectionStatus"], expected, "{protocols:?}");
        assert_eq!(said["protocolsHealth"][0]["Relay"], "NOT_MOUNTED");
        assert_eq!(said["nodeHealth"], "READY");
    }
}

#[tokio::test]
async fn services_that_need_relay_and_are_asked_for_without_it_are_named() {
    let node = FakeNode {
        is_light: true,
        unserved: vec!["filter", "lightpush"],
        ..FakeNode::default()
    };
    let said = health(MountedServices::default(), node).await;
    assert_eq!(said["nodeHealth"], "READY");
    let entries = said["protocolsHealth"].as_array().unwrap();
    for service in ["Filter", "Lightpush", "Legacy Lightpush"] {
        let entry = entries.iter().find(|one| one.get(service).is_some());
        let expected =
            json!({ service: "NOT_READY", "desc": "not served, because relay is false" });
        assert_eq!(entry.unwrap(), &expected);
    }
}

#[tokio::test]
async fn subscriptions_that_no_filter_peer_has_are_named() {
    let node = FakeNode {
        peers: vec![PeerSnapshot {
            protocols: vec![FILTER_SUBSCRIBE.into()],
            ..crate::fake::peer()
        }],
        ..FakeNode::default()
    };
    let topics = [("/waku/2/rs/66/0", 2), ("/waku/2/rs/66/1", 0)];
    let topics = topics.map(|(topic, peers)| (topic.into(), peers));
    node.light.lock().filter_peers = topics.into();
    let said = health(MountedServices::default(), node.clone()).await;
    let entries = said["protocolsHealth"].as_array().unwrap();
    let client = entries
        .iter()
        .find(|one| one.get("Filter Client").is_some());
    assert_eq!(
        client.unwrap(),
        &json!({
            "Filter Client": "NOT_READY",
            "desc": "No filter peer has the subscriptions of /waku/2/rs/66/1",
        })
    );
    node.light.lock().filter_peers = [("/waku/2/rs/66/0".into(), 1)].into();
    let all = protocols(MountedServices::default(), node).await;
    assert_eq!(all["Filter Client"], "READY");
}

#[test]
fn lightpush_says_when_messages_without_a_proof_are_refused() {
    let told = |mounted, may_publish, allowance| {
        let rln = RlnSnapshot {
            may_publish,
            allowance,
            ..rln_snapshot()
        };
        unproved(mounted, Some(&rln)).map(|desc| desc.rsplit(": ").next().unwrap_or(desc))
    };
    let left = |left| Some(EpochAllowance { left, limit: 20 });
    assert_eq!(told(ALL, true, left(6)), None);
    let spent = Some("the light clients' share of it is used up");
    assert_eq!(told(ALL, true, left(5)), spent);
    let stranger = Some("this node has no membership");
    assert_eq!(told(ALL, false, None), stranger);
    let unwilling = MountedServices {
        lightpush_proofs: false,
        ..ALL
    };
    let off = Some("lightpush-proofs is false");
    assert_eq!(told(unwilling, true, left(20)), off);
    assert_eq!(unproved(ALL, None), None, "a network without rate limit");
}

fn rln_snapshot() -> RlnSnapshot {
    RlnSnapshot {
        may_publish: true,
        refusal: None,
        allowance: None,
        ids_taken_total: 0,
        tokens: None,
        proofs: ProofTotals::default(),
        verifier: VerifierSnapshot {
            threads: 1,
            policy: undertone_rln::BatchPolicy::default(),
            waiting: 0,
            suspects: 0,
            checked_total: 0,
            bad_total: 0,
            batches_total: 0,
            job_sizes: JobSizes::default(),
            last_took: std::time::Duration::ZERO,
        },
        membership: MembershipSnapshot::default(),
        chain: None,
    }
}
