use std::collections::BTreeSet;
use std::net::{Ipv4Addr, Ipv6Addr};
use std::time::Duration;

use enr::Enr as SignedRecord;
use multiaddr::PeerId;
use tokio::time::timeout;
use undertone_peers::{Capabilities, PeerFacts};

use super::lookup::{fits, is_news};
use super::*;

/// Deadline for what takes a second at most on a machine with nothing else to do.
const DEADLINE: Duration = Duration::from_secs(60);

struct Node {
    service: Discv5Service,
    offers: mpsc::Receiver<PeerOffer>,
    peer: PeerId,
}

fn secret(number: u8) -> [u8; 32] {
    let mut secret = [1; 32];
    secret[31] = number;
    secret
}

fn record(number: u8, port: u16, cluster: u8) -> String {
    record_of_sequence(1, number, port, cluster)
}

fn record_of_sequence(sequence: u64, number: u8, port: u16, cluster: u8) -> String {
    let key = CombinedKey::secp256k1_from_bytes(&mut secret(number)).expect("a secret");
    SignedRecord::builder()
        .seq(sequence)
        .ip4(Ipv4Addr::LOCALHOST)
        .udp4(port)
        .tcp4(port)
        .add_value("waku2", &[1u8].as_slice())
        .add_value("rs", &[0, cluster, 1, 0, 0].as_slice())
        .build(&key)
        .expect("a short record")
        .to_base64()
}

fn sockets_at(ip: impl Into<IpAddr>) -> Discv5Sockets {
    bind(&[ip.into()], 0).expect("a free port")
}

async fn node(number: u8, cluster: u8, bootstrap: Vec<WakuRecord>) -> Node {
    let sockets = sockets_at(Ipv4Addr::LOCALHOST);
    let port = sockets.ports().v4.expect("it is bound");
    let record = record(number, port, cluster);
    node_with_record(number, cluster, bootstrap, sockets, record).await
}

async fn node_with_record(
    number: u8,
    cluster: u8,
    bootstrap: Vec<WakuRecord>,
    sockets: Discv5Sockets,
    record: String,
) -> Node {
    let peer = WakuRecord::parse(&record).expect("signed above").peer();
    let config = Discv5Config {
        secret: secret(number),
        record,
        sockets,
        bootstrap,
        cluster: u16::from(cluster),
        shards: vec![0],
        allows_private: true,
    };
    let (service, offers) = Discv5Service::start(config).await.expect("a free port");
    Node {
        service,
        offers,
        peer,
    }
}

/// Peers that a node is offered until it has heard of all `wanted`.
async fn hears_of(node: &mut Node, wanted: &BTreeSet<PeerId>) -> BTreeSet<PeerId> {
    let mut heard = BTreeSet::new();
    let hearing = async {
        while !wanted.is_subset(&heard) {
            node.service.look();
            let wait = timeout(Duration::from_millis(200), node.offers.recv()).await;
            if let Ok(Some(offer)) = wait {
                heard.insert(offer.peer);
            }
        }
    };
    timeout(DEADLINE, hearing)
        .await
        .expect("every node is found");
    heard
}

