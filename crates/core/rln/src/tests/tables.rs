use std::fs;

use super::*;

fn same(a: &ProverTables, b: &ProverTables) -> bool {
    a.long.multiples() == b.long.multiples()
        && a.a.multiples() == b.a.multiples()
        && a.b.multiples() == b.b.multiples()
        && a.layout == b.layout
}

#[test]
fn a_damaged_file_is_named_and_replaced() {
    let key = Key::load().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tables");
    let (built, outcome) = ProverTables::open(&key, &path);
    assert!(matches!(outcome, TableFileOutcome::Created), "{outcome:?}");
    let good = fs::read(&path).unwrap();
    let expected_bytes = good.len();
    let flipped = |at: usize| {
        let mut bytes = good.clone();
        bytes[at] ^= 0x10;
        bytes
    };
    let cases = [
        (flipped(0), TableFileDefect::Magic),
        (Vec::new(), TableFileDefect::Magic),
        (
            good[..71].to_vec(),
            TableFileDefect::Length { expected_bytes },
        ),
        (
            good[..good.len() - 1].to_vec(),
            TableFileDefect::Length { expected_bytes },
        ),
        (
            [&good[..], &[0]].concat(),
            TableFileDefect::Length { expected_bytes },
        ),
        (flipped(8), TableFileDefect::OtherKey),
        (flipped(40), TableFileDefect::Checksum),
        (flipped(72), TableFileDefect::Checksum),
        (flipped(good.len() - 1), TableFileDefect::Checksum),
    ];
    for (bytes, expected) in cases {
        fs::write(&path, &bytes).unwrap();
        let (tables, outcome) = ProverTables::open(&key, &path);
        match outcome {
            TableFileOutcome::Replaced(defect) => assert_eq!(defect, expected),
            other => panic!("{other:?} where {expected} was expected"),
        }
        assert!(same(&built, &tables));
        assert!(
            fs::read(&path).unwrap() == good,
            "the file was not replaced"
        );
    }
    let (loaded, outcome) = ProverTables::open(&key, &path);
    assert!(matches!(outcome, TableFileOutcome::Loaded), "{outcome:?}");
    assert!(same(&built, &loaded));
}

#[test]
fn without_a_place_for_the_file_there_are_tables_all_the_same() {
    let key = Key::load().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let (tables, outcome) = ProverTables::open(&key, &folder.path().join("missing").join("tables"));
    assert!(
        matches!(outcome, TableFileOutcome::Unavailable(_)),
        "{outcome:?}"
    );
    assert_eq!(tables.long.len(), TableLayout::of(&key).end);
}
