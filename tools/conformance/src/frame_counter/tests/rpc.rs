use proptest::prelude::{any, prop, proptest};

use super::count;
use crate::protocol::ControlCounts;

fn counted(rpc: &[u8]) -> ControlCounts {
    let mut counts = ControlCounts::default();
    count(rpc, &mut counts);
    counts
}

/// Length-delimited field, short enough for a length of one byte.
fn field(number: u8, content: &[u8]) -> Vec<u8> {
    [
        &[number << 3 | 2, u8::try_from(content.len()).unwrap()],
        content,
    ]
    .concat()
}

#[test]
fn every_kind_of_entry_is_counted_once() {
    let ids = [field(2, b"id1"), field(2, b"id2")].concat();
    let control = [
        field(1, &ids),
        field(2, &ids),
        field(2, b""),
        field(3, &field(1, b"t")),
        // PRUNE of topic `t` with a backoff of 300 s.
        field(4, &[field(1, b"t"), vec![3 << 3, 0xac, 0x02]].concat()),
        field(5, &ids),
        // Extensions, which are not counted.
        field(6, b""),
    ]
    .concat();
    let subscription = field(1, &[1 << 3, 1]);
    let message = field(2, &field(2, b"\x1a\x02\x1a\x00"));
    let rpc = [subscription, message, field(3, &control)].concat();
    let expected = ControlCounts {
        messages: 1,
        links: None,
        graft: 1,
        prune: 1,
        prune_with_backoff: 1,
        prune_backoff_s: Some(300),
        ihave: 1,
        iwant: 2,
        idontwant: 1,
    };
    assert_eq!(counted(&rpc), expected);
}

#[test]
fn fixed_width_fields_are_passed_over() {
    let graft = field(3, &field(3, b""));
    let rpc = [&[9 << 3 | 1][..], &[0; 8], &[9 << 3 | 5], &[0; 4], &graft].concat();
    assert_eq!(counted(&rpc).graft, 1);
}

#[test]
fn counting_ends_where_parsing_does() {
    let graft = field(3, &field(3, b""));
    assert_eq!(counted(&[&graft[..], &[0x0f], &graft].concat()).graft, 1);
    assert_eq!(counted(&graft[..graft.len() - 1]), ControlCounts::default());
}

proptest! {
    #[test]
    fn no_bytes_can_upset_it(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        counted(&bytes);
    }
}
