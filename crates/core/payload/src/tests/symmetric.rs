use proptest::prelude::*;
use rand_chacha::ChaCha8Rng;
use rand_core::SeedableRng as _;

use crate::{CiphertextDefect, ContentDefect, OpenError, PayloadLimits, SymmetricKey};

fn key() -> SymmetricKey {
    SymmetricKey::from_bytes([1; 32])
}

fn sealed(payload: &[u8], seed: u64) -> Vec<u8> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    key().seal(payload, None, &mut rng).unwrap()
}

#[test]
fn another_key_opens_nothing() {
    let other = SymmetricKey::from_bytes([2; 32]);
    let opened = other.open(&sealed(b"hello", 1), &PayloadLimits::default());
    assert_eq!(opened, Err(OpenError::OtherKeyOrChanged));
}

#[test]
fn every_changed_bit_is_noticed() {
    let good = sealed(b"hello", 1);
    for bit in 0..8 * good.len() {
        let mut bad = good.clone();
        bad[bit / 8] ^= 1 << (bit % 8);
        let opened = key().open(&bad, &PayloadLimits::default());
        assert_eq!(opened, Err(OpenError::OtherKeyOrChanged), "{bit}");
    }
}

#[test]
fn a_payload_sealed_twice_looks_different() {
    assert_ne!(sealed(b"hello", 1), sealed(b"hello", 2));
}

#[test]
fn fewer_bytes_than_tag_and_iv_are_no_ciphertext() {
    let min_bytes = 28;
    for size_bytes in 0..min_bytes {
        let opened = key().open(&vec![0; size_bytes], &PayloadLimits::default());
        let too_short = CiphertextDefect::TooShort {
            size_bytes,
            min_bytes,
        };
        assert_eq!(opened, Err(too_short.into()));
    }
}

#[test]
fn a_member_that_seals_rubbish_is_named_as_the_author() {
    use aes_gcm::aead::AeadInOut as _;
    use aes_gcm::{Aes256Gcm, KeyInit as _};

    let iv = [0; 12];
    let mut content = [0];
    let cipher = Aes256Gcm::new(&[1; 32].into());
    let tag = cipher.encrypt_inout_detached(&iv.into(), &[], content.as_mut_slice().into());
    let bytes = [&content[..], &tag.unwrap(), &iv].concat();
    let opened = key().open(&bytes, &PayloadLimits::default());
    assert_eq!(opened, Err(OpenError::Content(ContentDefect::NoLength)));
}

#[test]
fn more_bytes_than_the_limit_are_not_opened() {
    let bytes = sealed(b"hello", 1);
    let size_bytes = bytes.len();
    let limits = |sealed_bytes_max| PayloadLimits { sealed_bytes_max };
    assert!(key().open(&bytes, &limits(size_bytes)).is_ok());
    let max_bytes = size_bytes - 1;
    let too_large = OpenError::TooLarge {
        size_bytes,
        max_bytes,
    };
    assert_eq!(key().open(&bytes, &limits(max_bytes)), Err(too_large));
}

proptest! {
    #[test]
    fn what_is_sealed_is_opened(payload: Vec<u8>, seed: u64) {
        let opened = key().open(&sealed(&payload, seed), &PayloadLimits::default()).unwrap();
        prop_assert_eq!(opened.payload, payload);
    }

    #[test]
    fn no_bytes_are_opened_by_chance(bytes: Vec<u8>) {
        prop_assert!(key().open(&bytes, &PayloadLimits::default()).is_err());
    }
}
