use super::*;
use crate::field::fr_to_le;

/// Big-endian hex of an element, as in the published vectors.
fn hex_be(element: &Fr) -> String {
    let mut bytes = fr_to_le(element);
    bytes.reverse();
    hex::encode(bytes)
}

const EPOCH: Epoch = Epoch(2_833_333);

#[test]
fn the_identifier_is_padded_ascii() {
    assert_eq!(&RlnIdentifier::WAKU.0[..25], b"rln/waku-rln-relay/v2.0.0");
    assert_eq!(RlnIdentifier::WAKU.0[25..], [0; 7]);
}

#[test]
fn published_hashes_of_identifier_and_epoch() {
    assert_eq!(
        hex_be(&hash_to_field(&[&RlnIdentifier::WAKU.0])),
        "14980de3c630961c82de9c4de9b3f2347fcf73a185ac8ec64210e10c68a08b6b"
    );
    assert_eq!(
        hex_be(&hash_to_field(&[&EPOCH.to_bytes()])),
        "29197062221926206d891e069d3254b173c5aa919a0325a2f969f3223ad7859c"
    );
}

#[test]
fn hashed_generation() {
    let nullifier = external_nullifier(Generation::Hashed, EPOCH, &RlnIdentifier::WAKU);
    assert_eq!(
        hex_be(&nullifier),
        "1cc9f10f0111e4dc34f9f1b00bfa3334dcb954686d559de431fa316ae30f6502"
    );
}

#[test]
fn direct_generation() {
    let nullifier = external_nullifier(Generation::Direct, EPOCH, &RlnIdentifier::WAKU);
    assert_eq!(
        hex_be(&nullifier),
        "02dae3601a583f2acbf562a17ba062348fbd89f3b6ecff60240877c15256e1b4"
    );
    let text = b"rln/waku-rln-relay/v2.0.0";
    let identifier = text.iter().rev().fold(Fr::from(0), |sum, byte| {
        sum * Fr::from(256) + Fr::from(*byte)
    });
    assert_eq!(nullifier, poseidon(&[Fr::from(2_833_333u64), identifier]));
}

#[test]
fn epoch_identifier_and_generation_all_matter() {
    let base = external_nullifier(Generation::Hashed, EPOCH, &RlnIdentifier::WAKU);
    let other_epoch = external_nullifier(Generation::Hashed, Epoch(1), &RlnIdentifier::WAKU);
    let other_identifier = external_nullifier(Generation::Hashed, EPOCH, &RlnIdentifier([1; 32]));
    let other_generation = external_nullifier(Generation::Direct, EPOCH, &RlnIdentifier::WAKU);
    for other in [other_epoch, other_identifier, other_generation] {
        assert_ne!(base, other);
    }
}

#[test]
fn each_epochs_nullifier_is_computed_once_and_old_ones_are_forgotten() {
    for generation in [Generation::Direct, Generation::Hashed] {
        let kept = ExternalNullifiers::new(generation, RlnIdentifier::WAKU);
        let direct = |epoch| external_nullifier(generation, Epoch(epoch), &RlnIdentifier::WAKU);
        for epoch in [5, 5, 6, 5, 7, 8, 5, 6, 7, 8] {
            assert_eq!(kept.get(Epoch(epoch)), direct(epoch), "epoch {epoch}");
        }
        assert_eq!(kept.computed_total(), 4);
        // The fifth epoch replaces the first.
        assert_eq!(kept.get(Epoch(9)), direct(9));
        assert_eq!(kept.get(Epoch(8)), direct(8));
        assert_eq!(kept.computed_total(), 5);
        assert_eq!(kept.get(Epoch(5)), direct(5));
        assert_eq!(kept.computed_total(), 6);
    }
}

#[test]
fn clones_share_what_they_know() {
    let first = ExternalNullifiers::new(Generation::Hashed, RlnIdentifier::WAKU);
    let second = first.clone();
    assert_eq!(first.get(EPOCH), second.get(EPOCH));
    assert_eq!(second.computed_total(), 1);
}
