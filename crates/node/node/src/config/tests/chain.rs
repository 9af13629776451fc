//! Tests of the keys of the membership contract.

use undertone_membership::evm::{Contract, Mode};

use super::*;

const FIRST: &str = "https://first.example/key";
const ADDRESS: &str = "0xB9cd878C90E49F797B4431fBF4fb333108CB90e6";

/// All keys that a contract requires.
pub(super) const WHOLE: [(&str, &str); 3] = [
    ("rln-eth-rpc", FIRST),
    ("rln-eth-contract", ADDRESS),
    ("rln-eth-chain-id", "2"),
];

/// A value for `key` that differs from the one in [`WHOLE`].
pub(super) fn other(key: &str) -> &'static str {
    match key {
        "rln-eth-rpc" => "http://a.example,ws://b.example",
        "rln-eth-contract" => "0xc9cd878c90e49f797b4431fbf4fb333108cb90e7",
        "rln-eth-chain-id" => "1",
        "rln-eth-mode" => "light",
        _ => "file",
    }
}

#[test]
fn without_an_endpoint_the_registry_is_a_file() {
    assert_eq!(load_file("").unwrap().rln.unwrap().chain, None);
}

#[test]
fn a_network_on_a_chain_needs_an_endpoint_and_knows_its_contract() {
    let network = ("network", "twn");
    let error = load_flags(&[network]).unwrap_err().to_string();
    assert!(error.contains("rln-eth-rpc"), "{error}");
    assert!(error.contains("chain 59141"), "{error}");
    assert!(error.contains("rln=false"), "{error}");
    let with_endpoint = load_flags(&[network, ("rln-eth-rpc", FIRST)]).unwrap();
    let chain = with_endpoint.rln.unwrap().chain.unwrap();
    let contract = Contract {
        chain_id: 59141,
        address: ADDRESS.parse().unwrap(),
    };
    assert_eq!(chain.contract, contract);
    let of_one_s_own = [
        network,
        WHOLE[0],
        ("rln-eth-contract", other("rln-eth-contract")),
        WHOLE[2],
    ];
    let chain = load_flags(&of_one_s_own)
        .unwrap()
        .rln
        .unwrap()
        .chain
        .unwrap();
    assert_eq!(chain.contract.chain_id, 2);
    for remedy in [
        ("rln", "false"),
        ("relay", "false"),
        ("rln-registry", "/tmp/registry.sqlite"),
        ("cluster-id", "7"),
    ] {
        let config = load_flags(&[network, remedy]);
        let rln = config
            .unwrap_or_else(|error| panic!("{remedy:?}: {error}"))
            .rln;
        assert!(rln.is_none_or(|rln| rln.chain.is_none()), "{remedy:?}");
    }
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
fn light_mode_has_a_file_of_its_own_and_tokens_that_keep_up() {
    let config = load_flags(&WHOLE).unwrap().rln.unwrap();
    assert_eq!(config.chain.unwrap().mode, Mode::Full);
    assert_eq!(config.tokens.refresh_roots, 25);
    let mut flags = WHOLE.to_vec();
    flags.push(("rln-eth-mode", "light"));
    let config = load_flags(&flags).unwrap().rln.unwrap();
    let chain = config.chain.unwrap();
    assert_eq!(chain.mode, Mode::Light);
    assert!(chain.store.ends_with("rln-chain-light.sqlite"));
    assert_eq!(config.tokens.refresh_roots, 1);
    flags.push(("rln-tokens-refresh", "7"));
    let config = load_flags(&flags).unwrap().rln.unwrap();
    assert_eq!(config.tokens.refresh_roots, 7);
}

#[test]
fn another_mode_is_refused_with_its_place_and_the_choice() {
    let error = load_file("rln-eth-mode = \"lite\"")
        .unwrap_err()
        .to_string();
    for part in ["rln-eth-mode", "lite", "full or light", ":1"] {
        assert!(error.contains(part), "{error}");
    }
    let mut flags = WHOLE.to_vec();
    flags.push(("rln-eth-mode", "lite"));
    let error = load_flags(&flags).unwrap_err().to_string();
    for part in ["--rln-eth-mode", "lite", "full or light"] {
        assert!(error.contains(part), "{error}");
    }
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
