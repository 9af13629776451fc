use rand_chacha::ChaCha8Rng;
use rand_core::{CryptoRng, RngCore, SeedableRng as _};

use crate::{PayloadKeyError, PublicKey, SealError, SecretKey, SymmetricKey};

/// A generator that is stuck at one byte.
struct Stuck(u8);

impl RngCore for Stuck {
    fn next_u32(&mut self) -> u32 {
        u32::from_ne_bytes([self.0; 4])
    }

    fn next_u64(&mut self) -> u64 {
        u64::from_ne_bytes([self.0; 8])
    }

    fn fill_bytes(&mut self, bytes: &mut [u8]) {
        bytes.fill(self.0);
    }
}

impl CryptoRng for Stuck {}

#[test]
fn a_generator_that_gives_no_secret_key_is_given_up() {
    for stuck in [0, 0xff] {
        let drawn = SecretKey::generate(&mut Stuck(stuck));
        assert_eq!(drawn, Err(SealError::Generator));
        let reader = SecretKey::from_slice(&[1; 32]).unwrap().public_key();
        let sealed = reader.seal(b"hello", None, &mut Stuck(stuck));
        assert_eq!(sealed, Err(SealError::Generator));
    }
}

#[test]
fn keys_are_read_as_they_were_written() {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let secret = SecretKey::generate(&mut rng).unwrap();
    assert_eq!(
        SecretKey::from_slice(&*secret.to_bytes()),
        Ok(secret.clone())
    );
    let public = secret.public_key();
    assert_eq!(PublicKey::from_slice(&public.to_bytes()), Ok(public));
    let shared = SymmetricKey::generate(&mut rng);
    assert_eq!(SymmetricKey::from_slice(shared.as_bytes()), Ok(shared));
}

#[test]
fn a_compressed_public_key_is_read_too() {
    let public = SecretKey::from_slice(&[1; 32]).unwrap().public_key();
    let long = public.to_bytes();
    let mut short = [0; 33];
    short[0] = 2 + (long[64] & 1);
    short[1..].copy_from_slice(&long[1..33]);
    assert_eq!(PublicKey::from_slice(&short), Ok(public));
}

#[test]
fn what_is_no_key_is_refused() {
    let length = |found, expected| PayloadKeyError::Length { found, expected };
    for found in [0, 31, 33, 64] {
        let bytes = vec![1; found];
        assert_eq!(SymmetricKey::from_slice(&bytes), Err(length(found, 32)));
        assert_eq!(SecretKey::from_slice(&bytes), Err(length(found, 32)));
    }
    for found in [0, 32, 64, 66] {
        assert_eq!(
            PublicKey::from_slice(&vec![4; found]),
            Err(length(found, 65))
        );
    }
    for bytes in [[0; 32], [0xff; 32]] {
        assert_eq!(
            SecretKey::from_slice(&bytes),
            Err(PayloadKeyError::NotAScalar)
        );
    }
    assert_eq!(
        PublicKey::from_slice(&[4; 65]),
        Err(PayloadKeyError::NotAPoint)
    );
}

#[test]
fn a_passphrase_gives_the_key_that_other_clients_derive() {
    // hashlib.pbkdf2_hmac("sha256", b"/toy-chat/2/huilong/proto", b"", 65356) of Python.
    let key = SymmetricKey::from_passphrase(b"/toy-chat/2/huilong/proto");
    assert_eq!(hex::encode(key.as_bytes()), PYTHON);
}

const PYTHON: &str = "b2ecb5a280df7151db4241f18fd586c3327e1acf7222fbe8fe9d0b1c03258bd1";

#[test]
fn debug_output_has_no_secret() {
    let secret = SecretKey::from_slice(&[0x5a; 32]).unwrap();
    let shared = SymmetricKey::from_bytes([0x5a; 32]);
    let shown = format!("{secret:?} {shared:?}");
    assert_eq!(shown, "SecretKey(..) SymmetricKey(..)");
    let public = format!("{:?}", secret.public_key());
    assert!(public.starts_with("PublicKey(04"), "{public}");
}
