use undertone_node::config::Sources;

use super::*;

fn config(flags: &[(&str, &str)]) -> NodeConfig {
    let owned = |(key, value): &(&str, &str)| ((*key).to_owned(), (*value).to_owned());
    let sources = Sources {
        flags: flags.iter().map(owned).collect(),
        ..Sources::default()
    };
    NodeConfig::load(&sources).unwrap()
}

#[test]
fn an_attacker_runs_where_nothing_real_is_reached_and_nowhere_else() {
    let local = config(&[("network", "local")]);
    assert_eq!(check(&local, Vec::new()), Ok(()));
    let refused = check(&local, vec!["eth0".to_owned()]);
    let refused = refused.unwrap_err().to_string();
    assert!(refused.contains("eth0"), "{refused}");
    let real = config(&[("network", "twn"), ("rln", "false")]);
    let refused = check(&real, Vec::new()).unwrap_err().to_string();
    assert!(refused.contains("--network local"), "{refused}");
    let on_chain = config(&[
        ("network", "local"),
        (
            "rln-eth-contract",
            "0x0000000000000000000000000000000000000001",
        ),
        ("rln-eth-rpc", "http://127.0.0.1:1"),
        ("rln-eth-chain-id", "1"),
    ]);
    let refused = check(&on_chain, Vec::new()).unwrap_err().to_string();
    assert!(refused.contains("deposits"), "{refused}");
}
