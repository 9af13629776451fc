//! The demo, as a program would run it.

use std::process::Command;

use serde_json::Value;

/// The keys of an object, sorted.
fn keys(value: &Value) -> Vec<&str> {
    let object = value.as_object().expect("an object");
    let mut keys: Vec<_> = object.keys().map(String::as_str).collect();
    keys.sort_unstable();
    keys
}

#[test]
fn it_delivers_everything_isolates_the_spammer_and_says_so_in_json() {
    let output = Command::new(env!("CARGO_BIN_EXE_undertone"))
        .args(["demo", "--json", "--runs", "1"])
        .output()
        .expect("the binary was built for this test");
    let stderr = String::from_utf8_lossy(&output.stderr);
    let report: Value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("no JSON: {error}\n{stderr}"));
    assert!(output.status.success(), "{report:#}\n{stderr}");

    assert_eq!(
        keys(&report),
        [
            "latency",
            "nodes",
            "spam",
            "startup_ms",
            "token_prepare_ms",
            "without_tokens"
        ]
    );
    assert_eq!(keys(&report["without_tokens"]), ["prove_ms", "runs"]);
    assert_eq!(report["nodes"], 5);
    let sizes: Vec<_> = report["latency"]
        .as_array()
        .expect("a list")
        .iter()
        .collect();
    let bytes: Vec<_> = sizes
        .iter()
        .map(|size| size["size_bytes"].as_u64())
        .collect();
    assert_eq!(bytes, [2_000, 25_000, 100_000, 500_000].map(Some));
    for size in sizes {
        assert_eq!(
            keys(size),
            [
                "delivered",
                "expected",
                "hops",
                "prove_ms",
                "runs",
                "size_bytes",
                "total_ms",
                "with_token"
            ]
        );
        assert_eq!(size["with_token"], 1, "a token was ready");
        assert_eq!(
            (&size["delivered"], &size["expected"]),
            (&4.into(), &4.into())
        );
        let hops = size["hops"].as_array().expect("a list");
        assert_eq!(hops.len(), 4);
        assert!(
            hops.iter()
                .all(|hop| keys(hop) == ["transmit_ms", "validate_ms"])
        );
    }
    let spam = &report["spam"];
    assert_eq!(
        keys(spam),
        [
            "attempted",
            "delivered",
            "isolated_after_ms",
            "secret_recovered",
            "spammer_peers_left"
        ]
    );
    assert_eq!(spam["delivered"], 5, "its limit, and no more");
    assert_eq!(spam["secret_recovered"], true);
    assert_eq!(spam["spammer_peers_left"], 0);
    assert!(spam["isolated_after_ms"].is_number());
}

#[test]
#[ignore = "needs anvil: cargo xtask test --only contracts"]
fn on_a_chain_the_spammer_loses_its_membership_and_its_deposit() {
    let output = Command::new(env!("CARGO_BIN_EXE_undertone"))
        .args(["demo", "--json", "--runs", "1", "--chain"])
        .output()
        .expect("the binary was built for this test");
    let stderr = String::from_utf8_lossy(&output.stderr);
    let report: Value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("no JSON: {error}\n{stderr}"));
    assert!(output.status.success(), "{report:#}\n{stderr}");
    let chain = &report["chain"];
    assert_eq!(
        keys(chain),
        [
            "burned",
            "chain_id",
            "commitment",
            "committed",
            "contract",
            "deposit",
            "index",
            "members_after",
            "members_before",
            "nodes_updated",
            "receiver",
            "reward",
            "reward_from_s",
            "root",
            "slashed",
            "token",
            "transaction"
        ]
    );
    assert_eq!(chain["slashed"], true);
    assert_eq!(chain["deposit"], "250000000000000000", "0.05 for each of 5");
    assert_eq!(chain["burned"], "125000000000000000", "half of it");
    assert_eq!(chain["reward"], chain["burned"]);
    assert_eq!(chain["index"], 5);
    assert_eq!(
        (&chain["members_before"], &chain["members_after"]),
        (&6.into(), &5.into())
    );
    assert_eq!(chain["nodes_updated"], 5);
    assert_eq!(report["spam"]["delivered"], 5, "its limit, and no more");
}

#[test]
fn without_a_chain_program_it_says_where_to_get_one() {
    let output = Command::new(env!("CARGO_BIN_EXE_undertone"))
        .args(["demo", "--chain"])
        .env("UNDERTONE_ANVIL", "/nowhere/anvil")
        .output()
        .expect("the binary was built for this test");
    assert_eq!(output.status.code(), Some(1));
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(stderr.contains("/nowhere/anvil"), "{stderr}");
    assert!(stderr.contains("contracts/"), "{stderr}");
}

#[test]
fn wrong_usage_ends_with_status_two() {
    for args in [
        &["demo", "--runs", "0"][..],
        &["demo", "--no-such-flag"],
        &["no-such-command"],
    ] {
        let status = Command::new(env!("CARGO_BIN_EXE_undertone"))
            .args(args)
            .output()
            .expect("the binary was built for this test")
            .status;
        assert_eq!(status.code(), Some(2), "{args:?}");
    }
}
