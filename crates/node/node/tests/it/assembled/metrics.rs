//! `/metrics` of two members while one of them publishes.

use std::time::SystemTime;

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
    assert_eq!(alices["waku_rln_total_generated_proofs"], 1.0);
    assert!(alices["waku_rln_proof_generation_duration_seconds"] > 0.0);
    assert!(alices["libp2p_successful_dials_total"] >= 1.0);
    assert_eq!(
        alices["libp2p_total_dial_attempts_total"],
        alices["libp2p_successful_dials_total"] + alices["libp2p_failed_dials_total"]
    );
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
        ("waku_rln_messages_total_total", 1.0),
        (
            "waku_rln_valid_messages_total_total{shard=\"/waku/2/rs/66/0\"}",
            1.0,
        ),
        (
            "waku_rln_valid_messages_total_total{shard=\"/waku/2/rs/66/1\"}",
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
        ("waku_rln_spam_messages_total_total", 0.0),
        ("waku_rln_proof_verification_total_total", 1.0),
        ("waku_rln_number_registered_memberships", 2.0),
        ("logos_delivery_rln_messages_total_total", 1.0),
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
    // A mesh of two nodes is below the least that is wanted.
    let topics = |health: &str| bobs[&format!("libp2p_gossipsub_{health}_peers_topics")];
    assert!(topics("low") >= 1.0);
    assert_eq!(
        (topics("no") + topics("low"), topics("healthy")),
        (8.0, 0.0)
    );
    alice.stop().await;
    bob.stop().await;
}

/// Prometheus gives no quantile of a histogram without a bucket for everything.
#[tokio::test]
async fn every_histogram_has_a_bucket_without_bound() {
    let place = Place::new();
    let flags = [("store", "true"), ("store-sync", "true")];
    let node = assemble(&place.config(&[], &flags)).await.unwrap();
    let page = metrics(node.rest.unwrap()).await;
    let counts = page
        .keys()
        .filter_map(|series| series.strip_suffix("_count"));
    let histograms: Vec<_> = counts.collect();
    for name in [
        "undertone_verifier_batch_proofs",
        "waku_histogram_message_size",
        "waku_archive_insert_duration_seconds",
        "reconciliation_roundtrips",
    ] {
        assert!(histograms.contains(&name), "{name}: {histograms:?}");
    }
    for name in histograms {
        let all = page.get(&format!("{name}_bucket{{le=\"+Inf\"}}"));
        assert_eq!(all, page.get(&format!("{name}_count")), "{name}");
    }
    node.stop().await;
}

#[tokio::test]
async fn the_process_and_the_named_peers_are_told_under_the_usual_names() {
    const PEER: &str =
        "/ip4/127.0.0.1/tcp/1/p2p/16Uiu2HAmPLe7Mzm8TsYUubgCAW1aJoeFScxrLj8ppHFivPo97bUZ";
    let place = Place::new();
    let flags = [
        ("storenode", PEER),
        ("filternode", PEER),
        ("lightpushnode", PEER),
        ("peer-exchange-node", PEER),
    ];
    let node = assemble(&place.config(&[], &flags)).await.unwrap();
    let page = metrics(node.rest.unwrap()).await;
    for name in [
        "cpu_seconds_total",
        "resident_memory_bytes",
        "virtual_memory_bytes",
        "open_fds",
        "max_fds",
        "start_time_seconds",
    ] {
        assert!(page[&format!("process_{name}")] > 0.0, "{name}");
    }
    assert!(page["process_open_fds"] <= page["process_max_fds"]);
    assert!(page["process_resident_memory_bytes"] < page["process_virtual_memory_bytes"]);
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    // The system rounds its own start to seconds.
    assert!(page["process_start_time_seconds"] < now.unwrap().as_secs_f64() + 1.0);
    for protocol in [
        "store-query/3.0.0",
        "filter-subscribe/2.0.0-beta1",
        "lightpush/3.0.0",
        "lightpush/2.0.0-beta1",
        "peer-exchange/2.0.0-alpha1",
    ] {
        let peer = "peerId=\"/ip4/127.0.0.1/tcp/1\"";
        let series = format!("waku_service_peers{{protocol=\"/vac/waku/{protocol}\",{peer}}}");
        assert_eq!(page.get(&series), Some(&1.0), "{series}");
    }
    node.stop().await;
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
