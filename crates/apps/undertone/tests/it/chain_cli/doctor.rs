//! `undertone doctor` with endpoints that are right, of another chain, without the contract, and silent.

use std::net::TcpListener;

use serde_json::Value;

use super::Place;

/// What `doctor` finds of the chain's endpoints, and its exit code.
fn examined(place: &Place, endpoints: &str, contract: &str) -> (Vec<Value>, Option<i32>) {
    let line = format!(
        "doctor --ntp-server none --network local --data-dir data --tcp-port 0 --rest-port 0 --rln-eth-rpc {endpoints} \
         --rln-eth-contract {contract} --rln-eth-chain-id 31337 --json"
    );
    let output = place.command(&line).output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    let report: Value =
        serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {stderr}"));
    let findings = report["findings"].as_array().unwrap().iter();
    let of_chain = findings.filter(|finding| finding["subject"] == "rln-eth-rpc");
    (of_chain.cloned().collect(), output.status.code())
}

#[test]
#[ignore = "needs anvil: cargo xtask test --only contracts"]
fn the_doctor_asks_each_endpoint_for_its_chain_and_the_contract() {
    let place = Place::new();
    let (found, code) = examined(&place, "RPC", "CONTRACT");
    let [finding] = &found[..] else {
        panic!("one endpoint, not {found:?}");
    };
    assert_eq!((&finding["verdict"], code), (&"good".into(), Some(0)));
    assert!(finding["says"].to_string().contains("contract found"));

    let elsewhere = "0x000000000000000000000000000000000000dead";
    let (found, code) = examined(&place, "RPC", elsewhere);
    assert_eq!((&found[0]["verdict"], code), (&"bad".into(), Some(1)));
    assert!(found[0]["says"].to_string().contains("no contract at"));
    assert!(found[0]["remedy"].to_string().contains("rln-eth-contract"));

    // A port that nobody listens on any more.
    let closed = TcpListener::bind("127.0.0.1:0").unwrap();
    let silent = format!("http://{}", closed.local_addr().unwrap());
    drop(closed);
    let both = format!("{},{silent}", place.chain.endpoint());
    let (found, code) = examined(&place, &both, "CONTRACT");
    let verdicts: Vec<_> = found.iter().map(|finding| &finding["verdict"]).collect();
    assert_eq!(
        (verdicts, code),
        (vec![&"good".into(), &"bad".into()], Some(1))
    );
    assert!(found[1]["says"].to_string().contains("does not answer"));
}

#[test]
#[ignore = "needs anvil: cargo xtask test --only contracts"]
fn the_doctor_tells_an_endpoint_of_another_chain() {
    let place = Place::new();
    let line = "doctor --ntp-server none --network local --data-dir data --tcp-port 0 --rest-port 0 --rln-eth-rpc RPC \
                --rln-eth-contract CONTRACT --rln-eth-chain-id 1 --json";
    let output = place.command(line).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(
        said.contains("is of chain 31337, and the contract is on chain 1"),
        "{said}"
    );
}
