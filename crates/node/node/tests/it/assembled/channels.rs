//! A reliable channel between two nodes whose messages are lost on the way: everything arrives, in causal order.

use std::collections::BTreeMap;
use std::time::Duration;

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{RngCore as _, SeedableRng as _};
use undertone_node::assemble::{Assembled, assemble};
use undertone_node::handle::NodeHandle;
use undertone_node::services::{ChannelEvent, ChannelOptions, ReliableChannel};
use undertone_sds::{RepairTiming, SdsConfig};

use crate::assembled::sending::{CONTENT_TOPIC, topic};
use crate::support::{HANG, Place, metrics_until};

const FLAGS: [(&str, &str); 2] = [("rln", "false"), ("shards", "0")];

/// Messages that each member sends.
const MESSAGES: usize = 30;

/// Percentage of messages that are lost between the members.
const LOSS_PERCENT: u32 = 30;

/// Settings with waits for a test instead of a network.
fn sds(participant: &str) -> SdsConfig {
    let mut sds = SdsConfig::new("channel", participant);
    // There is one other member whose filter can show a message.
    sds.possible_acks_needed = 1;
    sds.resend_ms = 1_500;
    sds.resend_possible_ms = 3_000;
    sds.max_resends = 100;
    sds.missing_report_ms = 200;
    sds.missing_again_ms = 1_000;
    sds.sync_ms = 700;
    sds.sync_jitter_ms = 300;
    sds.repair = Some(RepairTiming {
        min_ms: 200,
        max_ms: 800,
        response_groups: 1,
    });
    sds
}

fn options(participant: &str) -> ChannelOptions {
    ChannelOptions::new(sds(participant), topic(), CONTENT_TOPIC)
}

/// A node, and another one in its mesh that hears what it says and speaks for the other side.
struct Side {
    node: Assembled,
    bridge: Assembled,
    _places: [Place; 2],
}

impl Side {
    async fn start() -> Self {
        let places = [Place::new(), Place::new()];
        let bridge = assemble(&places[0].config(&[], &FLAGS)).await.unwrap();
        let peers = [bridge.node.addresses[0].to_string()];
        let node = assemble(&places[1].config(&peers, &FLAGS)).await.unwrap();
        let mesh = format!("undertone_mesh_peers{{topic=\"{}\"}}", topic());
        metrics_until(&bridge, |now| now[&mesh] >= 1.0).await;
        Self {
            node,
            bridge,
            _places: places,
        }
    }
}

/// Carries messages of peers of `from` to those of `to`, and loses some.
fn carry(from: &NodeHandle, to: NodeHandle, seed: u64) {
    let mut heard = from.messages(10_000);
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    tokio::spawn(async move {
        while let Some(delivery) = heard.recv().await {
            let is_lost = rng.next_u32() % 100 < LOSS_PERCENT;
            if delivery.from.is_some() && !is_lost {
                // A message that this side has already is refused as a duplicate.
                let _ = to.publish(delivery.pubsub_topic, delivery.message).await;
            }
        }
    });
}

/// Messages that a member got, in order, and whether all of its own were acknowledged.
async fn listen(
    channel: &mut ReliableChannel,
    wanted: usize,
    acknowledgements: usize,
) -> Vec<String> {
    let (mut texts, mut acknowledged) = (Vec::new(), 0);
    let all = async {
        while texts.len() < wanted || acknowledged < acknowledgements {
            match channel.next().await.unwrap() {
                ChannelEvent::Message { payload, gaps, .. } => {
                    assert!(gaps.is_empty(), "nothing is given up");
                    texts.push(String::from_utf8(payload).unwrap());
                }
                ChannelEvent::Acknowledged { .. } => acknowledged += 1,
                other => panic!("{other:?}"),
            }
        }
    };
    let heard = tokio::time::timeout(HANG, all).await;
    assert!(heard.is_ok(), "{texts:?}, {acknowledged} acknowledged");
    texts
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn everything_arrives_in_causal_order_though_a_third_is_lost() {
    let (left, right) = (Side::start().await, Side::start().await);
    carry(
        &left.bridge.node.handle,
        right.bridge.node.handle.clone(),
        1,
    );
    carry(
        &right.bridge.node.handle,
        left.bridge.node.handle.clone(),
        2,
    );
    let join = async |side: &Side, participant: &str| {
        let (node, services) = (&side.node.node.handle, &side.node.services.handle);
        ReliableChannel::join(node, services, options(participant))
            .await
            .unwrap()
    };
    let mut alice = join(&left, "alice").await;
    let mut bob = join(&right, "bob").await;
    let talk = |channel: &ReliableChannel, name: &'static str| {
        let sender = channel.sender();
        tokio::spawn(async move {
            for number in 0..MESSAGES {
                sender.send(format!("{name} {number}")).await.unwrap();
                tokio::time::sleep(Duration::from_millis(40)).await;
            }
        })
    };
    let talks = [talk(&alice, "alice"), talk(&bob, "bob")];
    let (by_bob, by_alice) = tokio::join!(
        listen(&mut alice, MESSAGES, MESSAGES),
        listen(&mut bob, MESSAGES, MESSAGES)
    );
    for talk in talks {
        talk.await.unwrap();
    }
    // A member's messages come after one another, so their causal order is that of their numbers.
    let said = |name: &str| -> Vec<String> {
        (0..MESSAGES)
            .map(|number| format!("{name} {number}"))
            .collect()
    };
    assert_eq!(by_alice, said("alice"));
    assert_eq!(by_bob, said("bob"));
    for side in [left, right] {
        side.node.stop().await;
        side.bridge.stop().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_member_that_returns_goes_on_where_it_was() {
    let side = Side::start().await;
    let folder = tempfile::tempdir().unwrap();
    let state = folder.path().join("alice");
    let join = async |node: &Assembled, options: ChannelOptions| {
        let (handle, services) = (&node.node.handle, &node.services.handle);
        ReliableChannel::join(handle, services, options)
            .await
            .unwrap()
    };
    // Alice speaks while nobody is there, and leaves.
    let alice = join(&side.node, options("alice").state(&state)).await;
    let id = alice.send("before").await.unwrap();
    drop(alice);
    let mut bob = join(&side.bridge, options("bob")).await;
    let mut alice = join(&side.node, options("alice").state(&state)).await;
    let told = listen(&mut bob, 1, 0).await;
    assert_eq!(told, ["before"]);
    // Bob's next message says that he has it.
    bob.send("answer").await.unwrap();
    let mut events = BTreeMap::new();
    let all = async {
        while events.len() < 2 {
            match alice.next().await.unwrap() {
                ChannelEvent::Message { payload, .. } => events.insert("message", payload),
                ChannelEvent::Acknowledged { id } => {
                    events.insert("acknowledged", id.as_bytes().to_vec())
                }
                other => panic!("{other:?}"),
            };
        }
    };
    let heard = tokio::time::timeout(HANG, all).await;
    assert!(heard.is_ok(), "{events:?}");
    assert_eq!(events["message"], b"answer");
    assert_eq!(events["acknowledged"], id.as_bytes());
    side.node.stop().await;
    side.bridge.stop().await;
}
