use proptest::prelude::{prop_assert_eq, proptest};

use super::{HEAD_BYTES, MAX_AGE_NS, MAX_BYTES, MAX_SEQ, STAMP_BYTES, StampError};
use super::{delivery, read_stamp, stamped};

#[test]
fn the_layout_is_fixed() {
    let payload = stamped(0x0102_03ff, 18, 0x0a0b_0c0d_0e0f_1011).unwrap();
    assert_eq!(hex::encode(payload), "00000000010203ff0a0b0c0d0e0f1011ffff");
}

#[test]
fn sizes_and_numbers_outside_the_limits_are_refused() {
    for size in [0, STAMP_BYTES - 1, MAX_BYTES + 1] {
        assert_eq!(stamped(1, size, 0), Err(StampError::Size { size }));
    }
    assert!(stamped(MAX_SEQ, STAMP_BYTES, 0).is_ok());
    let seq = MAX_SEQ + 1;
    assert_eq!(
        stamped(seq, STAMP_BYTES, 0),
        Err(StampError::Sequence { seq })
    );
}

#[test]
fn what_is_too_short_too_old_or_from_the_future_is_no_stamp() {
    let payload = stamped(5, STAMP_BYTES, 1_000).unwrap();
    assert_eq!(read_stamp(&payload, 1_000), Some((5, 0)));
    assert_eq!(read_stamp(&payload, 999), None);
    assert_eq!(
        read_stamp(&payload, 1_000 + MAX_AGE_NS - 1),
        Some((5, MAX_AGE_NS - 1))
    );
    assert_eq!(read_stamp(&payload, 1_000 + MAX_AGE_NS), None);
    assert_eq!(read_stamp(&payload[..STAMP_BYTES - 1], 1_000), None);
}

#[test]
fn a_delivery_shows_the_head_only() {
    let payload = vec![0xaa; HEAD_BYTES + 1];
    let seen = delivery("t".to_owned(), "id".to_owned(), "p".to_owned(), &payload, 7);
    assert_eq!(seen.head, "aa".repeat(HEAD_BYTES));
    assert_eq!(
        (seen.bytes, seen.seq, seen.latency_ns),
        (HEAD_BYTES + 1, None, None)
    );
    let short = delivery("t".to_owned(), "id".to_owned(), "p".to_owned(), &[1, 2], 7);
    assert_eq!(short.head, "0102");
}

proptest! {
    #[test]
    fn a_stamp_comes_back(
        seq in 0..=MAX_SEQ,
        size in STAMP_BYTES..4_096_usize,
        sent_ns in 0..u64::MAX / 2,
        age_ns in 0..MAX_AGE_NS,
    ) {
        let payload = stamped(seq, size, sent_ns).unwrap();
        prop_assert_eq!(payload.len(), size);
        prop_assert_eq!(read_stamp(&payload, sent_ns + age_ns), Some((seq, age_ns)));
    }
}
