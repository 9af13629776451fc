use super::{median, ratio, times};

#[test]
fn the_median_is_in_the_middle_whatever_the_order() {
    assert_eq!(median(&[9.0, 1.0, 2.0]), Some(2.0));
    assert_eq!(median(&[4.0, 1.0, 9.0, 2.0]), Some(3.0));
    assert_eq!(median(&[]), None);
}

#[test]
fn nothing_is_divided_by_nothing() {
    assert_eq!(ratio(3.0, 2.0), Some(1.5));
    assert_eq!(ratio(1.0, 0.0), None);
    assert_eq!(ratio(1.0, -2.0), None);
    assert_eq!((times(Some(1.5)), times(None)), ("1.50".into(), "-".into()));
}
