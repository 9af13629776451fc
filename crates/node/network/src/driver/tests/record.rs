use k256::ecdsa::VerifyingKey;
use k256::ecdsa::signature::hazmat::PrehashVerifier as _;
use undertone_message::Shard;

use super::*;

/// The example record of EIP-778: its key, and its text form.
const EXAMPLE_KEY: &str = "b71c71a67e1177ad4e901695e1b4b9ee17ae16c6668d313eac2f96dbcda3f291";
const EXAMPLE: &str = "enr:-IS4QHCYrYZbAKWCBRlAy5zzaDZXJBGkcnh4MHcBFZntXNFrdvJjX04jRzjzCBOonrkTfj499SZuOh8R33Ls8RRcy5wBgmlkgnY0gmlwhH8AAAGJc2VjcDI1NmsxoQPKY0yuDUmstAHYpMa2_oxVtw0RW_QAdpzBQA8yWM0xOIN1ZHCCdl8";

const NONE: UdpPorts = UdpPorts { v4: None, v6: None };
const BOTH: UdpPorts = UdpPorts {
    v4: Some(9_000),
    v6: Some(9_001),
};

fn keypair() -> Keypair {
    let mut secret = hex::decode(EXAMPLE_KEY).unwrap();
    let secret = libp2p::identity::secp256k1::SecretKey::try_from_bytes(&mut secret).unwrap();
    libp2p::identity::secp256k1::Keypair::from(secret).into()
}

fn topics(shards: impl IntoIterator<Item = u16>) -> BTreeSet<PubsubTopic> {
    let topic = |index| PubsubTopic::from(Shard { cluster: 1, index });
    shards.into_iter().map(topic).collect()
}

fn addresses(texts: &[&str]) -> Vec<Multiaddr> {
    texts.iter().map(|text| text.parse().unwrap()).collect()
}

#[test]
fn a_record_is_signed_as_the_standards_example_is() {
    let record = NodeRecord::new(&keypair(), Capabilities::RELAY, NONE);
    let signer = record.key.unwrap();
    let content = RecordContent::from([
        (&b"id"[..], b"v4".to_vec()),
        (b"ip", vec![127, 0, 0, 1]),
        (b"secp256k1", signer.public.clone()),
        (b"udp", vec![0x76, 0x5f]),
    ]);
    let ours = signer.sign(1, &content).unwrap();
    let unpack = |uri: &str| URL_SAFE_NO_PAD.decode(&uri[4..]).unwrap();
    let (ours, theirs) = (unpack(&ours), unpack(EXAMPLE));
    // List and signature have prefixes of two bytes each; signatures may differ, the signed content may not.
    let signed_at = 2 + 2 + 64;
    assert_eq!(ours[signed_at..], theirs[signed_at..]);
    let hash = Keccak256::digest(rlp::list(&ours[signed_at..]));
    let verifying = VerifyingKey::from(&signer.secret);
    for record in [&ours, &theirs] {
        let signature = Signature::from_slice(&record[4..signed_at]).unwrap();
        verifying.verify_prehash(&hash, &signature).unwrap();
    }
}

#[test]
fn a_record_says_where_and_which_shards() {
    let listed = addresses(&[
        "/ip4/127.0.0.1/tcp/60000",
        "/ip4/10.1.2.3/tcp/60000",
        "/ip4/10.1.2.3/tcp/8000/ws",
    ]);
    let relay = Capabilities::RELAY;
    let (content, _) = content(relay, BOTH, &listed, 1, &topics([0, 7]));
    assert_eq!(content[&b"udp"[..]], 9_000u16.to_be_bytes());
    assert_eq!(content[&b"ip"[..]], [10, 1, 2, 3]);
    assert_eq!(content[&b"tcp"[..]], 60_000u16.to_be_bytes());
    assert_eq!(content[&b"waku2"[..]], [1]);
    assert_eq!(content[&b"rs"[..]], [0, 1, 2, 0, 0, 0, 7]);
    let ws = listed[2].to_vec();
    let multiaddrs = &content[&b"multiaddrs"[..]];
    assert_eq!(multiaddrs[..2], (ws.len() as u16).to_be_bytes());
    assert_eq!(multiaddrs[2..], ws);
    let short = addresses(&["/ip4/1.2.3.4/tcp/80"]);
    let (port, _) = super::content(relay, NONE, &short, 1, &topics([]));
    assert_eq!(port[&b"tcp"[..]], [80], "no leading zero");
}

