use super::*;

#[test]
fn the_configured_level_counts_unless_the_variable_is_set() {
    let shown = |filter| parse_filter(LogLevel::Warn, filter).unwrap().to_string();
    assert_eq!(shown(None), "warn");
    assert_eq!(shown(Some(" ")), "warn");
    assert_eq!(shown(Some("debug")), "debug");
}

#[test]
fn a_bad_filter_is_named() {
    let error = parse_filter(LogLevel::Info, Some("undertone=loud")).unwrap_err();
    assert!(
        error
            .to_string()
            .starts_with("UNDERTONE_LOG = \"undertone=loud\" is not a filter")
    );
}
