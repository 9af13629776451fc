//! Tests of the mapping of flags to keys.

use super::*;

/// Flags of a node whose release is not known.
fn mapped(flags: &[(&str, &str)]) -> Mapped {
    of_release("", flags)
}

fn of_release(release: &str, flags: &[(&str, &str)]) -> Mapped {
    let flag = |(name, value): &(&str, &str)| GivenFlag {
        name: (*name).to_owned(),
        value: (*value).to_owned(),
        place: "run_node.sh:1".to_owned(),
    };
    Mapped::of(&Found {
        flags: flags.iter().map(flag).collect(),
        releases: Releases::of_version(release).unwrap_or_default(),
        ..Found::default()
    })
}

/// Text of a key; the items of a list with commas.
fn key(mapped: &Mapped, key: &str) -> String {
    mapped
        .keys
        .get(key)
        .map_or("none".to_owned(), |texts| texts.join(","))
}

fn says(mapped: &Mapped, what: &str) {
    let said = mapped.remarks.iter().any(|remark| remark.contains(what));
    assert!(said, "{what} not in {:#?}", mapped.remarks);
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
    let flags = [
        ("cluster-id", "1"),
        ("rln-relay-eth-client-address", "http://h:1"),
    ];
    let mapped = of_release("0.38", &flags);
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

/// Without a number, content topics were spread over all shards that there can be, then over one, then over none.
#[test]
fn a_node_keeps_the_sharding_of_its_release() {
    let eight = "0,1,2,3,4,5,6,7";
    for (release, number, shards) in [
        ("0.36", "1024", eight),
        ("v0.37.1-beta", "1", "none"),
        ("0.38", "0", "none"),
        ("0.39", "0", "none"),
    ] {
        let mapped = of_release(release, &[("cluster-id", "66")]);
        assert_eq!(key(&mapped, "num-shards-in-network"), number, "{release}");
        assert_eq!(key(&mapped, "shards"), shards, "{release}");
        says(
            &mapped,
            &format!("num-shards-in-network = {number}: the default of"),
        );
    }
    let said = [("num-shards-in-network", "0")];
    assert_eq!(
        key(&of_release("0.36", &said), "num-shards-in-network"),
        "1024"
    );
    assert_eq!(
        key(&of_release("0.37", &said), "num-shards-in-network"),
        "0"
    );
    let said = [("num-shards-in-network", "4"), ("shard", "2")];
    for release in ["0.36", "0.37", "0.39", ""] {
        let mapped = of_release(release, &said);
        assert_eq!(key(&mapped, "num-shards-in-network"), "4", "{release}");
        assert_eq!(key(&mapped, "shards"), "2", "{release}");
    }
}

#[test]
fn automatic_sharding_stays_on_if_the_release_is_not_known_and_the_report_says_why() {
    let flags = [("content-topic", "/app/1/chat/proto")];
    let unknown = mapped(&flags);
    assert_eq!(key(&unknown, "num-shards-in-network"), "1");
    assert_eq!(key(&unknown, "content-topics"), "/app/1/chat/proto");
    says(
        &unknown,
        "not known (any release), and the default was 1024, from 0.37 on 1, from 0.38 on 0",
    );
    says(&unknown, "a wrong number gives content topics other shards");
    says(&unknown, "--release");
    // Release 0.37 refused shards that its only one does not have.
    assert_eq!(
        key(&mapped(&[("shard", "32")]), "num-shards-in-network"),
        "1024"
    );
    let present = of_release("0.39", &flags);
    assert_eq!(key(&present, "content-topics"), "none");
    says(&present, "content-topics is left out");
}

#[test]
fn flags_that_are_not_given_keep_the_defaults_of_the_release() {
    let keys = [
        "rest",
        "filter",
        "lightpush",
        "peer-exchange",
        "discv5-discovery",
        "max-connections",
        "nat",
    ];
    for (release, expected) in [
        (
            "0.36",
            ["true", "false", "false", "false", "false", "50", "any"],
        ),
        (
            "0.37",
            ["true", "false", "false", "true", "false", "50", "any"],
        ),
        (
            "0.38",
            ["false", "false", "false", "true", "false", "150", "any"],
        ),
        (
            "0.39",
            ["false", "true", "true", "true", "true", "150", "any"],
        ),
        ("", ["true", "true", "true", "true", "true", "150", "any"]),
    ] {
        let mapped = of_release(release, &[]);
        assert_eq!(keys.map(|name| key(&mapped, name)), expected, "{release}");
        says(&mapped, &format!("nat = {}", expected[6]));
    }
    says(&mapped(&[]), "filter = true (was false, from 0.39 on true)");
    says(
        &of_release("0.37", &[]),
        "defaults of the reference node (0.37) are written out: rest = true, filter = false",
    );
}

#[test]
fn lightpush_and_filter_are_carried_over_or_said_not_to_be() {
    for release in ["0.37", "0.39", ""] {
        let flags = [("filter", "true"), ("lightpush", "false")];
        let both = of_release(release, &flags);
        assert_eq!(
            (key(&both, "filter"), key(&both, "lightpush")),
            ("true".to_owned(), "false".to_owned())
        );
        assert!(
            both.lines
                .iter()
                .all(|line| line.outcome == FlagOutcome::Kept)
        );
    }
    let alone = of_release("0.37", &[("lightpush", "true"), ("relay", "false")]);
    assert_eq!(key(&alone, "lightpush"), "none");
    says(&alone, "lightpush is left out: here it needs relay");
    let edge = of_release("0.39", &[("mode", "Edge"), ("entry-layer", "messaging")]);
    for name in ["relay", "filter", "lightpush", "store"] {
        assert_eq!(key(&edge, name), "false", "{name}");
    }
}

#[test]
fn a_database_of_postgresql_stays_in_use_and_the_report_says_what_is_not_copied() {
    let url = "postgres://u:pw@postgres:5432/postgres";
    let mut mapped = mapped(&[("store-message-db-url", url)]);
    assert_eq!(key(&mapped, "store-message-db-url"), url);
    let line = &mapped.lines[0];
    assert_eq!(
        (line.outcome, line.value.as_str()),
        (FlagOutcome::Kept, "(not shown)")
    );
    assert!(line.remark.contains("not copied"), "{}", line.remark);
    mapped.copy_archive();
    assert_eq!(key(&mapped, "store-message-db-url"), "none");
    says(&mapped, "store-message-db-url is left out");
    let sqlite = of_release(
        "0.39",
        &[("store-message-db-url", "sqlite://store.sqlite3")],
    );
    assert_eq!(key(&sqlite, "store-message-db-url"), "none");
    assert!(
        sqlite.lines[0].remark.contains("--archive"),
        "{}",
        sqlite.lines[0].remark
    );
}

#[test]
fn presets_are_those_of_the_release() {
    let flags = [("preset", "logos.dev"), ("num-shards-in-network", "4")];
    for (release, cluster, shards) in [("0.38", "2", "8"), ("0.39", "3", "4")] {
        let mapped = of_release(release, &flags);
        assert_eq!(key(&mapped, "cluster-id"), cluster, "{release}");
        assert_eq!(key(&mapped, "num-shards-in-network"), shards, "{release}");
    }
    let shards = |release| {
        key(
            &of_release(release, &[("cluster-id", "2")]),
            "num-shards-in-network",
        )
    };
    assert_eq!(["0.37", "0.38", "0.39"].map(shards), ["1", "8", "8"]);
}

#[test]
fn a_replica_without_relay_keeps_its_store() {
    let flags = ["store", "store-sync", "filter"].map(|name| (name, "true"));
    let mapped = mapped(&[&flags[..], &[("relay", "false")]].concat());
    let toml = mapped.to_toml(Path::new("/d"));
    for line in ["relay = false", "store = true", "store-sync = true"] {
        assert!(toml.contains(line), "{line} not in {toml}");
    }
    assert!(!toml.contains("filter = true"), "{toml}");
}
