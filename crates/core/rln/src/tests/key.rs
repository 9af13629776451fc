use rln::circuit::default_zkey_single;

use super::*;
use crate::circuits::CIRCUITS;

#[test]
fn the_key_is_zerokits() {
    let key = Key::load().unwrap();
    let zerokit = default_zkey_single();
    let (theirs, matrices) = &**zerokit;
    let ours = key.proving_key();
    assert_eq!(*key.verifying_key(), theirs.vk);
    assert_eq!(ours.beta_g1, theirs.beta_g1);
    assert_eq!(ours.delta_g1, theirs.delta_g1);
    assert!(ours.a == theirs.a_query, "the A queries differ");
    assert!(ours.b_g1 == theirs.b_g1_query, "the B queries in G1 differ");
    assert!(ours.b_g2 == theirs.b_g2_query, "the B queries in G2 differ");
    assert!(ours.l == theirs.l_query, "the L queries differ");
    assert!(key.h_query() == theirs.h_query, "the H queries differ");
    for (ours, theirs) in [(&ours.left, &matrices.a), (&ours.right, &matrices.b)] {
        assert_eq!(ours.rows(), theirs.len());
        for (row, theirs) in theirs.iter().enumerate() {
            let ours = ours.row(row).iter();
            let ours: Vec<_> = ours
                .map(|(factor, wire)| (*factor, *wire as usize))
                .collect();
            assert_eq!(ours, *theirs, "row {row}");
        }
    }
}

#[test]
fn a_flipped_bit_is_named_with_both_checksums() {
    let graph = CIRCUITS[0].graph;
    let mut bytes = graph.bytes.to_vec();
    bytes[1000] ^= 1;
    let damaged = Artefact {
        bytes: bytes.leak(),
        ..graph
    };
    match damaged.checked() {
        Err(KeyError::Checksum {
            file,
            expected,
            found,
        }) => {
            assert_eq!((file, expected), (graph.file, graph.sha256));
            assert_ne!(found, expected);
            assert_eq!(found.len(), 64);
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_truncated_or_foreign_key_is_refused() {
    let spec = &CIRCUITS[0];
    for bytes in [&spec.key.bytes[..100], spec.graph.bytes] {
        let error = arkzkey::parse(bytes, spec.public_inputs)
            .err()
            .map(spec.key.malformed());
        match error {
            Some(KeyError::Malformed {
                file: "tree_depth_20/rln_final.arkzkey",
                at_byte: 0,
                what: Defect::VerifyingKey,
            }) => {}
            other => panic!("{other:?}"),
        }
    }
}
