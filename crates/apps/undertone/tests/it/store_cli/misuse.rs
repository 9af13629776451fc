//! What `undertone store` says about a command line that is wrong, and about what is not there.

use crate::store_cli::support::Place;

#[test]
fn what_is_wrong_or_missing_is_named() {
    let place = Place::new();
    place.verify("").failed(2, &["--peer", "--archive"]);
    let both = "--archive a --peer /ip4/127.0.0.1/tcp/1";
    place.verify(both).failed(2, &["cannot be used with"]);
    place
        .verify("--archive a")
        .failed(1, &["members.sqlite", "there is no registry"]);
    place.registry();
    place
        .verify("--archive a --start-s 9 --end-s 8")
        .failed(2, &["--start-s 9 is after --end-s 8"]);
    place.verify("--archive a").failed(1, &["a has no archive"]);
    assert!(!place.path("a").exists());
    place
        .verify("--archive ftp://a")
        .failed(2, &["unknown scheme"]);
    place
        .verify("--archive a --content-topic talk")
        .failed(2, &["content-topic", "talk"]);
    let light = "--archive a --rln-eth-rpc http://127.0.0.1:1 --rln-eth-chain-id 1 --rln-eth-mode light \
                 --rln-eth-contract 0xB9cd878C90E49F797B4431fBF4fb333108CB90e6";
    place.verify(light).failed(2, &["rln-eth-mode", "full"]);
    let nobody =
        "--peer /ip4/127.0.0.1/tcp/1/p2p/16Uiu2HAmPLe7Mzm8TsYUubgCAW1aJoeFScxrLj8ppHFivPo97bUZ";
    place
        .verify(&format!("{nobody} --patience-s 1"))
        .failed(1, &["cannot reach peer", "check the address"]);
    place
        .verify("--peer /ip4/127.0.0.1/tcp/1 --patience-s 1")
        .failed(1, &["no address with a peer id"]);
}

#[test]
fn the_help_defines_the_exit_codes() {
    let help = Place::new().store("verify --help");
    assert_eq!(help.code, 0);
    assert!(
        help.stdout.contains("3 at least one message is not valid"),
        "{help:?}"
    );
}
