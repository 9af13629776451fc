//! Proofs of rate limits on the wire, and the checks before verification.
#![no_main]

use libfuzzer_sys::fuzz_target;
use undertone_rln::{Epoch, RateLimitProof, fr_from_le, fr_to_le};

fuzz_target!(|input: &[u8]| {
    if let Ok(proof) = RateLimitProof::decode(input) {
        assert_eq!(RateLimitProof::decode(&proof.encode()), Ok(proof.clone()));
        let _ = Epoch::from_bytes(&proof.epoch);
        for bytes in [
            proof.merkle_root,
            proof.share_x,
            proof.share_y,
            proof.nullifier,
        ] {
            if let Ok(element) = fr_from_le(&bytes) {
                assert_eq!(fr_to_le(&element), bytes);
            }
        }
    }
});
