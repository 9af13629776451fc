use super::*;
use crate::field::fr_to_le;

#[test]
fn published_vector() {
    let bytes = hex::decode("68656c6c6f2f746573742f312f612f70726f746f00002a36fe9c9717").unwrap();
    let x = signal_hash(b"hello", "/test/1/a/proto", 1_700_000_000_000_000_000);
    assert_eq!(x, hash_to_field(&[&bytes]));
    let mut be = fr_to_le(&x);
    be.reverse();
    let expected = "0596e0cab15dbe5c24990898cf117e70619c837a5c3d560c061767c988ed5c8c";
    assert_eq!(hex::encode(be), expected);
}

#[test]
fn each_part_is_bound() {
    let base = signal_hash(b"hello", "/test/1/a/proto", 1);
    assert_ne!(base, signal_hash(b"hallo", "/test/1/a/proto", 1));
    assert_ne!(base, signal_hash(b"hello", "/test/1/b/proto", 1));
    assert_ne!(base, signal_hash(b"hello", "/test/1/a/proto", 2));
    assert_ne!(base, signal_hash(b"hello", "/test/1/a/proto", -1));
}
