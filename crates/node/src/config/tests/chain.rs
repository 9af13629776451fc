//! The membership contract.

use undertone_membership::evm::Contract;

use super::*;

const FIRST: &str = "https://first.example/key";
const ADDRESS: &str = "0xB9cd878C90E49F797B4431fBF4fb333108CB90e6";

/// All that a contract needs.
pub(super) const WHOLE: [(&str, &str); 3] = [
    ("rln-eth-rpc", FIRST),
    ("rln-eth-contract", ADDRESS),
    ("rln-eth-chain-id", "2"),
];

/// A value of a key that is not the one in [`WHOLE`].
pub(super) fn other(key: &str) -> &'static str {
    match key {
        "rln-eth-rpc" => "http://a.example,ws://b.example",
        "rln-eth-contract" => "0xc9cd878c90e49f797b4431fbf4fb333108cb90e7",
        "rln-eth-chain-id" => "1",
        _ => "file",
    }
}

#[test]
fn without_an_endpoint_the_registry_is_a_file() {
    assert_eq!(load_file("").unwrap().rln.unwrap().chain, None);
}

#[test]
fn a_contract_is_an_address_on_a_chain_with_endpoints() {
    let text = format!(
        "data-dir = \"/d\"\nrln-eth-rpc = [\"{FIRST}\", \"wss://second.example\"]\n\
         rln-eth-contract = \"{ADDRESS}\"\nrln-eth-chain-id = 59141"
    );
    let chain = load_file(&text).unwrap().rln.unwrap().chain.unwrap();
    let contract = Contract {
        chain_id: 59141,
        address: ADDRESS.parse().unwrap(),
    };
    assert_eq!(chain.contract, contract);
    assert_eq!(chain.urls, [FIRST, "wss://second.example"]);
    assert_eq!(chain.store, Path::new("/d/rln-chain.sqlite"));
}

#[test]
fn half_a_contract_is_refused_by_the_key_that_is_wrong() {
    assert!(load_flags(&WHOLE).is_ok());
    for (at, bad) in [(0, "first.example"), (1, "0x12"), (2, "0")] {
        let mut flags = WHOLE;
        flags[at].1 = bad;
        let error = load_flags(&flags).unwrap_err().to_string();
        assert!(error.contains(flags[at].0), "{error}");
    }
    for missing in 0..WHOLE.len() {
        let mut flags = WHOLE.to_vec();
        let (key, _) = flags.remove(missing);
        let error = load_flags(&flags).unwrap_err().to_string();
        assert!(error.contains(key), "{error}");
    }
}
