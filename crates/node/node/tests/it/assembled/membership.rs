//! A node's memory of the registry, and a node that becomes a member while it runs.

use std::fs;

use undertone_membership::{MemberLookup as _, MembershipLog as _, MembershipView, RegistryId};
use undertone_message::{PubsubTopic, Shard, WakuMessage};
use undertone_node::assemble::Assembled;
use undertone_node::command::PublishFailure;
use undertone_rln::tree::{MerkleTree, snapshot};
use undertone_rln::{Fr, Identity};

use crate::support::{Place, metrics_until};

/// How many members the node knows when it has read the registry.
async fn members(node: &Assembled) -> f64 {
    let now = metrics_until(node, |now| now["undertone_registry_version"] > 0.0).await;
    now["undertone_registry_members"]
}

/// Starts a node, asks for the number of members, and stops it.
async fn members_of_a_run(place: &Place) -> f64 {
    let node = place.node(&[]).await;
    let members = members(&node).await;
    node.stop().await;
    members
}

#[tokio::test]
async fn the_tree_is_saved_used_again_and_built_anew_where_it_does_not_fit() {
    let place = Place::new();
    let registry = place.registry();
    for commitment in 1..=3u64 {
        registry.register(Fr::from(commitment), 20).unwrap();
    }
    let file = place.path("rln-tree");
    assert_eq!(members_of_a_run(&place).await, 3.0);
    let saved = fs::read(&file).unwrap();
    let loaded = MembershipView::load(&file, registry.id(), 50);
    let loaded = loaded.unwrap().unwrap();
    assert_eq!(loaded.tree().root(), registry.tree().unwrap().root());

    // It is used: a tree that only the file knows is believed.
    let mut five = MerkleTree::new();
    let leaves: Vec<_> = (0..5).map(|at| (at, Fr::from(at + 1))).collect();
    five.set_many(&leaves).unwrap();
    snapshot::save(&file, registry.id().0, 3, &five, loaded.roots()).unwrap();
    assert_eq!(members_of_a_run(&place).await, 5.0);

    // Another registry's, and one that is ahead of the registry, are not.
    let RegistryId(mut other) = registry.id();
    other[0] ^= 1;
    snapshot::save(&file, other, 3, &five, loaded.roots()).unwrap();
    assert_eq!(members_of_a_run(&place).await, 3.0);
    assert_eq!(fs::read(&file).unwrap(), saved, "replaced by a right one");
    snapshot::save(&file, registry.id().0, 4, &five, loaded.roots()).unwrap();
    assert_eq!(members_of_a_run(&place).await, 3.0);

    // Nor is a damaged one or a part of one.
    let mut damaged = saved.clone();
    damaged[100] ^= 1;
    for content in [&damaged, &saved[..saved.len() - 1], &saved[..7], &[]] {
        fs::write(&file, content).unwrap();
        assert_eq!(members_of_a_run(&place).await, 3.0);
        assert_eq!(fs::read(&file).unwrap(), saved);
    }
}

#[tokio::test]
async fn an_identity_registered_while_the_node_runs_is_picked_up() {
    let place = Place::new();
    let node = place.node(&[]).await;
    assert!(!node.may_publish);
    let handle = &node.node.handle;
    let publish = async || {
        let topic = PubsubTopic::Static(Shard::new(66, 0).unwrap());
        let message = WakuMessage::new(&b"hello"[..], "/test/1/a/proto");
        handle.publish(topic, message).await.unwrap_err()
    };
    let refused = publish().await;
    assert!(
        matches!(refused, PublishFailure::RlnProof { .. }),
        "{refused}"
    );

    // Somebody else's registration is no reason.
    place.registry().register(Fr::from(5), 20).unwrap();
    let now = metrics_until(&node, |now| now["undertone_registry_members"] == 1.0).await;
    assert_eq!(now["undertone_rln_member"], 0.0);

    place.join(b"late");
    metrics_until(&node, |now| now["undertone_rln_member"] == 1.0).await;
    // The proof is made; there is only nobody to send it to.
    assert_eq!(publish().await, PublishFailure::NoPeers);
    node.stop().await;
}

