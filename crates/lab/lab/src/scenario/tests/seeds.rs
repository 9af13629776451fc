use super::super::{SeedsError, parse_seeds};

#[test]
fn numbers_lists_and_ranges() {
    assert_eq!(parse_seeds("7").unwrap(), [7]);
    assert_eq!(parse_seeds("1,4, 9").unwrap(), [1, 4, 9]);
    assert_eq!(parse_seeds("1..5").unwrap(), [1, 2, 3, 4, 5]);
    assert_eq!(parse_seeds("3..=4,4,1").unwrap(), [3, 4, 1]);
    assert_eq!(parse_seeds("18446744073709551615").unwrap(), [u64::MAX]);
}

#[test]
fn what_is_not_a_seed_is_named() {
    for text in ["", "x", "1,,2", "1..", "-1", "1.5"] {
        let error = parse_seeds(text).unwrap_err();
        assert!(matches!(error, SeedsError::Malformed { .. }), "{text}");
    }
    let part = "5..1".to_owned();
    assert_eq!(parse_seeds("5..1"), Err(SeedsError::Empty { part }));
    assert_eq!(parse_seeds("0..10000"), Err(SeedsError::TooMany));
    assert_eq!(
        parse_seeds("0..18446744073709551615"),
        Err(SeedsError::TooMany)
    );
    assert_eq!(parse_seeds("0..9998,20000,20001"), Err(SeedsError::TooMany));
}
