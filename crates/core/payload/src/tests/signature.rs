use k256::ecdsa::Signature;
use k256::elliptic_curve::ops::Neg as _;

use super::{SIGNATURE_BYTES, recover, sign};
use crate::SecretKey;

fn key() -> SecretKey {
    SecretKey::from_slice(&[7; 32]).unwrap()
}

#[test]
fn the_signer_is_recovered_from_both_spellings_of_the_last_byte() {
    let mut signature = sign(b"content", &key());
    assert!(signature[64] < 2);
    assert_eq!(recover(b"content", &signature), Some(key().public_key()));
    signature[64] += 27;
    assert_eq!(recover(b"content", &signature), Some(key().public_key()));
}

#[test]
fn the_greater_s_is_read_too() {
    for content in 0..16_u8 {
        let bytes = sign(&[content], &key());
        let signature = Signature::from_slice(&bytes[..64]).unwrap();
        let (r, s) = signature.split_scalars();
        let greater = Signature::from_scalars(r.to_bytes(), s.neg().to_bytes()).unwrap();
        assert_ne!(greater, signature);
        let mut other = [0; SIGNATURE_BYTES];
        other[..64].copy_from_slice(&greater.to_bytes());
        other[64] = bytes[64] ^ 1;
        assert_eq!(recover(&[content], &other), Some(key().public_key()));
    }
}

#[test]
fn another_content_gives_another_signer() {
    let signature = sign(b"content", &key());
    assert_ne!(recover(b"Content", &signature), Some(key().public_key()));
}

#[test]
fn what_is_no_signature_has_no_signer() {
    let good = sign(b"content", &key());
    for last in [4, 26, 31, 255] {
        let mut bad = good;
        bad[64] = last;
        assert_eq!(recover(b"content", &bad), None, "{last}");
    }
    assert_eq!(recover(b"content", &[0; SIGNATURE_BYTES]), None);
    assert_eq!(recover(b"content", &[0xff; SIGNATURE_BYTES]), None);
    assert_eq!(recover(b"content", &good[..64]), None);
    assert_eq!(recover(b"content", &[]), None);
}
