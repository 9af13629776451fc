use super::*;

fn record() -> Record {
    Record {
        circumstances: Circumstances {
            commit: "1234abc-dirty".to_owned(),
            rustc: "rustc 1.90.0 (1159e78c4 2025-09-14)".to_owned(),
            valgrind: "valgrind-3.19.0".to_owned(),
            machine: "x86_64".to_owned(),
        },
        counts: vec![("new-2k".to_owned(), 31_234), ("verify".to_owned(), 7)],
    }
}

#[test]
fn a_record_is_read_as_it_was_written() {
    let text = record().to_string();
    assert_eq!(Record::parse(&text), Ok(record()));
    assert!(
        text.contains("\n[instructions]\nnew-2k = 31234\n"),
        "{text}"
    );
    assert_eq!(record().count("verify"), Some(7));
    assert_eq!(record().count("new-150k"), None);
}

#[test]
fn a_line_that_is_no_value_is_named() {
    for (text, line) in [
        ("commit = \"a\"\nnonsense", 2),
        ("\n\nverify = many", 3),
        ("rustc = 1.90", 1),
    ] {
        assert_eq!(Record::parse(text), Err(RecordError { line }), "{text}");
    }
}