#[tokio::test(flavor = "multi_thread")]
async fn nodes_find_each_other_from_one_record_and_other_clusters_are_not_offered() {
    let first = node(1, 16, Vec::new()).await;
    let begin = vec![WakuRecord::parse(&first.service.record().borrow()).expect("its own record")];
    let mut nodes = Vec::new();
    for number in 2..8 {
        nodes.push(node(number, 16, begin.clone()).await);
    }
    let stranger = node(8, 17, begin).await;
    let all: BTreeSet<_> = nodes.iter().map(|node| node.peer).collect();
    for node in &mut nodes {
        let mut others = all.clone();
        others.remove(&node.peer);
        others.insert(first.peer);
        let heard = hears_of(node, &others).await;
        assert!(!heard.contains(&stranger.peer), "it is of cluster 17");
        assert!(!heard.contains(&node.peer), "it is itself");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn new_content_of_the_record_gets_a_new_sequence_number() {
    let node = node(20, 16, Vec::new()).await;
    let before = WakuRecord::parse(&node.service.record().borrow()).expect("its own record");
    let content: RecordValues = vec![(b"rs", vec![0, 16, 1, 0, 5])];
    node.service.set_content(content.clone());
    let changed = async {
        loop {
            let now = WakuRecord::parse(&node.service.record().borrow()).expect("its own record");
            if now.facts().shards == Some(vec![5]) {
                return now;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    let after = timeout(DEADLINE, changed).await.expect("it is updated");
    assert!(after.sequence() > before.sequence());
    node.service.set_content(content);
    tokio::time::sleep(Duration::from_millis(100)).await;
    let again = WakuRecord::parse(&node.service.record().borrow()).expect("its own record");
    assert_eq!(again.sequence(), after.sequence(), "nothing is new");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_record_names_another_address_when_the_host_loses_the_one_that_it_names() {
    let node = node(21, 16, Vec::new()).await;
    let mut record = node.service.record();
    let before = WakuRecord::parse(&record.borrow_and_update()).expect("its own record");
    let (old, new) = (IpAddr::from(Ipv4Addr::LOCALHOST), [198, 51, 100, 7].into());
    // Repeated, because the service may see only the second of two changes in quick succession.
    let moving = async {
        while !record.has_changed().expect("it runs") {
            for addresses in [vec![old], vec![new]] {
                node.service.set_addresses(addresses);
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        }
    };
    timeout(DEADLINE, moving).await.expect("the record changes");
    let after = WakuRecord::parse(&record.borrow_and_update()).expect("its own record");
    let udp = before.udp().expect("it has one");
    assert_eq!(after.udp(), Some(SocketAddr::new(new, udp.port())));
    assert_eq!(after.addresses().len(), before.addresses().len());
    assert!(after.sequence() > before.sequence());
}

#[tokio::test]
async fn a_port_in_use_and_a_foreign_record_are_named() {
    let taken = std::net::UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port");
    let listen = taken.local_addr().expect("it is bound");
    let error = bind(&[listen.ip()], listen.port()).expect_err("in use");
    assert!(error.to_string().contains(&listen.to_string()), "{error}");
    let foreign = Discv5Config {
        secret: secret(31),
        record: record(30, 1, 16),
        sockets: sockets_at(Ipv4Addr::LOCALHOST),
        bootstrap: Vec::new(),
        cluster: 16,
        shards: Vec::new(),
        allows_private: true,
    };
    let error = Discv5Service::start(foreign)
        .await
        .expect_err("another key");
    assert!(matches!(error, Discv5Error::Key), "{error}");
}

#[tokio::test]
async fn bootstrap_nodes_are_in_the_table_as_configured_while_no_node_answers() {
    let listen = ListenConfig::FromSockets {
        ipv4: sockets_at(Ipv4Addr::LOCALHOST).ipv4.map(Arc::new),
        ipv6: None,
    };
    let own = WakuRecord::parse(&record(40, 9000, 16)).expect("signed above");
    let key = || CombinedKey::secp256k1_from_bytes(&mut secret(40)).expect("a secret");
    let config = ConfigBuilder::new(listen).build();
    let bootstrap = WakuRecord::parse(&record(41, 9001, 16)).expect("signed above");
    let (offers, _offered) = mpsc::channel(OFFERS_MAX);
    let task = LookupTask::new(LookupParts {
        discv5: Discv5::new(own.enr().clone(), key(), config).expect("its own key"),
        signing: key(),
        bootstrap: vec![bootstrap.clone()],
        cluster: 16,
        shards: Arc::default(),
        offers,
        record: watch::channel(String::new()).0,
        known: watch::channel(Vec::new()).0,
    });
    let table = || task.discv5().table_entries_enr();
    assert_eq!(table(), [bootstrap.enr().clone()]);
    task.begin_again();
    assert_eq!(table(), [bootstrap.enr().clone()]);
    task.discv5().remove_node(&bootstrap.enr().node_id());
    assert!(table().is_empty());
    task.begin_again();
    assert_eq!(table(), [bootstrap.enr().clone()]);
    let moved = WakuRecord::parse(&record_of_sequence(2, 41, 9002, 16)).expect("signed above");
    let added = task.discv5().add_enr(moved.enr().clone());
    added.expect("it is newer");
    assert_eq!(table(), [moved.enr().clone()]);
    task.begin_again();
    assert_eq!(table(), [bootstrap.enr().clone()]);
}

#[tokio::test]
async fn keys_that_are_left_out_leave_the_record() {
    let node = node(7, 16, Vec::new()).await;
    let mut record = node.service.record();
    let mut set = async |content: RecordValues| {
        node.service.set_content(content);
        let changed = timeout(DEADLINE, record.changed()).await;
        changed.expect("the record changes").expect("it runs");
        let text = record.borrow_and_update().clone();
        WakuRecord::parse(&text)
            .expect("it is signed")
            .enr()
            .clone()
    };
    let has = |enr: &Enr, key: &str| enr.get_raw_rlp(key).is_some();
    let many = vec![0; 130];
    let enr = set(vec![(b"waku2", vec![1]), (b"rsv", many)]).await;
    assert!(has(&enr, "rsv") && !has(&enr, "rs"), "{enr}");
    let before = enr.seq();
    let enr = set(vec![(b"waku2", vec![1]), (b"rs", vec![0, 16, 1, 0, 3])]).await;
    assert!(has(&enr, "rs") && !has(&enr, "rsv"), "{enr}");
    assert!(enr.seq() > before);
    assert!(has(&enr, "ip") && has(&enr, "udp") && has(&enr, "waku2"));
}

#[test]
fn nodes_in_private_networks_and_on_this_host_are_not_asked_unless_allowed() {
    let at = |ip: [u8; 4]| {
        let key = CombinedKey::secp256k1_from_bytes(&mut secret(1)).expect("a secret");
        let built = SignedRecord::builder()
            .ip4(Ipv4Addr::from(ip))
            .udp4(9000)
            .add_value("waku2", &[1u8].as_slice())
            .build(&key);
        built.expect("a short record")
    };
    for ip in [
        [127, 0, 0, 1],
        [10, 0, 0, 1],
        [192, 168, 1, 1],
        [169, 254, 0, 1],
    ] {
        assert!(!is_public_waku(&at(ip)), "{ip:?}");
        assert!(is_waku(&at(ip)), "{ip:?}");
    }
    assert!(is_public_waku(&at([20, 0, 0, 1])));
}

#[test]
fn a_record_that_another_source_found_replaces_no_newer_one() {
    let signed = |sequence: u64| {
        let key = CombinedKey::secp256k1_from_bytes(&mut secret(2)).expect("a secret");
        let built = SignedRecord::builder().seq(sequence).build(&key);
        WakuRecord::from_enr(built.expect("a short record")).expect("a key of secp256k1")
    };
    let known = signed(8);
    assert!(is_news(None, &signed(1)));
    assert!(!is_news(Some(known.enr()), &signed(7)), "replayed");
    assert!(!is_news(Some(known.enr()), &signed(8)));
    assert!(is_news(Some(known.enr()), &signed(9)));
}

/// Logarithmic distance of two nodes, by the first byte of their identifiers alone: 249 to 256, or `None` if it is less.
fn distance(left: u8, right: u8) -> Option<u32> {
    let id = |number| {
        let record = WakuRecord::parse(&record(number, 9000, 16)).expect("signed above");
        record.enr().node_id().raw()[0]
    };
    let differing = id(left) ^ id(right);
    (differing > 0).then(|| 256 - differing.leading_zeros())
}

#[tokio::test(flavor = "multi_thread")]
async fn two_nodes_near_to_the_only_one_that_knows_them_find_each_other() {
    let first = 50;
    let mut near = (51..=u8::MAX).filter(|number| distance(first, *number) == Some(250));
    let mut next = || near.next().expect("one node in 128 is at this distance");
    let (left, right) = (next(), next());

    let first = node(first, 16, Vec::new()).await;
    let begin = vec![WakuRecord::parse(&first.service.record().borrow()).expect("its own record")];
    let left = node(left, 16, begin.clone()).await;
    let mut right = node(right, 16, begin).await;
    hears_of(&mut right, &BTreeSet::from([first.peer, left.peer])).await;
}

/// Record of a node on loopback with these ports, and no libp2p.
fn record_at(number: u8, ports: UdpPorts) -> String {
    let key = CombinedKey::secp256k1_from_bytes(&mut secret(number)).expect("a secret");
    let mut record = SignedRecord::builder();
    record
        .add_value("waku2", &[1u8].as_slice())
        .add_value("rs", &[0, 16, 1, 0, 0].as_slice());
    if let Some(port) = ports.v4 {
        record.ip4(Ipv4Addr::LOCALHOST).udp4(port);
    }
    if let Some(port) = ports.v6 {
        record.ip6(Ipv6Addr::LOCALHOST).udp6(port);
    }
    record.build(&key).expect("a short record").to_base64()
}

#[tokio::test(flavor = "multi_thread")]
async fn nodes_of_each_family_are_found_by_one_that_has_both() {
    let (v4, v6) = (Ipv4Addr::LOCALHOST.into(), Ipv6Addr::LOCALHOST.into());
    let start = async |number, addresses: &[IpAddr], bootstrap: &[String]| {
        let known = bootstrap
            .iter()
            .map(|text| WakuRecord::parse(text).expect("signed here"));
        let sockets = bind(addresses, 0).expect("free ports");
        let record = record_at(number, sockets.ports());
        node_with_record(number, 16, known.collect(), sockets, record).await
    };
    let both = start(60, &[v4, v6], &[]).await;
    let begin = [both.service.record().borrow().clone()];
    // Each can ask only by its own family, so both are known only if both sockets answer.
    let only_v4 = start(61, &[v4], &begin).await;
    let only_v6 = start(62, &[v6], &begin).await;
    let mut other = start(63, &[v4, v6], &begin).await;
    hears_of(&mut other, &BTreeSet::from([only_v4.peer, only_v6.peer])).await;
}

#[tokio::test]
async fn all_addresses_of_both_families_are_bound_at_one_port() {
    let any = [Ipv4Addr::UNSPECIFIED.into(), Ipv6Addr::UNSPECIFIED.into()];
    let v6 = bind(&any[1..], 0).expect("a free port");
    let port = v6.ports().v6.expect("it is bound");
    // The socket of IPv6 leaves the port of IPv4 to others.
    let v4 = bind(&any[..1], port).expect("free for IPv4");
    assert_eq!(
        v4.ports(),
        UdpPorts {
            v4: Some(port),
            v6: None
        }
    );
    let both = bind(&any, 0).expect("free ports");
    assert!(both.ports().v4.is_some());
    assert_eq!(both.ports().v6.is_some(), source_v6().is_some());
}

#[test]
fn stores_that_relay_nothing_are_of_use_and_any_node_is_to_one_without_shards() {
    let facts = |cluster, shards: &[u16], capabilities| PeerFacts {
        cluster: Some(cluster),
        shards: Some(shards.to_vec()),
        capabilities: Some(capabilities),
    };
    let (relay, store) = (Capabilities::RELAY, Capabilities::STORE);
    assert!(fits(&facts(1, &[0], relay), 1, &[0]));
    assert!(!fits(&facts(1, &[5], store), 1, &[0]));
    assert!(fits(&facts(1, &[], store), 1, &[0]), "a replica");
    assert!(!fits(&facts(1, &[], relay), 1, &[0]));
    assert!(fits(&facts(1, &[5], store), 1, &[]));
    assert!(!fits(&facts(2, &[5], store), 1, &[]), "another cluster");
}
