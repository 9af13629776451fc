//! A tree that is read from a name server over UDP.

use std::collections::BTreeMap;
use std::net::Ipv4Addr;

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use data_encoding::BASE32_NOPAD;
use enr::{CombinedKey, Enr as SignedRecord};
use k256::ecdsa::signature::hazmat::PrehashSigner as _;
use k256::ecdsa::{Signature, SigningKey};
use sha3::{Digest as _, Keccak256};
use tokio::net::UdpSocket;
use tokio::time::timeout;

use super::*;

const DOMAIN: &str = "nodes.example.org";

fn record(number: u8, cluster: u8) -> String {
    let mut secret = [number; 32];
    let key = CombinedKey::secp256k1_from_bytes(&mut secret).expect("a secret");
    SignedRecord::builder()
        .ip4(Ipv4Addr::new(20, 0, 0, number))
        .tcp4(60_000)
        .add_value("rs", &[0, cluster, 1, 0, 0].as_slice())
        .build(&key)
        .expect("a short record")
        .to_base64()
}

/// A signed tree with these records, and the name by which it is read.
fn publish(records: &[String]) -> (BTreeMap<String, String>, TreeUrl) {
    let signer = SigningKey::from_slice(&[9; 32]).expect("a secret");
    let mut zone = BTreeMap::new();
    let mut add = |text: String| {
        let label = BASE32_NOPAD.encode(&Keccak256::digest(&text)[..16]);
        zone.insert(format!("{label}.{DOMAIN}").to_ascii_lowercase(), text);
        label
    };
    let leaves: Vec<String> = records.iter().cloned().map(&mut add).collect();
    let nodes = add(format!("enrtree-branch:{}", leaves.join(",")));
    let links = add("enrtree-branch:".into());
    let signed = format!("enrtree-root:v1 e={nodes} l={links} seq=1");
    let signature: Signature = signer
        .sign_prehash(&Keccak256::digest(&signed))
        .expect("a hash of 32 bytes");
    let signature = [&signature.to_bytes()[..], &[0]].concat();
    let signature = URL_SAFE_NO_PAD.encode(signature);
    zone.insert(DOMAIN.into(), format!("{signed} sig={signature}"));
    let key = signer.verifying_key().to_sec1_point(true);
    let key = BASE32_NOPAD.encode(key.as_bytes());
    let url = TreeUrl::parse(&format!("enrtree://{key}@{DOMAIN}")).expect("a key and a domain");
    (zone, url)
}

/// Answers TXT questions from a zone, with texts split into parts of at most 100 bytes.
async fn serve(socket: UdpSocket, zone: BTreeMap<String, String>) {
    let mut question = [0; 1_500];
    loop {
        let (len, from) = socket.recv_from(&mut question).await.expect("a datagram");
        let (mut at, mut labels) = (12, Vec::new());
        while question[at] != 0 {
            let end = at + 1 + usize::from(question[at]);
            labels.push(String::from_utf8_lossy(&question[at + 1..end]).to_ascii_lowercase());
            at = end;
        }
        let asked = &question[12..at + 5];
        let text = zone.get(&labels.join("."));
        // The id of the question; an answer; a name that exists, or does not.
        let mut answer = question[..2].to_vec();
        answer.extend([0x84, if text.is_some() { 0 } else { 3 }]);
        answer.extend([0, 1, 0, u8::from(text.is_some()), 0, 0, 0, 0]);
        answer.extend(asked);
        if let Some(text) = text {
            let parts: Vec<u8> = text
                .as_bytes()
                .chunks(100)
                .flat_map(|part| [&[part.len() as u8], part].concat())
                .collect();
            // The name of the question, TXT, IN, a minute to live.
            answer.extend([0xc0, 12, 0, 16, 0, 1, 0, 0, 0, 60]);
            answer.extend((parts.len() as u16).to_be_bytes());
            answer.extend(parts);
        }
        assert!(len >= 12);
        socket.send_to(&answer, from).await.expect("it is sent");
    }
}

#[tokio::test]
async fn nodes_of_our_cluster_are_read_from_a_name_server() {
    let records = [record(1, 16), record(2, 16), record(3, 17)];
    let (zone, tree) = publish(&records);
    let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))
        .await
        .expect("a free port");
    let name_server = socket.local_addr().expect("it is bound");
    tokio::spawn(serve(socket, zone));
    let mut records_found = start(DnsConfig {
        trees: vec![tree],
        name_servers: vec![name_server],
        cluster: 16,
        seed: [1; 32],
    })
    .expect("a name server is named");
    let mut found = Vec::new();
    for _ in 0..2 {
        let record = timeout(Duration::from_secs(60), records_found.recv()).await;
        found.push(record.expect("it is found").expect("reading goes on"));
    }
    let mut peers: Vec<_> = found.iter().map(WakuRecord::peer).collect();
    peers.sort();
    let mut expected: Vec<_> = records[..2]
        .iter()
        .map(|text| WakuRecord::parse(text).expect("signed above").peer())
        .collect();
    expected.sort();
    assert_eq!(peers, expected);
}
