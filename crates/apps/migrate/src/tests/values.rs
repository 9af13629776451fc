//! Tests of the rules for values.

use super::*;

fn text(value: Result<NewValue, String>) -> Option<String> {
    value.unwrap().text
}

#[test]
fn sizes_have_units() {
    for (size, expected) in [
        ("150KiB", "153600"),
        ("1500 B", "1500"),
        ("100KB", "100000"),
        ("7", "7"),
    ] {
        assert_eq!(text(bytes(size)).as_deref(), Some(expected), "{size}");
    }
    for bad in ["", "KiB", "1.5KiB", "1GB", "99999999999999999999B"] {
        assert!(bytes(bad).is_err(), "{bad}");
    }
}

#[test]
fn booleans_are_those_of_nim() {
    assert_eq!(text(boolean("True")).as_deref(), Some("true"));
    assert_eq!(text(boolean("off")).as_deref(), Some("false"));
    assert!(boolean("maybe").is_err());
}

#[test]
fn values_whose_meaning_changes_have_a_remark() {
    let changed = [
        chain_id("0"),
        colocation("0"),
        origin("app.example"),
        origin("*.example"),
        rate_limit("storev2:1/1s"),
        dns_discovery("true"),
    ];
    for value in changed {
        assert!(value.unwrap().remark.is_some());
    }
    assert_eq!(
        text(origin("app.example")).as_deref(),
        Some("https://app.example")
    );
    assert_eq!(text(origin("localhost:*")).as_deref(), Some("localhost:*"));
    assert_eq!(
        text(rate_limit("storev3:5/1s")).as_deref(),
        Some("store:5/1s")
    );
}
