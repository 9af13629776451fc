//! A disk that fills up under a running node.

use undertone_node::assemble::assemble;
use undertone_node::services::{SendFailure, SendStep};

use crate::store_faults::neighbour::Neighbour;
use crate::store_faults::{health, message, protocol, told, topic};
use crate::support::small_disk::SmallDisk;
use crate::support::{HANG, Place};

#[tokio::test]
#[ignore = "mounts a tmpfs; cargo xtask test --only unit"]
async fn a_full_disk_is_told_refuses_what_is_new_and_loses_nothing() {
    let place = Place::new();
    let disk = SmallDisk::mount(&place, 4 << 10);
    let flags = [("rln", "false"), ("shards", "0"), ("store", "true")];
    let node = assemble(&place.config(&[], &flags)).await.unwrap();
    let sender = node.services.handle.sender();
    told(&node, "Store", "undertone_store_writing", true).await;
    let kept = sender.send(Some(topic()), message("kept")).await.unwrap();

    disk.fill();
    // The files of both databases may have some room left in them.
    let refused = async {
        for number in 0.. {
            let text = format!("{number}: {}", "a".repeat(20_000));
            match sender.send(Some(topic()), message(&text)).await {
                Ok(_) => continue,
                Err(failure) => return failure,
            }
        }
        unreachable!("numbers end later than disks")
    };
    let refused = tokio::time::timeout(HANG, refused).await.unwrap();
    assert!(
        matches!(refused, SendFailure::Unwritable { .. }),
        "{refused}"
    );
    let waiting = sender.waiting().await.unwrap();
    let again = sender.send(Some(topic()), message("again")).await;
    assert!(
        matches!(again, Err(SendFailure::Unwritable { .. })),
        "{again:?}"
    );
    assert_eq!(sender.waiting().await.unwrap(), waiting);
    let reason = told(&node, "Send Queue", "undertone_send_queue_writing", false).await;
    let folder = place.folder.path().to_str().unwrap();
    assert!(
        reason.contains(folder) && reason.contains("space"),
        "{reason}"
    );

    disk.make_room();
    told(&node, "Send Queue", "undertone_send_queue_writing", true).await;
    let after = sender.send(Some(topic()), message("after")).await.unwrap();
    let steps = sender.reports(None).await.unwrap();
    let queued = |id| {
        steps
            .iter()
            .any(|report| report.id == id && report.step == SendStep::Queued)
    };
    assert!(queued(kept) && queued(after));
    let ids: std::collections::BTreeSet<_> = steps.iter().map(|report| report.id).collect();
    assert_eq!(
        ids.len(),
        waiting + 1,
        "there is no report of a message that was refused"
    );
    assert!(node.stop().await.is_complete());

    let node = assemble(&place.config(&[], &flags)).await.unwrap();
    let sender = node.services.handle.sender();
    assert_eq!(sender.waiting().await.unwrap(), waiting + 1);
    assert!(node.stop().await.is_complete());
}

#[tokio::test]
#[ignore = "mounts a tmpfs; cargo xtask test --only unit"]
async fn a_store_on_a_full_disk_says_so_and_keeps_all_once_there_is_room() {
    let place = Place::new();
    let disk = SmallDisk::mount(&place, 4 << 10);
    let flags = [("rln", "false"), ("shards", "0"), ("store", "true")];
    let node = assemble(&place.config(&[], &flags)).await.unwrap();
    let mut neighbour = Neighbour::of(&node).await;
    neighbour.publish_until_kept(&node, 20_000).await;

    disk.fill();
    neighbour.publish(50, 20_000).await;
    let reason = told(&node, "Store", "undertone_store_writing", false).await;
    assert!(
        reason.contains("full") || reason.contains("space"),
        "{reason}"
    );

    disk.make_room();
    told(&node, "Store", "undertone_store_writing", true).await;
    neighbour.assert_all_kept(&node).await;
    neighbour.stop().await;
    assert!(node.stop().await.is_complete());
}

/// A message is proved only once its id is on disk.
#[tokio::test]
#[ignore = "mounts a tmpfs; cargo xtask test --only unit"]
async fn a_member_on_a_full_disk_says_that_it_proves_nothing_until_there_is_room() {
    let place = Place::new();
    // Room for the prover's tables.
    let disk = SmallDisk::mount(&place, 64 << 10);
    place.join(b"alice");
    let flags = [("shards", "0"), ("rln-tokens", "0")];
    let node = assemble(&place.config(&[], &flags)).await.unwrap();
    let neighbour = Neighbour::of(&node).await;
    let until = async |is_ready: bool| loop {
        let health = health(&node).await;
        let (status, desc) = protocol(&health, "Rln Relay");
        if (status == "READY", health["nodeHealth"] == "READY") == (is_ready, is_ready) {
            return desc.to_owned();
        }
        // Fails without a neighbour, too, and with a full disk always.
        let _ = node.node.handle.publish(topic(), message("lost")).await;
        tokio::time::sleep(std::time::Duration::from_millis(100)).await;
    };
    tokio::time::timeout(HANG, until(true)).await.unwrap();

    disk.fill();
    let reason = tokio::time::timeout(HANG, until(false)).await.unwrap();
    let folder = place.folder.path().to_str().unwrap();
    assert!(
        reason.contains("no message can be proved") && reason.contains(folder),
        "{reason}"
    );

    // Nobody publishes meanwhile.
    disk.make_room();
    let ready = async {
        while protocol(&health(&node).await, "Rln Relay").0 != "READY" {
            tokio::time::sleep(std::time::Duration::from_millis(100)).await;
        }
    };
    tokio::time::timeout(HANG, ready).await.unwrap();
    neighbour.stop().await;
    assert!(node.stop().await.is_complete());
}
