//! Keys of the network and the clock.

use super::*;

#[test]
fn an_unknown_network_is_named_with_its_source() {
    assert_eq!(
        flag_error("network", "twm"),
        "flag --network: no network is called \"twm\"; did you mean \"twn\"? \
         known: local, twn, twn-v0.37"
    );
}

#[test]
fn a_network_of_ones_own_has_its_own_limit() {
    let limit = [("rln-user-message-limit", "7"), ("rln-epoch-s", "30")];
    let config = load_flags(&limit).unwrap();
    let rln = config.rln.unwrap();
    assert_eq!(
        (rln.params.user_message_limit, rln.params.epoch_size_s),
        (7, 30)
    );
    assert_eq!(rln.message_limit, 7, "of a member that has all of it");
    assert_eq!(config.network.rln, Some(rln.params));
    let error = load_flags(&[limit[0], ("rln-message-limit", "8")]).unwrap_err();
    assert!(error.to_string().ends_with("1 to 7"), "{error}");
}

#[test]
fn a_clock_may_be_behind() {
    let config = load_flags(&[("clock-ahead-ms", "-25000")]).unwrap();
    assert_eq!(config.clock_ahead_ms, -25_000);
}
