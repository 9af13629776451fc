use std::collections::BTreeSet;

use libp2p::identity::Keypair;
use undertone_discovery::discv5::UdpPorts;
use undertone_peers::Capabilities;

use super::*;
use undertone_network::driver::NodeRecord;

/// Record of a new node of `cluster` as its bytes on the wire.
fn record(cluster: u16) -> Bytes {
    let node = NodeRecord::new(
        &Keypair::generate_secp256k1(),
        Capabilities::RELAY,
        UdpPorts::default(),
    );
    let text = node.uri(&[], cluster, &BTreeSet::new());
    let text = text.expect("a key of secp256k1 signs records");
    WakuRecord::parse(&text).expect("signed above").to_rlp()
}

#[test]
fn records_of_other_clusters_forged_ones_and_noise_are_passed_over() {
    let teller = Keypair::generate_ed25519().public().to_peer_id();
    let good = record(1);
    let mut forged = record(1).to_vec();
    if let Some(last) = forged.last_mut() {
        *last ^= 1;
    }
    let enrs = [
        record(2),
        Bytes::from(forged),
        Bytes::from_static(b"no record"),
        Bytes::new(),
        good.clone(),
    ];
    let records = read_records(teller, &enrs, 1);
    let read: Vec<_> = records.iter().map(WakuRecord::to_rlp).collect();
    assert_eq!(read, [good]);
}
