//! Section A: an honest node is not cut off for nothing.

use std::time::Duration;

use undertone_attacks::attacks::{
    Attack, a1_restart, a2_silent_connection, a3_burst, a4_crowd, a5_made_up_roots,
};
use undertone_attacks::members::Members;
use undertone_attacks::test_network::victims_registry;
use undertone_attacks::traffic::Load;
use undertone_membership::SqliteRegistry;
use undertone_rln::Identity;

use crate::support::{SHORT, attacked, measured, unharmed};

/// In which eleven messages a second fill a waiting room of 128.
const FILLING: Duration = Duration::from_secs(12);

/// Time by which the victim hears of a member later than the publisher's messages with the new root begin:
/// far below the 12 s for which messages wait, on a machine however busy.
const LATE: Duration = Duration::from_secs(4);

/// Messages of which some twenty arrive ahead of their root, more than one stranger may have waiting, and the
/// others after it. Each needs a whole proof, of which a busy machine makes few in a second.
const AHEAD: Load = Load {
    messages: 30,
    interval: Duration::from_millis(200),
    ..SHORT
};

#[tokio::test]
async fn a1_a_restart_in_good_order_keeps_the_mesh() {
    unharmed(&measured(&a1_restart::ATTACK, 1).await);
}

#[tokio::test]
async fn a2_a_client_that_dials_again_is_heard_and_hears() {
    let (mut stage, tasks) = attacked(&a2_silent_connection::ATTACK).await;
    unharmed(&stage.measure(&SHORT, 1).await);
    // The dead connection ends: that is nothing to the other one.
    stage.proxy.as_ref().unwrap().ender().end_silent();
    tokio::time::sleep(Duration::from_secs(1)).await;
    unharmed(&stage.measure(&SHORT, 1).await);
    drop(tasks);
}

#[tokio::test]
async fn a3_a_peer_that_drops_large_answers_gets_every_message() {
    let (mut stage, tasks) = attacked(&a3_burst::ATTACK).await;
    let measured = stage.measure(&SHORT, 1).await;
    unharmed(&measured);
    let peers = stage.victim.peers().await.unwrap();
    let honest: Vec<_> = stage.nodes().map(|node| node.peer_id()).collect();
    let mut others = peers.iter().filter(|(peer, _)| !honest.contains(peer));
    let (_, like_nwaku) = others.next().expect("the peer is still connected");
    assert_eq!(like_nwaku.meshes, 1, "{like_nwaku:?}");
    assert!(like_nwaku.score.unwrap_or(0.0) >= 0.0, "{like_nwaku:?}");
    drop(tasks);
}

#[tokio::test]
async fn a4_honest_peers_stay_while_strangers_at_their_address_come_and_go() {
    unharmed(&measured(&a4_crowd::ATTACK, 1).await);
}

#[tokio::test]
async fn a5_messages_ahead_of_their_root_arrive_beside_made_up_roots() {
    let attack = Attack {
        then: |_| Box::pin(async { Ok(Default::default()) }),
        ..a5_made_up_roots::ATTACK
    };
    let (mut stage, tasks) = attacked(&attack).await;
    // The victim comes to know the publisher, and the strangers fill the waiting room.
    unharmed(&stage.measure(&SHORT, 0).await);
    tokio::time::sleep(FILLING).await;
    let newcomer = Identity::from_seed(b"a member of whom the victim hears late");
    let ahead = stage.members.as_ref().unwrap().reopen().unwrap();
    let behind = SqliteRegistry::open(victims_registry(stage.folder())).unwrap();
    Members::repeat(&ahead, &newcomer).unwrap();
    // The publisher has heard of it, and the victim will hear of it while the messages come.
    tokio::time::sleep(Duration::from_secs(1)).await;
    let hears = tokio::spawn(async move {
        tokio::time::sleep(LATE).await;
        Members::repeat(&behind, &newcomer).unwrap();
    });
    unharmed(&stage.measure(&AHEAD, 1).await);
    hears.await.unwrap();
    drop(tasks);
}
