//! A disk that fills up under a running node.

use undertone_node::assemble::assemble;
use undertone_node::services::{SendFailure, SendStep};

use crate::neighbour::Neighbour;
use crate::small_disk::SmallDisk;
use crate::support::{HANG, Place};
use crate::{message, told, topic};

#[tokio::test]
async fn a_full_disk_is_told_refuses_what_is_new_and_loses_nothing() {
    let place = Place::new();
    let Some(disk) = SmallDisk::mount(&place, 4 << 10) else {
        return;
    };
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
async fn a_store_on_a_full_disk_says_so_and_keeps_all_once_there_is_room() {
    let place = Place::new();
    let Some(disk) = SmallDisk::mount(&place, 4 << 10) else {
        return;
    };
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
