//! A node's memory of the registry, and a node that becomes a member while it runs.

use std::fs;

use undertone_membership::{MembershipView, Registry as _, RegistryId};
use undertone_message::{PubsubTopic, Shard, WakuMessage};
use undertone_node::assemble::Assembled;
use undertone_node::command::PublishFailure;
use undertone_rln::Fr;
use undertone_rln::tree::{MerkleTree, snapshot};

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
