use super::*;

#[test]
fn a_trial_that_fails_says_why() {
    let reason = trial(&["--no-such-option"]).unwrap_err();
    assert!(reason.contains("unrecognized option"), "{reason}");
}

#[test]
fn only_a_user_namespace_needs_a_runner() {
    assert_eq!(Right::Own.cargo_options(), [""; 0]);
    let options = Right::UserNamespace.cargo_options();
    assert!(options[1].contains("--map-root-user"), "{options:?}");
}