/// Removed, the node stops; registered elsewhere, it goes on from there and repeats no message id.
#[tokio::test]
async fn a_member_that_moves_proves_at_its_new_place() {
    let alices = Place::new();
    alices.join(b"alice");
    let bobs = Place::with_registry_of(&alices);
    bobs.join(b"bob");
    let bob = bobs.node(&[]).await;
    let alice = alices.node(&[bob.node.addresses[0].to_string()]).await;
    let topic = PubsubTopic::Static(Shard::new(66, 0).unwrap());
    let publish = async |text: &str| {
        let message = WakuMessage::new(text.to_owned().into_bytes(), "/test/1/a/proto");
        alice.node.handle.publish(topic.clone(), message).await
    };
    let mesh = format!("undertone_mesh_peers{{topic=\"{topic}\"}}");
    metrics_until(&alice, |now| {
        now[&mesh] == 1.0 && now["undertone_tokens_ready"] == 2.0
    })
    .await;
    publish("before").await.unwrap();

    let registry = alices.registry();
    let commitment = Identity::from_seed(b"alice").commitment();
    let first = registry.find(commitment).unwrap().unwrap().index;
    registry.remove(first).unwrap();
    metrics_until(&alice, |now| now["undertone_rln_member"] == 0.0).await;
    let refused = publish("removed").await.unwrap_err();
    assert!(
        matches!(&refused, PublishFailure::RlnProof { reason } if reason.contains("no membership")),
        "{refused}"
    );

    let second = registry.register(commitment, 50).unwrap();
    assert_ne!(second, first);
    let now = metrics_until(&alice, |now| {
        now["undertone_rln_member"] == 1.0 && now["undertone_tokens_ready"] == 2.0
    })
    .await;
    assert_eq!(now["undertone_tokens_taken_total"], 0.0, "a new pool");
    // The second one may take a token, and none of those can be of the old place.
    for text in ["after", "and again"] {
        publish(text).await.unwrap();
    }
    let bobs = metrics_until(&bob, |now| now["undertone_messages_delivered_total"] >= 3.0).await;
    assert_eq!(
        bobs["undertone_verifier_proofs_total{verdict=\"bad\"}"],
        0.0
    );
    assert_eq!(bobs["undertone_spammers_exposed_total"], 0.0);
    alice.stop().await;
    bob.stop().await;
}

/// Moved at once, as when a chain is reorganised: nobody sees the node without a membership.
#[tokio::test]
async fn a_member_that_moved_while_nobody_looked_is_found() {
    let place = Place::new();
    place.join(b"alice");
    let node = place.node(&[]).await;
    let publish = async || {
        let topic = PubsubTopic::Static(Shard::new(66, 0).unwrap());
        let message = WakuMessage::new(&b"hello"[..], "/test/1/a/proto");
        node.node.handle.publish(topic, message).await.unwrap_err()
    };
    metrics_until(&node, |now| now["undertone_tokens_ready"] == 2.0).await;
    assert_eq!(publish().await, PublishFailure::NoPeers);
    let now = metrics_until(&node, |_| true).await;
    assert_eq!(now["undertone_tokens_taken_total"], 1.0);

    let registry = place.registry();
    let commitment = Identity::from_seed(b"alice").commitment();
    let first = registry.find(commitment).unwrap().unwrap().index;
    registry.remove(first).unwrap();
    registry.register(commitment, 100).unwrap();
    let now = metrics_until(&node, |now| {
        now["undertone_registry_version"] == 3.0
            && now["undertone_rln_member"] == 1.0
            && now["undertone_tokens_ready"] == 2.0
            && now["undertone_tokens_taken_total"] == 0.0
    })
    .await;
    assert_eq!(now["undertone_registry_members"], 1.0);
    // The proof is made; there is only nobody to send it to.
    assert_eq!(publish().await, PublishFailure::NoPeers);
    node.stop().await;
}
