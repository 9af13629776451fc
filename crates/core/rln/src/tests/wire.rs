use proptest::prelude::*;
use undertone_wire::put_varint;

use super::*;

fn sample() -> RateLimitProof {
    RateLimitProof {
        proof: [0x11; 128],
        merkle_root: [0x22; 32],
        epoch: [0x33; 32],
        share_x: [0x44; 32],
        share_y: [0x55; 32],
        nullifier: [0x66; 32],
        rln_identifier: [0x77; 32],
    }
}

/// The encoding of `sample`, written down by hand from the protobuf rules.
fn golden() -> Vec<u8> {
    let mut bytes = vec![0x0a, 0x80, 0x01];
    bytes.extend([0x11; 128]);
    for (tag, fill) in [0x12, 0x1a, 0x22, 0x2a, 0x32, 0x3a].into_iter().zip(2u8..) {
        bytes.extend([tag, 0x20]);
        bytes.extend([fill * 0x11; 32]);
    }
    bytes
}

#[test]
fn golden_bytes() {
    assert_eq!(sample().encode(), golden());
    assert_eq!(golden().len(), 335);
    assert_eq!(RateLimitProof::decode(&golden()), Ok(sample()));
}

#[test]
fn unknown_fields_are_skipped() {
    let mut bytes = vec![0x40, 0x96, 0x01]; // field 8, varint
    bytes.extend([0x49, 1, 2, 3, 4, 5, 6, 7, 8]); // field 9, 64 bits
    bytes.extend(golden());
    bytes.extend([0x55, 1, 2, 3, 4]); // field 10, 32 bits
    bytes.extend([0xfa, 0xff, 0xff, 0xff, 0x0f, 0x00]); // field 2^29 - 1, no bytes
    assert_eq!(RateLimitProof::decode(&bytes), Ok(sample()));
}

#[test]
fn of_a_repeated_field_the_last_counts() {
    let mut bytes = golden();
    bytes.extend([0x2a, 0x20]);
    bytes.extend([0x99; 32]);
    let decoded = RateLimitProof::decode(&bytes).unwrap();
    assert_eq!(
        decoded,
        RateLimitProof {
            share_y: [0x99; 32],
            ..sample()
        }
    );
}

#[test]
fn each_missing_field_is_named() {
    for field in ProofField::ALL {
        let mut bytes = Vec::new();
        for other in ProofField::ALL.into_iter().filter(|other| *other != field) {
            let length = if other == ProofField::Proof { 128 } else { 32 };
            bytes.push((other as u8) << 3 | 2);
            put_varint(&mut bytes, length);
            bytes.extend(vec![1; length as usize]);
        }
        assert_eq!(
            RateLimitProof::decode(&bytes),
            Err(ProofDecodeError::Missing { field })
        );
    }
    let field = ProofField::Proof;
    assert_eq!(
        RateLimitProof::decode(&[]),
        Err(ProofDecodeError::Missing { field })
    );
}

#[test]
fn each_wrong_length_is_named() {
    for field in ProofField::ALL {
        let expected_bytes = if field == ProofField::Proof { 128 } else { 32 };
        for found_bytes in [0, expected_bytes - 1, expected_bytes + 1] {
            let mut bytes = golden();
            bytes.push((field as u8) << 3 | 2);
            put_varint(&mut bytes, found_bytes as u64);
            bytes.extend(vec![1; found_bytes]);
            let error = ProofDecodeError::WrongLength {
                field,
                expected_bytes,
                found_bytes,
            };
            assert_eq!(RateLimitProof::decode(&bytes), Err(error));
        }
    }
}

#[test]
fn malformed_protobuf() {
    use ProofDecodeError::*;
    let cases: [(&[u8], ProofDecodeError); 9] = [
        (
            &[0x08, 0x01],
            NotBytes {
                field: ProofField::Proof,
            },
        ),
        (&[0x02, 0x00], BadFieldNumber { at: 0, number: 0 }),
        (
            &[0x80, 0x80, 0x80, 0x80, 0x10, 0],
            BadFieldNumber {
                at: 0,
                number: 1 << 29,
            },
        ),
        (
            &[0x42, 0x00, 0x0b],
            UnsupportedWireType {
                at: 2,
                wire_type: 3,
            },
        ),
        (
            &[0x0f],
            UnsupportedWireType {
                at: 0,
                wire_type: 7,
            },
        ),
        (&[0x0a], Truncated { at: 0 }),
        (&[0x42, 0x01, 0xaa, 0x0a, 0x05, 1, 2], Truncated { at: 3 }),
        (
            &[
                0x0a, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01,
            ],
            Truncated { at: 0 },
        ),
        (
            &[
                0x0a, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x02,
            ],
            VarintOverflow { at: 0 },
        ),
    ];
    for (bytes, error) in cases {
        assert_eq!(RateLimitProof::decode(bytes), Err(error), "{bytes:02x?}");
    }
}

#[test]
fn the_length_is_bounded() {
    let mut bytes = golden();
    let padding = MAX_ENCODED_BYTES - bytes.len() - 3;
    bytes.push(0x42);
    put_varint(&mut bytes, padding as u64);
    bytes.extend(vec![0; padding]);
    assert_eq!(bytes.len(), MAX_ENCODED_BYTES);
    assert_eq!(RateLimitProof::decode(&bytes), Ok(sample()));
    bytes.push(0);
    let error = ProofDecodeError::TooLong {
        found_bytes: MAX_ENCODED_BYTES + 1,
    };
    assert_eq!(RateLimitProof::decode(&bytes), Err(error));
}

proptest! {
    #[test]
    fn arbitrary_bytes_do_not_panic(bytes in prop::collection::vec(any::<u8>(), 0..1100)) {
        let _ = RateLimitProof::decode(&bytes);
    }

    #[test]
    fn every_truncation_is_an_error(length in 0usize..335) {
        prop_assert!(RateLimitProof::decode(&golden()[..length]).is_err());
    }

    #[test]
    fn damaged_encodings_decode_to_what_they_encode(at in 0usize..335, value in any::<u8>()) {
        let mut bytes = golden();
        bytes[at] = value;
        if let Ok(proof) = RateLimitProof::decode(&bytes) {
            prop_assert_eq!(proof.encode(), bytes);
        }
    }
}
