//! Sections C and D: what hostile clients of the services and of the REST API can do.

use std::net::Ipv4Addr;

use undertone_attacks::attacks::{
    Attack, c1_half_requests, c2_malformed, c3_unread_answers, c4_unread_pushes, c5_subscribers,
    c6_floods, c7_store_sync, d1_rest,
};
use undertone_attacks::service_client::ServiceClient;
use undertone_attacks::{StageOptions, TestNetwork, asks};
use undertone_message::WakuMetadata;

use crate::support::{measured, program, unharmed};

/// Memory of a node under attack, MiB.
const MEMORY_MAX_MIB: f64 = 128.0;
/// Open files of a node: 150 connections, 128 handshakes, 128 connections of REST, and its databases.
const HANDLES_MAX: usize = 500;
/// Further ones for event streams.
const EVENT_STREAMS_MAX: usize = 1_024;

/// Runs an attack in short: honest users were served by all services, and the node kept its bounds.
async fn served(attack: &Attack, handles_max: usize) {
    let measured = measured(attack, 1).await;
    unharmed(&measured);
    assert!(!measured.services.is_empty(), "nothing was measured");
    for one in &measured.services {
        assert_eq!(one.answered, one.asked, "{}: {one:?}", one.service);
    }
    let usage = measured.usage;
    assert!(usage.memory_mib < MEMORY_MAX_MIB, "{usage:?}");
    assert!(usage.handles <= handles_max, "{usage:?}");
}

#[tokio::test]
async fn c1_half_requests_take_bounded_memory() {
    served(&c1_half_requests::ATTACK, HANDLES_MAX).await;
}

#[tokio::test]
async fn c2_malformed_frames_and_silent_streams_stop_no_service() {
    served(&c2_malformed::ATTACK, HANDLES_MAX).await;
}

#[tokio::test]
async fn c3_answers_that_nobody_reads_take_bounded_memory() {
    served(&c3_unread_answers::ATTACK, HANDLES_MAX).await;
}

#[tokio::test]
async fn c4_pushes_that_nobody_reads_take_bounded_memory() {
    served(&c4_unread_pushes::ATTACK, HANDLES_MAX).await;
}

#[tokio::test]
async fn c5_crowds_of_subscribers_keep_nobody_out() {
    served(&c5_subscribers::ATTACK, HANDLES_MAX).await;
}

#[tokio::test]
async fn c6_floods_of_expensive_requests_leave_others_served() {
    served(&c6_floods::REQUESTS, HANDLES_MAX).await;
}

#[tokio::test]
async fn c6_floods_of_bad_proofs_leave_others_served() {
    served(&c6_floods::BAD_PUSHES, HANDLES_MAX).await;
}

#[tokio::test]
async fn c7_sessions_of_store_synchronisation_leave_others_served() {
    served(&c7_store_sync::ATTACK, HANDLES_MAX).await;
}

/// Metadata has no answer that says "too many requests": the stream of a question beyond the budget is reset.
#[tokio::test]
async fn metadata_is_answered_within_a_budget_of_each_peer() {
    const BUDGET: usize = 60;
    let options = StageOptions {
        honest: 1,
        has_reader: false,
        ..StageOptions::default()
    };
    let stage = TestNetwork::start(&program(), options).await.unwrap();
    let connect = |last| {
        let from = Ipv4Addr::new(127, 0, 29, last);
        ServiceClient::connect(from, stage.victim.target(), None)
    };
    let (greedy, modest) = (connect(1).await.unwrap(), connect(2).await.unwrap());
    let question = asks::metadata();
    let mut answered = 0;
    for _ in 0..5 * BUDGET {
        let answer = greedy.raw.ask(asks::METADATA, &question).await;
        answered += usize::from(answer.is_ok());
    }
    // One more for each second that it takes.
    assert!((BUDGET..4 * BUDGET).contains(&answered), "{answered}");
    let answer = modest.raw.ask(asks::METADATA, &question).await.unwrap();
    let answer = WakuMetadata::decode(&answer).unwrap();
    assert_eq!(answer.shards, [0]);
    let (_, metrics) = stage.victim.ask("GET", "/metrics", None).await.unwrap();
    let refused = format!(
        "undertone_metadata_refused_total {}\n",
        5 * BUDGET - answered
    );
    assert!(metrics.contains(&refused), "{refused}");
}

#[tokio::test]
async fn d1_slow_bodies_keep_nobody_out() {
    served(&d1_rest::SLOW_BODIES, HANDLES_MAX).await;
}

#[tokio::test]
async fn d2_idle_connections_keep_nobody_out() {
    served(&d1_rest::IDLE_CONNECTIONS, HANDLES_MAX).await;
}

#[tokio::test]
async fn d3_event_streams_that_nobody_reads_take_bounded_memory() {
    served(&d1_rest::UNREAD_EVENTS, HANDLES_MAX + EVENT_STREAMS_MAX).await;
}

#[tokio::test]
async fn d4_long_queries_take_bounded_memory() {
    served(&d1_rest::LONG_QUERIES, HANDLES_MAX).await;
}
