use super::*;

fn hash(number: usize) -> MessageHash {
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&number.to_be_bytes());
    MessageHash(bytes)
}

#[test]
fn the_last_cursors_are_remembered() {
    let memory = CursorMemory::default();
    for number in 0..REMEMBERED + 10 {
        memory.note(hash(number), number as i64);
        // One that is noted again and again takes one place.
        memory.note(hash(number), number as i64);
    }
    assert_eq!(memory.timestamp_ns(&hash(9)), None);
    assert_eq!(memory.timestamp_ns(&hash(10)), Some(10));
    let last = REMEMBERED + 9;
    assert_eq!(memory.timestamp_ns(&hash(last)), Some(last as i64));
    assert_eq!(memory.0.lock().order.len(), REMEMBERED);
    assert_eq!(memory.0.lock().timestamps_ns.len(), REMEMBERED);
}
