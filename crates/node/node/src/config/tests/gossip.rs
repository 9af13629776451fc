//! Tests of the keys of the router.

use super::*;

#[test]
fn another_strategy_brings_its_protocol_id() {
    let (_dir, sources) = with_file("[gossip]\nstrategy = \"staggered\"\nfragment-bytes = 20000");
    let config = NodeConfig::load(&sources).unwrap();
    let both = ["/undertone/relay-large/1.0.0", "/vac/waku/relay/2.0.0"];
    assert_eq!(config.protocols, both);
    assert_eq!(config.gossip.fragment_bytes, Some(20_000));
    let (_dir, sources) = with_file("[gossip]\nstrategy = \"eager-mesh\"");
    assert_eq!(NodeConfig::load(&sources).unwrap().protocols, both[1..]);
    for wrong in ["strategy = \"faster\"", "fragment-bytes = 999"] {
        let (_dir, sources) = with_file(&format!("[gossip]\n{wrong}"));
        let error = NodeConfig::load(&sources).unwrap_err().to_string();
        assert!(error.contains("gossip."), "{error}");
    }
}
