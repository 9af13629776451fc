//! Tests of the frames that a rank holds.

use super::*;

fn read(held: &HeldFrames, frame: &Bytes) -> Bytes {
    let mut table = FrameTable::default();
    table.number(frame);
    let mut out = Vec::new();
    table.write(&mut out);
    let mut frames = held.read(&mut MessageReader::new(&out)).unwrap();
    frames.remove(0)
}

#[test]
fn frames_that_are_held_take_no_more_than_their_bound() {
    let held = HeldFrames::default();
    for number in 0u32..100 {
        let mut frame = vec![0; 1 << 20];
        frame[..4].copy_from_slice(&number.to_le_bytes());
        let frame = Bytes::from(frame);
        assert_eq!(read(&held, &frame), frame);
        let bytes = held.0.lock().unwrap().bytes;
        assert!((1..=HELD_BYTES_MAX).contains(&bytes), "{bytes}");
    }
}

#[test]
fn frames_that_differ_in_their_last_byte_are_two() {
    let held = HeldFrames::default();
    let mut other = vec![1; 5000];
    other[4999] = 2;
    let (a, b) = (Bytes::from(vec![1; 5000]), Bytes::from(other));
    assert_eq!((read(&held, &a), read(&held, &b)), (a, b));
}
