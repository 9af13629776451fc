//! Section B: what a hostile neighbour can do.

use std::net::Ipv4Addr;
use std::time::Duration;

use undertone_attacks::attacks::b9_credit::CreditPump;
use undertone_attacks::attacks::{
    b6_squatters, b7_sockets, b8_bad_proofs, b10_other_shard, b11_junk, e3_forged_handshakes,
};
use undertone_attacks::peer::Peer;
use undertone_attacks::{StageOptions, TestNetwork};

use crate::support::{SHORT, attacked, measured, program, unharmed};

/// What a connection is pumped with, and the most credit that it may have afterwards, bytes.
const PUMPED_BYTES: u64 = 96 << 20;
const PUMPED_FOR: Duration = Duration::from_secs(15);
const CREDIT_MAX: u64 = 24 << 20;
/// Memory of a node under attack.
const MEMORY_MAX_MIB: f64 = 128.0;

#[tokio::test]
async fn b6_squatters_and_liars_do_not_silence_one_neighbour() {
    unharmed(&measured(&b6_squatters::ONE_NEIGHBOUR, 0).await);
}

#[tokio::test]
async fn b6_squatters_and_liars_do_not_silence_three_neighbours() {
    unharmed(&measured(&b6_squatters::THREE_NEIGHBOURS, 0).await);
}

#[tokio::test]
async fn b7_silent_sockets_of_one_address_keep_nobody_out() {
    unharmed(&measured(&b7_sockets::SILENT_SOCKETS, 3).await);
}

#[tokio::test]
async fn b7_idle_identities_of_one_address_keep_nobody_out() {
    unharmed(&measured(&b7_sockets::IDLE_IDENTITIES, 3).await);
}

#[tokio::test]
async fn b7_identities_of_one_address_with_subscriptions_keep_nobody_out() {
    let measured = measured(&b7_sockets::SUBSCRIBED_IDENTITIES, 3).await;
    unharmed(&measured);
    for one in &measured.services {
        assert_eq!(one.answered, one.asked, "{one:?}");
    }
}

#[tokio::test]
async fn b8_bad_proofs_stop_no_honest_message() {
    unharmed(&measured(&b8_bad_proofs::ATTACK, 1).await);
}

#[tokio::test]
async fn b9_a_peer_with_late_pings_gets_bounded_credit() {
    let program = program();
    let stage = TestNetwork::start(&program, StageOptions::default()).await;
    let mut stage = stage.unwrap();
    let mut pump = CreditPump::connect(&stage, 1).await.unwrap();
    pump.pump(PUMPED_BYTES, PUMPED_FOR).await;
    let credit = pump.credit(&stage).await;
    assert!(credit <= CREDIT_MAX, "a connection has {credit} bytes");
    drop(pump);
    let measured = stage.measure(&SHORT, 1).await;
    unharmed(&measured);
    let memory_mib = measured.usage.memory_mib;
    assert!(memory_mib < MEMORY_MAX_MIB, "{memory_mib:.0} MiB");
}

#[tokio::test]
async fn b10_a_message_moved_to_another_shard_does_not_hide_the_original() {
    unharmed(&measured(&b10_other_shard::ATTACK, 1).await);
}

#[tokio::test]
async fn b11_junk_stops_no_honest_message() {
    let (mut stage, tasks) = attacked(&b11_junk::ATTACK).await;
    unharmed(&stage.measure(&SHORT, 1).await);
    drop(tasks);
}

#[tokio::test]
async fn b11_who_sends_junk_is_blamed() {
    let program = program();
    let stage = TestNetwork::start(&program, StageOptions::default()).await;
    let stage = stage.unwrap();
    let from = Ipv4Addr::new(127, 0, 14, 9);
    let mut peer = Peer::connect(from, stage.victim.target()).await.unwrap();
    peer.subscribe(&stage.topics()).await;
    let id = peer.id();
    let junk = b11_junk::unknown_fields();
    for _ in 0..100 {
        if !peer.send(&junk).await {
            break;
        }
    }
    let is_blamed = stage.victim.wait_peers(Duration::from_secs(20), |peers| {
        let view = peers.get(&id);
        view.is_none_or(|view| view.score.is_some_and(|score| score < 0.0))
    });
    assert!(is_blamed.await, "{:?}", stage.victim.peer(id).await);
}

#[tokio::test]
async fn e3_handshakes_of_many_and_of_forged_addresses_keep_nobody_out() {
    unharmed(&measured(&e3_forged_handshakes::ATTACK, 5).await);
}
