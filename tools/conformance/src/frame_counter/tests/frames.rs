use proptest::prelude::{prop, prop_assert_eq, proptest};

use super::{Frames, Kind, MAX_FRAME_BYTES};
use crate::protocol::ControlCounts;

/// An RPC with one GRAFT.
const GRAFT: &[u8] = &[0x1a, 0x05, 0x1a, 0x03, 0x0a, 0x01, b't'];

fn varint(mut value: usize) -> Vec<u8> {
    let mut bytes = Vec::new();
    while value >= 0x80 {
        bytes.push(value as u8 | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
    bytes
}

fn framed(frames: &[&[u8]]) -> Vec<u8> {
    frames
        .iter()
        .flat_map(|frame| [varint(frame.len()), frame.to_vec()].concat())
        .collect()
}

fn grafts(bytes: &[u8]) -> u64 {
    Frames::default().feed(bytes).graft
}

#[test]
fn only_gossip_streams_are_looked_into() {
    let header: &[u8] = b"/multistream/1.0.0\n";
    for (protocol, expected) in [
        (&b"/vac/waku/relay/2.0.0\n"[..], 1),
        (b"/meshsub/1.2.0\n", 1),
        (b"/floodsub/1.0.0\n", 1),
        (b"/ipfs/ping/1.0.0\n", 0),
        (b"/vac/waku/relay/2.0.0-other\n", 0),
    ] {
        assert_eq!(
            grafts(&framed(&[header, protocol, GRAFT])),
            expected,
            "{protocol:?}"
        );
    }
    assert_eq!(grafts(&framed(&[header, GRAFT])), 0);
}

#[test]
fn refused_proposals_are_followed_by_others() {
    let proposals: [&[u8]; 4] = [
        b"/multistream/1.0.0\n",
        b"/meshsub/1.3.0\n",
        b"/meshsub/1.2.0\n",
        GRAFT,
    ];
    assert_eq!(grafts(&framed(&proposals)), 1);
    let answers: [&[u8]; 4] = [b"/multistream/1.0.0\n", b"na\n", b"/meshsub/1.2.0\n", GRAFT];
    assert_eq!(grafts(&framed(&answers)), 1);
}

#[test]
fn a_frame_that_is_too_long_is_passed_over() {
    let mut frames = Frames::default();
    frames.feed(&framed(&[b"/meshsub/1.1.0\n"]));
    frames.feed(&varint(MAX_FRAME_BYTES + 1));
    for _ in 0..16 {
        assert_eq!(
            frames.feed(&vec![0x1a; MAX_FRAME_BYTES / 16]),
            ControlCounts::default()
        );
    }
    frames.feed(&[0]);
    assert_eq!(frames.feed(&framed(&[GRAFT])).graft, 1);
}

#[test]
fn an_endless_length_ends_the_listening() {
    let mut frames = Frames::default();
    frames.feed(&framed(&[b"/meshsub/1.1.0\n"]));
    frames.feed(&[0xff; 20]);
    assert_eq!(frames.stream, Kind::Other);
}

proptest! {
    #[test]
    fn chunks_do_not_matter(
        cuts in prop::collection::vec(0_usize..40_000, 0..12),
        middle in 0_usize..30_000,
    ) {
        // A message of `middle` bytes between two GRAFTs.
        let message = [&[0x12][..], &varint(middle), &vec![7; middle]].concat();
        let bytes = framed(&[b"/multistream/1.0.0\n", b"/meshsub/1.1.0\n", GRAFT, &message, b"", GRAFT]);
        let mut cuts: Vec<_> = cuts.into_iter().map(|cut| cut.min(bytes.len())).collect();
        cuts.sort_unstable();
        let (mut frames, mut from, mut total) = (Frames::default(), 0, 0);
        for to in cuts.into_iter().chain([bytes.len()]) {
            total += frames.feed(&bytes[from..to]).graft;
            from = to;
        }
        prop_assert_eq!(total, 2);
    }
}
