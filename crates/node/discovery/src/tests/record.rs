use bytes::Bytes;
use enr::{CombinedKey, Enr as SignedRecord};

use super::*;

fn key() -> CombinedKey {
    let mut secret = [7; 32];
    CombinedKey::secp256k1_from_bytes(&mut secret).expect("a secret below the curve's order")
}

fn with(values: &[(&str, Vec<u8>)]) -> WakuRecord {
    let mut builder = SignedRecord::builder();
    for (key, value) in values {
        builder.add_value(key, &Bytes::from(value.clone()));
    }
    builder.ip4([20, 0, 0, 1].into()).tcp4(60_000).udp4(9_000);
    let enr = builder.build(&key()).expect("it is shorter than 300 bytes");
    WakuRecord::parse(&enr.to_base64()).expect("it was signed above")
}

#[test]
fn the_identity_is_that_of_libp2p() {
    // The key of EIP-778's example; the identity was computed by libp2p from the same key.
    let record = WakuRecord::parse(EXAMPLE).expect("EIP-778's example");
    assert_eq!(
        record.peer().to_string(),
        "16Uiu2HAmSH2XVgZqYHWucap5kuPzLnt2TsNQkoppVxB5eJGvaXwm"
    );
    assert_eq!(record.addresses(), [] as [Multiaddr; 0], "it has UDP only");
    assert_eq!(record.udp(), Some(([127, 0, 0, 1], 30_303).into()));
}

const EXAMPLE: &str = "enr:-IS4QHCYrYZbAKWCBRlAy5zzaDZXJBGkcnh4MHcBFZntXNFrdvJjX04jRzjzCBOonrkTfj499SZuOh8R33Ls8RRcy5wBgmlkgnY0gmlwhH8AAAGJc2VjcDI1NmsxoQPKY0yuDUmstAHYpMa2_oxVtw0RW_QAdpzBQA8yWM0xOIN1ZHCCdl8";

#[test]
fn shards_are_read_from_both_forms() {
    let listed = with(&[("rs", vec![0, 16, 2, 0, 3, 1, 1]), ("waku2", vec![0b1101])]);
    let facts = listed.facts();
    assert_eq!(facts.cluster, Some(16));
    assert_eq!(facts.shards, Some(vec![3, 257]));
    assert!(facts.offers(Capabilities::RELAY));
    assert!(facts.offers(Capabilities::FILTER.union(Capabilities::LIGHTPUSH)));
    assert!(!facts.offers(Capabilities::STORE));

    let mut bits = vec![0, 1];
    bits.extend([0u8; 128]);
    bits[2] = 0b0000_1001;
    bits[129] = 0b1000_0000;
    let facts = with(&[("rsv", bits)]).facts();
    assert_eq!(facts.cluster, Some(1));
    assert_eq!(facts.shards, Some(vec![0, 3, 1_023]));
}

#[test]
fn malformed_values_count_as_unknown() {
    for value in [
        vec![],
        vec![0],
        vec![0, 1],
        vec![0, 1, 2, 0, 3],
        vec![0, 1, 1, 0, 3, 9],
    ] {
        let facts = with(&[("rs", value.clone())]).facts();
        assert_eq!((facts.cluster, facts.shards), (None, None), "{value:?}");
    }
    let facts = with(&[("rsv", vec![0; 129])]).facts();
    assert_eq!(facts.cluster, None);
}

#[test]
fn more_addresses_are_read_until_the_first_defect() {
    let websocket: Multiaddr = "/dns4/node.example.org/tcp/443/wss"
        .parse()
        .expect("an address");
    let bytes = websocket.to_vec();
    let mut value = (bytes.len() as u16).to_be_bytes().to_vec();
    value.extend(&bytes);
    let plain: Multiaddr = "/ip4/20.0.0.1/tcp/60000".parse().expect("an address");
    let whole = with(&[("multiaddrs", value.clone())]);
    assert_eq!(whole.addresses(), [plain.clone(), websocket.clone()]);
    value.extend([0xff, 0xff, 1]);
    let broken = with(&[("multiaddrs", value)]);
    assert_eq!(broken.addresses(), [plain, websocket]);
}

#[test]
fn texts_that_are_no_records_are_refused_with_their_defect() {
    let forged = EXAMPLE.replace("IS4QHCY", "IS4QHCZ");
    for text in ["", "enr:", "enr:abc", "node", &forged] {
        let error = WakuRecord::parse(text).expect_err("no record");
        assert!(
            error.to_string().starts_with("not a signed node record"),
            "{text}: {error}"
        );
    }
}

#[test]
fn the_wire_form_decodes_to_the_same_record() {
    let record = with(&[("rs", vec![0, 1, 1, 0, 0])]);
    let rlp = record.to_rlp();
    assert!(rlp.len() <= 300 && rlp.len() > 100);
    assert_eq!(WakuRecord::from_rlp(&rlp), Ok(record));
    assert!(WakuRecord::from_rlp(&rlp[1..]).is_err());
    assert!(WakuRecord::from_rlp(&[0; 10_000]).is_err());
}
