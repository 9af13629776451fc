use bytes::Bytes;
use undertone_gossip::wire::Frame;

use super::*;

fn frame(len: usize) -> Incoming {
    Incoming {
        frame: Frame::from(Bytes::from(vec![0; len])),
        long_frame: None,
    }
}

/// Whether a frame of some length is queued at once.
async fn is_queued(queue: &InboundFrames, len: usize) -> bool {
    let pushed = queue.push(PeerId::random(), frame(len));
    tokio::time::timeout(std::time::Duration::ZERO, pushed)
        .await
        .is_ok_and(|is_there| is_there)
}

#[tokio::test(start_paused = true)]
async fn frames_wait_within_a_number_of_bytes() {
    let (queue, mut received) = InboundFrames::new(Gate::default());
    assert!(is_queued(&queue, 3 << 20).await);
    assert!(is_queued(&queue, 1 << 20).await);
    assert!(!is_queued(&queue, 1).await, "no room is left");
    let first = received.try_recv().expect("it was queued");
    assert!(!is_queued(&queue, 1).await, "the driver has it still");
    drop(first);
    assert!(is_queued(&queue, 3 << 20).await);
}

#[tokio::test(start_paused = true)]
async fn a_frame_longer_than_all_the_room_waits_for_the_others_to_be_taken() {
    let (queue, mut received) = InboundFrames::new(Gate::default());
    assert!(is_queued(&queue, 1).await);
    assert!(!is_queued(&queue, 8 << 20).await);
    drop(received.try_recv());
    assert!(is_queued(&queue, 8 << 20).await);
}
