//! Tests of the encoding of records.

use std::fmt::Debug;

use super::*;

/// Fills every field with a number of its own, and checks that all come back.
fn comes_back<T: Numbers + Debug>(fields: u64) {
    let mut record = T::ZERO;
    let mut next = 0;
    record.visit(&mut |number| {
        next += 1;
        *number = next;
    });
    assert_eq!(next, fields);
    let mut out = Vec::new();
    write_all(&mut out, &[record, T::ZERO]);
    let read: Vec<T> = read_all(&mut MessageReader::new(&out), "records").unwrap();
    assert_eq!(format!("{read:?}"), format!("{:?}", [record, T::ZERO]));
    for len in 0..out.len() {
        let cut: Result<Vec<T>, _> = read_all(&mut MessageReader::new(&out[..len]), "records");
        assert_eq!(cut.map(|_| ()), Err(Unreadable("records")), "{len}");
    }
}

#[test]
fn every_field_comes_back() {
    comes_back::<Counters>(20);
    comes_back::<FirstCopy>(4);
    comes_back::<LightArrival>(4);
    comes_back::<HistoryReading>(6);
    comes_back::<ServiceCounters>(14);
    comes_back::<ClientCounters>(30);
}
