//! `/metrics` of two members while one of them publishes.

use undertone_message::{PubsubTopic, Shard, WakuMessage};
use undertone_node::assemble::assemble;

use crate::support::{Place, ask, metrics, metrics_until};

#[tokio::test]
async fn values_move_when_a_message_is_published() {
    let alices = Place::new();
    alices.join(b"alice");
    let bobs = Place::with_registry_of(&alices);
    bobs.join(b"bob");
    let bob = bobs.node(&[]).await;
    let address = bob.node.addresses[0].to_string();
    let alice = alices.node(&[address]).await;

    let topic = PubsubTopic::Static(Shard::new(66, 0).unwrap());
    let mesh = format!("undertone_mesh_peers{{topic=\"{topic}\"}}");
    let before = metrics_until(&alice, |now| {
        now[&mesh] == 1.0 && now["undertone_tokens_ready"] == 2.0
    })
    .await;
    for (name, value) in [
        ("undertone_peers", 1.0),
        ("undertone_tokens_target", 2.0),
        ("undertone_tokens_taken_total", 0.0),
        ("undertone_rln_member", 1.0),
        ("undertone_registry_version", 2.0),
        ("undertone_registry_members", 2.0),
        ("undertone_registry_roots", 2.0),
        ("undertone_messages_delivered_total", 0.0),
        ("undertone_messages_published_total", 0.0),
    ] {
        assert_eq!(before[name], value, "{name}");
    }
    assert!(before["undertone_tokens_preparing_seconds_total"] > 0.0);

    let message = WakuMessage::new(&b"hello"[..], "/test/1/a/proto");
    let handle = &alice.node.handle;
    handle.publish(topic, message).await.unwrap();
    let alices = metrics_until(&alice, |now| {
        now["undertone_messages_published_total"] == 1.0
    })
    .await;
    assert_eq!(alices["undertone_tokens_taken_total"], 1.0);
    assert_eq!(alices["undertone_tokens_missed_total"], 0.0);
    assert_eq!(alices["waku_rln_total_generated_proofs_total"], 1.0);
    assert!(alices["waku_rln_proof_generation_duration_seconds"] > 0.0);
    let queued = "undertone_queued_bytes_total";
    assert!(
        alices[queued] > before[queued] + 335.0,
        "a message has a proof"
    );

    let bobs = metrics_until(&bob, |now| now["undertone_messages_delivered_total"] == 1.0).await;
    for (name, value) in [
        ("undertone_messages_received_total", 1.0),
        ("undertone_verifier_proofs_total{verdict=\"good\"}", 1.0),
        ("undertone_verifier_proofs_total{verdict=\"bad\"}", 0.0),
        ("undertone_verifier_batch_proofs_bucket{le=\"1.0\"}", 1.0),
        ("undertone_verifier_batch_proofs_count", 1.0),
        ("undertone_verifier_batch_proofs_sum", 1.0),
        ("undertone_verifier_waiting", 0.0),
        ("libp2p_peers", 1.0),
        ("libp2p_pubsub_peers", 1.0),
        ("libp2p_pubsub_topics", 8.0),
        ("libp2p_pubsub_subscriptions_total", 8.0),
        (
            "libp2p_gossipsub_peers_per_topic_mesh{topic=\"/waku/2/rs/66/0\"}",
            1.0,
        ),
        ("waku_peer_store_size", 1.0),
        ("waku_node_messages_total{type=\"relay\"}", 1.0),
        ("waku_histogram_message_size_count", 1.0),
        ("waku_histogram_message_size_sum", 0.005),
        ("waku_histogram_message_size_bucket{le=\"1.0\"}", 1.0),
        ("logos_delivery_peer_store_size", 1.0),
        ("waku_rln_messages_total", 1.0),
        (
            "waku_rln_valid_messages_total{shard=\"/waku/2/rs/66/0\"}",
            1.0,
        ),
        (
            "waku_rln_valid_messages_total{shard=\"/waku/2/rs/66/1\"}",
            0.0,
        ),
        (
            "waku_relay_avg_msg_bytes_per_shard{shard=\"/waku/2/rs/66/0\"}",
            5.0,
        ),
        (
            "waku_relay_max_msg_bytes_per_shard{shard=\"/waku/2/rs/66/0\"}",
            5.0,
        ),
        (
            "waku_relay_total_msg_bytes_per_shard{shard=\"/waku/2/rs/66/0\"}",
            5.0,
        ),
        ("waku_rln_spam_messages_total", 0.0),
        ("waku_rln_proof_verification_total", 1.0),
        ("waku_rln_number_registered_memberships", 2.0),
        ("logos_delivery_rln_messages_total", 1.0),
    ] {
        assert_eq!(bobs[name], value, "{name}");
    }
    assert!(bobs["undertone_received_bytes_total"] > 335.0);
    assert!(bobs["waku_rln_proof_verification_duration_seconds"] > 0.0);
    // These had no prefix up to the reference node's 0.38.
    for name in ["event_loop_load", "logos_delivery_event_loop_load"] {
        let load = bobs[name];
        assert!((0.0..=1.0).contains(&load), "{name}: {load}");
    }
    for name in [
        "rendezvousPeerFoundTotal_total",
        "logos_delivery_rendezvous_peer_found_total",
    ] {
        assert_eq!(bobs[name], 0.0, "{name}");
    }
    alice.stop().await;
    bob.stop().await;
}

/// With access to REST for the owner only, a Prometheus on another machine still reads the metrics.
#[tokio::test]
async fn a_port_for_metrics_serves_them_and_nothing_else() {
    let place = Place::new();
    place.join(b"alice");
    let flags = [
        ("metrics-server", "true"),
        ("metrics-server-port", "0"),
        ("rest-token", "a-token-that-nobody-else-has"),
        ("metrics-names", "logos-delivery"),
    ];
    let node = assemble(&place.config(&[], &flags)).await.unwrap();
    let port = node.metrics.expect("a port of its own");
    assert_ne!(Some(port), node.rest);
    let page = metrics(port).await;
    assert_eq!(page["undertone_peers"], 0.0);
    assert_eq!(page["logos_delivery_peer_store_size"], 0.0);
    let old = ["waku_", "event_loop_load", "rendezvousPeerFoundTotal"];
    assert!(
        !page
            .keys()
            .any(|series| old.iter().any(|old| series.starts_with(old)))
    );
    for (method, path) in [("GET", "/health"), ("POST", "/relay/v1/auto/messages")] {
        let (status, answer) = ask(port, method, path, "{}").await;
        assert_eq!(status, 404, "{path}: {answer}");
    }
    node.stop().await;
}