#[test]
fn addresses_of_quic_are_written_too_and_those_of_this_host_are_not() {
    let listed = addresses(&[
        "/ip4/127.0.0.1/tcp/60000",
        "/ip4/127.0.0.1/udp/60000/quic-v1",
        "/ip4/10.1.2.3/tcp/60000",
        "/ip4/10.1.2.3/udp/60000/quic-v1",
    ]);
    let (content, left_out) = content(Capabilities::RELAY, NONE, &listed, 1, &topics([0]));
    assert_eq!(content[&b"multiaddrs"[..]], entries(&listed[3..]));
    assert!(left_out.is_empty());
}

#[test]
fn both_families_are_named_with_their_ports() {
    let listed = addresses(&["/ip4/20.0.0.1/tcp/60000", "/ip6/2a01:4f8::2/tcp/60001"]);
    let (content, _) = content(Capabilities::RELAY, BOTH, &listed, 1, &topics(0..8));
    assert_eq!(content[&b"ip"[..]], [20, 0, 0, 1]);
    assert_eq!(content[&b"ip6"[..]][..4], [0x2a, 0x01, 0x04, 0xf8]);
    let ports = [
        (&b"tcp"[..], 60_000u16),
        (b"tcp6", 60_001),
        (b"udp", 9_000),
        (b"udp6", 9_001),
    ];
    for (key, port) in ports {
        assert_eq!(content[key], port.to_be_bytes());
    }
}

#[test]
fn a_long_name_for_browsers_stands_in_the_record_whatever_else_is_left_out() {
    // Relay, two families, eight shards, discv5, QUIC: all that a node at a usual hoster has.
    let told = |length: usize| {
        let name = "n".repeat(length - 8) + ".example";
        addresses(&[
            "/ip4/20.0.0.1/tcp/60000",
            "/ip4/20.0.0.1/tcp/8000/wss",
            "/ip4/20.0.0.1/udp/60000/quic-v1",
            "/ip6/2a01:4f8::2/tcp/60000",
            &format!("/dns4/{name}/tcp/60000"),
            &format!("/dns4/{name}/tcp/8000/wss"),
            &format!("/dns4/{name}/udp/60000/quic-v1"),
        ])
    };
    let written = |told: &[Multiaddr]| content(Capabilities::RELAY, BOTH, told, 1, &topics(0..8));
    for length in 9..=90 {
        let told = told(length);
        let (content, left_out) = written(&told);
        let expected = entries(&told[5..6]);
        let multiaddrs = &content[&b"multiaddrs"[..]];
        assert!(multiaddrs.starts_with(&expected), "{length}: {left_out:?}");
        assert!(!left_out.contains(&told[5]));
        assert!(!left_out.contains(&told[1]), "the name replaces it");
        // Whatever is not in the record is named as left out.
        let has_v6 = content.contains_key(&b"ip6"[..]);
        assert_ne!(has_v6, left_out.contains(&told[3]), "{length}");
        assert!(has_v6 || length > 50, "{length}");
        let record = NodeRecord::new(&keypair(), Capabilities::RELAY, BOTH);
        let uri = record.uri(&told, 1, &topics(0..8)).unwrap();
        let bytes = URL_SAFE_NO_PAD.decode(&uri[4..]).unwrap();
        assert!(bytes.len() <= RECORD_BYTES_MAX, "{}", bytes.len());
    }
    // One that never fits does not push out what does.
    let (content, left_out) = written(&told(200));
    assert!(content.contains_key(&b"ip6"[..]));
    assert!(left_out.contains(&told(200)[5]));
}

