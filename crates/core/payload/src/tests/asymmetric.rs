use proptest::prelude::*;
use rand_chacha::ChaCha8Rng;
use rand_core::SeedableRng as _;

use super::{Keys, OVERHEAD_BYTES};
use crate::{CiphertextDefect, ContentDefect, OpenError, PayloadLimits, PublicKey, SecretKey};

fn reader() -> SecretKey {
    SecretKey::from_slice(&[1; 32]).unwrap()
}

fn sealed(payload: &[u8], seed: u64) -> Vec<u8> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let reader = reader().public_key();
    reader.seal(payload, None, &mut rng).unwrap()
}

/// Seals a raw content.
fn sealed_content(content: &[u8]) -> Vec<u8> {
    let ephemeral = SecretKey::from_slice(&[9; 32]).unwrap();
    let keys = Keys::agreed(&ephemeral, &reader().public_key());
    let mut bytes = content.to_vec();
    keys.apply_cipher(&[0; 16], &mut bytes);
    let authentic = [&[0; 16], &bytes[..]].concat();
    let mac = keys.mac(&authentic);
    let mac = hmac::Mac::finalize(mac).into_bytes();
    let point = ephemeral.public_key().to_bytes();
    [&point[..], &authentic, &mac].concat()
}

#[test]
fn another_reader_opens_nothing() {
    let other = SecretKey::from_slice(&[2; 32]).unwrap();
    let opened = other.open(&sealed(b"hello", 1), &PayloadLimits::default());
    assert_eq!(opened, Err(OpenError::OtherKeyOrChanged));
}

#[test]
fn every_changed_byte_is_noticed() {
    let good = sealed(b"hello", 1);
    for at in 0..good.len() {
        let mut bad = good.clone();
        bad[at] ^= 1;
        let opened = reader().open(&bad, &PayloadLimits::default());
        // A point with one coordinate changed is not on the curve.
        let expected = match at < PublicKey::BYTES {
            true => CiphertextDefect::EphemeralKey.into(),
            false => OpenError::OtherKeyOrChanged,
        };
        assert_eq!(opened, Err(expected), "{at}");
    }
}

#[test]
fn fewer_bytes_than_key_iv_and_mac_are_no_ciphertext() {
    for size_bytes in 0..OVERHEAD_BYTES {
        let opened = reader().open(&vec![4; size_bytes], &PayloadLimits::default());
        let too_short = CiphertextDefect::TooShort {
            size_bytes,
            min_bytes: OVERHEAD_BYTES,
        };
        assert_eq!(opened, Err(too_short.into()));
    }
}

#[test]
fn an_author_that_seals_rubbish_is_named() {
    let too_short = ContentDefect::TooShort {
        size_bytes: 0,
        min_bytes: 1,
    };
    for (content, defect) in [(&[][..], too_short), (&[0], ContentDefect::NoLength)] {
        let opened = reader().open(&sealed_content(content), &PayloadLimits::default());
        assert_eq!(opened, Err(defect.into()));
    }
    let opened = reader().open(&sealed_content(&[1, 1, 42]), &PayloadLimits::default());
    assert_eq!(opened.unwrap().payload, [42]);
}

#[test]
fn more_bytes_than_the_limit_are_not_opened() {
    let bytes = sealed(b"hello", 1);
    let size_bytes = bytes.len();
    let limits = |sealed_bytes_max| PayloadLimits { sealed_bytes_max };
    assert!(reader().open(&bytes, &limits(size_bytes)).is_ok());
    let max_bytes = size_bytes - 1;
    let too_large = OpenError::TooLarge {
        size_bytes,
        max_bytes,
    };
    assert_eq!(reader().open(&bytes, &limits(max_bytes)), Err(too_large));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn what_is_sealed_is_opened(payload: Vec<u8>, seed: u64) {
        let opened = reader().open(&sealed(&payload, seed), &PayloadLimits::default()).unwrap();
        prop_assert_eq!(opened.payload, payload);
    }

    #[test]
    fn no_bytes_are_opened_by_chance(rest in proptest::collection::vec(any::<u8>(), 0..200)) {
        let point = SecretKey::from_slice(&[9; 32]).unwrap().public_key().to_bytes();
        let bytes = [&point[..], &rest].concat();
        prop_assert!(reader().open(&bytes, &PayloadLimits::default()).is_err());
        prop_assert!(reader().open(&rest, &PayloadLimits::default()).is_err());
    }
}
