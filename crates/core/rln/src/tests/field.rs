use ark_ff::AdditiveGroup;
use proptest::prelude::*;

use super::*;

/// Modulus r as 32 little-endian bytes.
fn modulus() -> [u8; 32] {
    let mut bytes = [0; 32];
    for (chunk, limb) in bytes.chunks_exact_mut(8).zip(Fr::MODULUS.0) {
        chunk.copy_from_slice(&limb.to_le_bytes());
    }
    bytes
}

#[test]
fn the_modulus_and_everything_above_is_refused() {
    assert_eq!(fr_from_le(&modulus()), Err(NonCanonical));
    assert_eq!(fr_from_le(&[0xff; 32]), Err(NonCanonical));
    let mut below = modulus();
    below[0] -= 1;
    assert_eq!(fr_from_le(&below), Ok(-Fr::from(1)));
    assert_eq!(fr_from_le(&[0; 32]), Ok(Fr::ZERO));
}

#[test]
fn bytes_are_little_endian() {
    let mut expected = [0; 32];
    expected[0] = 0x34;
    expected[1] = 0x12;
    assert_eq!(fr_to_le(&Fr::from(0x1234)), expected);
}

#[test]
fn parts_hash_like_their_concatenation() {
    assert_eq!(hash_to_field(&[b"ab", b"", b"c"]), hash_to_field(&[b"abc"]));
    assert_ne!(hash_to_field(&[b"abc"]), hash_to_field(&[b"abd"]));
}

proptest! {
    #[test]
    fn agrees_with_zerokit(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        prop_assert_eq!(hash_to_field(&[&bytes]), rln::hashers::hash_to_field_le(&bytes));
    }

    #[test]
    fn accepted_bytes_come_back_unchanged(bytes in any::<[u8; 32]>()) {
        let reduced = Fr::from_le_bytes_mod_order(&bytes);
        match fr_from_le(&bytes) {
            Ok(element) => {
                prop_assert_eq!(element, reduced);
                prop_assert_eq!(fr_to_le(&element), bytes);
            }
            Err(NonCanonical) => prop_assert_ne!(fr_to_le(&reduced), bytes),
        }
    }
}
