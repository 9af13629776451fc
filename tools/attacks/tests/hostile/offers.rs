//! A peer that is asked for the records of others (peer exchange) and answers with a megabyte, with records that are
//! not signed, and with forty nodes at the address of one victim, among them one honest node.

use std::net::Ipv4Addr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use bytes::Bytes;
use enr::{CombinedKey, Enr};
use tokio::net::TcpListener;
use undertone_attacks::ProcessLook;
use undertone_attacks::node::{Node, NodeSpec, wait_until};
use undertone_attacks::raw::RawExchange;
use undertone_services::peer_exchange::{PeerExchangeResponse, PeerExchangeStatus};

use crate::support::program;

/// Address of the node that asks, of the peer that answers, and of the honest node.
const ASKING_IP: Ipv4Addr = Ipv4Addr::new(127, 0, 9, 1);
const LYING_IP: Ipv4Addr = Ipv4Addr::new(127, 0, 9, 2);
const HONEST_IP: Ipv4Addr = Ipv4Addr::new(127, 0, 9, 4);

/// Cluster of the network `local`, and another.
const CLUSTER: u8 = 66;
const OTHER_CLUSTER: u8 = 67;

/// Time for dials of the victim, and the shortest time between two to one host.
const DIALS_FOR: Duration = Duration::from_secs(12);
const HOST_PAUSE: Duration = Duration::from_secs(5);

/// Longest time for two questions, between which a node waits for 10 s.
const PATIENCE: Duration = Duration::from_secs(60);

/// Address of this machine that is not of loopback, whose nodes share one address in all tests and have no bounds.
async fn outer_address() -> Ipv4Addr {
    let socket = tokio::net::UdpSocket::bind("0.0.0.0:0").await.unwrap();
    // Chooses an address to send from, and sends nothing.
    let found = socket.connect("198.51.100.1:9").await;
    let address = found.and_then(|()| socket.local_addr());
    match address.map(|address| address.ip()) {
        Ok(std::net::IpAddr::V4(ip)) if !ip.is_loopback() => ip,
        other => {
            panic!("this test needs an IPv4 address besides loopback's, and a route: {other:?}")
        }
    }
}

/// Record of a node that nobody runs, at an address and on shard 0 of a cluster.
fn record(ip: Ipv4Addr, port: u16, cluster: u8) -> Bytes {
    let mut builder = Enr::builder();
    let shards = [0, cluster, 1, 0, 0];
    builder
        .ip4(ip)
        .tcp4(port)
        .add_value("rs", &shards.as_slice());
    let record = builder.build(&CombinedKey::generate_secp256k1());
    raw(&record.expect("it is shorter than 300 bytes").to_base64())
}

/// Bytes of a record from its text.
fn raw(text: &str) -> Bytes {
    let text = text.trim_start_matches("enr:");
    URL_SAFE_NO_PAD
        .decode(text)
        .expect("a record in base64")
        .into()
}

/// A record that was changed after it was signed.
fn forged(ip: Ipv4Addr, port: u16) -> Bytes {
    let mut bytes = record(ip, port, CLUSTER).to_vec();
    if let Some(last) = bytes.last_mut() {
        *last ^= 1;
    }
    bytes.into()
}

fn answer(enrs: Vec<Bytes>) -> Vec<u8> {
    let answer = PeerExchangeResponse {
        enrs,
        status: PeerExchangeStatus::OK,
        status_desc: None,
        skipped: 0,
    };
    answer.encode()
}

async fn node(folder: &std::path::Path, name: &str, ip: Ipv4Addr, more: &[String]) -> Node {
    let mut flags: Vec<_> = [
        "--network=local",
        "--cluster-id=66",
        "--rln=false",
        "--shards=0",
    ]
    .map(str::to_owned)
    .into();
    flags.extend(more.iter().cloned());
    let spec = NodeSpec {
        program: program(),
        name: name.to_owned(),
        folder: folder.to_owned(),
        ip,
        flags,
    };
    Node::start(spec).await.unwrap()
}

#[tokio::test]
async fn answers_of_peer_exchange_that_lie_make_no_attacker_of_the_node() {
    let folder = tempfile::tempdir().unwrap();
    let discovers = ["--discv5-discovery=true", "--discv5-udp-port=0"].map(str::to_owned);
    let honest = node(folder.path(), "honest", HONEST_IP, &discovers).await;
    let (_, info) = honest.ask("GET", "/debug/v1/info", None).await.unwrap();
    let info: serde_json::Value = serde_json::from_str(&info).unwrap();
    let honest_record = raw(info["enrUri"].as_str().expect("the node has a record"));

    let victims_ip = outer_address().await;
    let victim = TcpListener::bind((victims_ip, 0)).await.unwrap();
    let victims_port = victim.local_addr().unwrap().port();
    let dialled = Arc::new(AtomicU64::new(0));
    let counts = Arc::clone(&dialled);
    tokio::spawn(async move {
        while let Ok((stream, _)) = victim.accept().await {
            counts.fetch_add(1, Ordering::Relaxed);
            drop(stream);
        }
    });

    let victims = |cluster| record(victims_ip, victims_port, cluster);
    let mut offered: Vec<_> = (0..40).map(|_| victims(CLUSTER)).collect();
    offered.extend((0..10).map(|_| forged(victims_ip, victims_port)));
    // Of another cluster, no record, and longer than a record may be.
    let too_long = Bytes::from(vec![0xf8; 301]);
    offered.extend([
        victims(OTHER_CLUSTER),
        Bytes::from_static(b"\xc0"),
        too_long,
    ]);
    offered.push(honest_record);
    let answers = vec![vec![0x5a; 1 << 20], answer(offered)];
    let liar = RawExchange::start(answers, LYING_IP).await.unwrap();
    let asks = format!("--peer-exchange-node={}", liar.addr());
    let asking = node(folder.path(), "asking", ASKING_IP, &[asks]).await;
    let pid = asking.pid().expect("it runs");

    let warning = "a peer answered peer exchange with something else than records";
    let warned = wait_until(PATIENCE, || async { asking.log().contains(warning) }).await;
    assert!(warned, "no warning; {}", asking.state().await);
    let before_mib = ProcessLook::at(pid).memory_mib;
    let began = Instant::now();
    let honest_id = honest.peer_id();
    let found = asking.wait_peers(PATIENCE, |peers| peers.contains_key(&honest_id));
    assert!(found.await, "{}", asking.state().await);
    tokio::time::sleep(DIALS_FOR).await;
    let dials = dialled.load(Ordering::Relaxed);
    let dials_max = 1 + began.elapsed().as_secs() / HOST_PAUSE.as_secs();
    assert!(
        (1..=dials_max).contains(&dials),
        "{dials} dials of the victim, at most {dials_max} expected; {}",
        asking.state().await
    );
    let after_mib = ProcessLook::at(pid).memory_mib;
    assert!(
        after_mib < before_mib + 16.0,
        "{before_mib}, then {after_mib} MiB"
    );
}
