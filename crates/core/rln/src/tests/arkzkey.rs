use super::*;

const FILE: &[u8] = include_bytes!("../../artefacts/tree_depth_20/rln_final.arkzkey");

fn refused(bytes: &[u8]) -> MalformedArtefact {
    match parse(bytes, 5) {
        Ok(_) => panic!("{} bytes were accepted", bytes.len()),
        Err(malformed) => malformed,
    }
}

/// Offset of the A query's count: 64 + 3 * 128 for the head, 6 points, then β and δ.
const A_COUNT: usize = 448 + 8 + 6 * 64 + 128;

#[test]
fn a_cut_file_is_refused_wherever_it_is_cut() {
    for length in (0..FILE.len()).step_by(61_803).chain([FILE.len() - 1]) {
        let refused = refused(&FILE[..length]);
        let early = matches!(
            refused.what,
            Defect::Truncated | Defect::Count(_) | Defect::VerifyingKey
        );
        assert!(early && refused.at_byte <= length, "{length}: {refused:?}");
    }
    let longer = [FILE, &[0]].concat();
    let expected = MalformedArtefact {
        at_byte: FILE.len(),
        what: Defect::Trailing,
    };
    assert_eq!(refused(&longer), expected);
}

#[test]
fn a_count_beyond_the_file_is_refused_before_anything_is_allocated() {
    let mut bytes = FILE.to_vec();
    bytes[A_COUNT..A_COUNT + 8].copy_from_slice(&u64::MAX.to_le_bytes());
    assert_eq!(refused(&bytes).what, Defect::Count(u64::MAX));
}

#[test]
fn a_coordinate_of_the_modulus_or_more_is_refused() {
    let mut bytes = FILE.to_vec();
    bytes[A_COUNT + 8..A_COUNT + 40].fill(0xff);
    assert_eq!(refused(&bytes).what, Defect::NonCanonical);
}

#[test]
fn queries_of_different_lengths_are_refused() {
    let mut bytes = FILE.to_vec();
    let points = u64::from_le_bytes(*bytes[A_COUNT..].first_chunk().unwrap());
    assert_eq!(points, 5844);
    // One point less in A: the next query is then read from the removed point's position.
    bytes[A_COUNT..A_COUNT + 8].copy_from_slice(&(points - 1).to_le_bytes());
    bytes.drain(A_COUNT + 8..A_COUNT + 8 + 64);
    assert_eq!(refused(&bytes).what, Defect::Shape);
}

#[test]
fn the_h_query_is_as_long_as_the_domain() {
    let contents = parse(FILE, 5).unwrap();
    let points = h_query(contents.h_bytes).unwrap();
    assert_eq!(points.len(), crate::transform::SIZE);
    assert!(points.iter().all(G1Affine::is_on_curve));
}