#[test]
fn a_bit_vector_of_shards_leaves_no_room_for_the_second_family() {
    let told = addresses(&["/ip4/20.0.0.1/tcp/60000", "/ip6/2a01:4f8::2/tcp/60000"]);
    let record = NodeRecord::new(&keypair(), Capabilities::RELAY, BOTH);
    let uri = record.uri(&told, 1, &topics(0..100)).unwrap();
    let bytes = URL_SAFE_NO_PAD.decode(&uri[4..]).unwrap();
    assert!(bytes.len() <= RECORD_BYTES_MAX, "{}", bytes.len());
    assert_eq!(*record.left_out.borrow(), told[1..]);
}

/// Addresses as the key `multiaddrs` has them.
fn entries(listed: &[Multiaddr]) -> Vec<u8> {
    let entry = |address: &Multiaddr| {
        let bytes = address.to_vec();
        [(bytes.len() as u16).to_be_bytes().to_vec(), bytes].concat()
    };
    listed.iter().flat_map(entry).collect()
}

#[test]
fn many_shards_are_bits() {
    let (key, value) = shards_value(258, &(0..64).collect());
    assert_eq!((key, value.len()), (&b"rsv"[..], 130));
    assert_eq!(value[..2], [1, 2]);
    assert_eq!(value[2..10], [255; 8]);
    assert!(value[10..].iter().all(|b| *b == 0));
    // The first shard of a byte is its lowest bit, as in the reference node's records.
    let (_, value) = shards_value(258, &(1..=64).collect());
    assert_eq!((value[2], value[10]), (0b1111_1110, 0b0000_0001));
    assert_eq!(shards_value(1, &(0..63).collect()).0, b"rs");
}

#[test]
fn a_record_stays_within_its_length_and_keeps_its_number_while_nothing_changes() {
    let record = NodeRecord::new(&keypair(), Capabilities::RELAY, NONE);
    let many: Vec<_> = (1..20)
        .map(|i| format!("/ip4/10.0.0.{i}/tcp/8000/ws"))
        .collect();
    let many = addresses(&many.iter().map(String::as_str).collect::<Vec<_>>());
    let uri = |shards| record.uri(&many, 1, &topics(shards)).unwrap();
    let first = uri(0..8);
    let bytes = URL_SAFE_NO_PAD.decode(&first[4..]).unwrap();
    assert!(bytes.len() <= RECORD_BYTES_MAX, "{}", bytes.len());
    assert_eq!(uri(0..8), first);
    let number = || record.last.borrow().as_ref().unwrap().sequence;
    let before = number();
    assert_ne!(uri(0..3), first);
    assert!(number() > before);
}

#[test]
fn keys_of_other_kinds_have_no_record() {
    let record = NodeRecord::new(&Keypair::generate_ed25519(), Capabilities::RELAY, NONE);
    assert_eq!(record.uri(&[], 1, &topics([0])), None);
}

#[test]
fn a_port_that_a_router_has_opened_is_in_the_record_that_discv5_signs() {
    let record = NodeRecord::new(&keypair(), Capabilities::RELAY, BOTH);
    let port_of = |listed: &[&str]| {
        let values = record.values(&addresses(listed), 1, &topics([0]));
        let port = values.into_iter().find(|(key, _)| *key == b"tcp");
        port.map(|(_, port)| port)
    };
    let before = ["/ip4/127.0.0.1/tcp/60000", "/ip4/192.168.1.2/tcp/60000"];
    assert_eq!(port_of(&before), Some(60_000u16.to_be_bytes().to_vec()));
    let opened = [before[0], before[1], "/ip4/20.0.0.1/tcp/41000"];
    assert_eq!(port_of(&opened), Some(41_000u16.to_be_bytes().to_vec()));
    assert_eq!(port_of(&["/ip4/20.0.0.1/tcp/8000/ws"]), None);
}
