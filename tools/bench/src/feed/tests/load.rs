use std::collections::BTreeSet;

use undertone_conformance::payload::StampError;
use undertone_gossip::Limits;
use undertone_gossip::wire::{decode, read_varint};
use undertone_message::WakuMessage;

use super::Load;

const TOPIC: &str = "/waku/2/rs/66/3";

#[test]
fn every_frame_is_one_valid_message_of_its_own() {
    let load = Load::new(TOPIC, 7, 3, 300).unwrap();
    let mut ids = BTreeSet::new();
    for frame in load.frames.iter().chain([&load.marker]) {
        let (len, prefix) = read_varint(&frame.bytes).unwrap();
        assert_eq!(len, (frame.bytes.len() - prefix) as u64);
        let rpc = decode(&frame.bytes.slice(prefix..), &Limits::default()).unwrap();
        let [message] = &rpc.messages[..] else {
            panic!("{} messages in a frame", rpc.messages.len());
        };
        let waku = WakuMessage::decode(&message.data).unwrap();
        assert_eq!(waku.payload.len(), 300);
        ids.insert(frame.id.clone());
    }
    assert_eq!(ids.len(), 4);
}

#[test]
fn the_same_arguments_make_the_same_bytes_and_loads_do_not_overlap() {
    let first = Load::new(TOPIC, 0, 2, 64).unwrap();
    assert_eq!(first, Load::new(TOPIC, 0, 2, 64).unwrap());
    let second = Load::new(TOPIC, first.next_seq(), 2, 64).unwrap();
    assert!(!second.frames.contains(&first.marker));
    assert_ne!(second.marker, first.marker);
}

#[test]
fn a_payload_without_room_for_the_stamp_is_refused() {
    let refused = Load::new(TOPIC, 0, 1, 15);
    assert_eq!(refused, Err(StampError::Size { size: 15 }));
}
