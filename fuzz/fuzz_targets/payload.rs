//! Encrypted payloads: what a stranger sends, and, since nobody guesses a key, contents that a holder of the key has encrypted.
#![no_main]

use aes_gcm::Aes256Gcm;
use aes_gcm::aead::{AeadInOut as _, KeyInit as _};
use libfuzzer_sys::fuzz_target;
use undertone_payload::{PayloadLimits, PublicKey, SecretKey, SymmetricKey};

fuzz_target!(|input: &[u8]| {
    let limits = PayloadLimits::default();
    let key = SymmetricKey::from_bytes([1; 32]);
    let _ = key.open(input, &limits);
    let secret = SecretKey::from_slice(&[1; 32]).expect("the number is in the curve's field");
    let _ = secret.open(input, &limits);
    let _ = PublicKey::from_slice(input);

    let mut sealed = input.to_vec();
    let iv = [0; 12];
    let tag = Aes256Gcm::new(&[1; 32].into())
        .encrypt_inout_detached(&iv.into(), &[], sealed.as_mut_slice().into())
        .expect("the input is short");
    sealed.extend_from_slice(&tag);
    sealed.extend_from_slice(&iv);
    if let Ok(opened) = key.open(&sealed, &limits) {
        assert!(opened.payload.len() <= input.len());
    }
});
