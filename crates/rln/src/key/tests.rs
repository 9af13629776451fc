use rln::circuit::default_zkey_single;

use super::*;

#[test]
fn the_key_is_zerokits() {
    let key = Key::load().unwrap();
    let zerokit = default_zkey_single();
    assert_eq!(*key.verifying_key(), zerokit.0.vk);
    assert!(key.proving_key().0 == zerokit.0, "the proving keys differ");
}

#[test]
fn a_flipped_bit_is_named_with_both_checksums() {
    let mut bytes = GRAPH.bytes.to_vec();
    bytes[1000] ^= 1;
    let damaged = Artefact {
        bytes: bytes.leak(),
        ..GRAPH
    };
    match damaged.checked() {
        Err(KeyError::Checksum {
            file,
            expected,
            found,
        }) => {
            assert_eq!((file, expected), ("graph.bin", GRAPH.sha256));
            assert_ne!(found, expected);
            assert_eq!(found.len(), 64);
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_truncated_or_foreign_key_is_refused() {
    for bytes in [&PROVING_KEY.bytes[..100], GRAPH.bytes] {
        let error = verifying_key("some.arkzkey", bytes).unwrap_err();
        assert!(
            matches!(
                error,
                KeyError::VerifyingKey {
                    file: "some.arkzkey",
                    ..
                }
            ),
            "{error}"
        );
    }
}
