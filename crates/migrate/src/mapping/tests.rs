//! Tests of the mapping of flags to keys.

use super::*;

fn mapped(flags: &[(&str, &str)]) -> Mapped {
    let flag = |(name, value): &(&str, &str)| GivenFlag {
        name: (*name).to_owned(),
        value: (*value).to_owned(),
        place: "run_node.sh:1".to_owned(),
    };
    Mapped::of(&flags.iter().map(flag).collect::<Vec<_>>())
}

#[test]
fn secrets_are_not_shown() {
    let mapped = mapped(&[
        ("nodekey", "abcd"),
        ("store-message-db-url", "postgres://u:pw@h/d"),
    ]);
    assert!(mapped.lines.iter().all(|line| line.value == "(not shown)"));
    assert_eq!(mapped.secret("nodekey"), Some("abcd"));
}

#[test]
fn an_unknown_flag_is_told_with_the_nearest_name() {
    let line = &mapped(&[("tcp-prot", "1")]).lines[0];
    assert_eq!(line.outcome, FlagOutcome::Unknown);
    assert!(line.remark.contains("tcp-port"), "{}", line.remark);
}

#[test]
fn cluster_1_is_the_network_with_its_contract() {
    let mapped = mapped(&[
        ("cluster-id", "1"),
        ("rln-relay-eth-client-address", "http://h:1"),
    ]);
    let toml = mapped.to_toml(Path::new("/d"));
    for line in [
        "network = \"twn\"",
        "rln-eth-chain-id = 59141",
        "rest = false",
    ] {
        assert!(toml.contains(line), "{line} not in {toml}");
    }
    assert!(!toml.contains("cluster-id ="), "{toml}");
}

#[test]
fn a_member_that_serves_lightpush_is_told_that_it_proves_for_light_clients() {
    let told = |flags: &[(&str, &str)]| {
        let mut mapped = mapped(flags);
        mapped.set_message_limit(20);
        let mut remarks = mapped.remarks.iter();
        remarks.any(|remark| remark.contains("lightpush-proofs"))
    };
    assert!(told(&[]));
    assert!(!told(&[("lightpush", "false")]));
    assert!(!told(&[("relay", "false")]));
}
