//! SIGTERM: a node ends within ten seconds, and nothing that it has acknowledged is lost.

use std::collections::BTreeSet;
use std::fs;
use std::io::Write as _;
use std::net::TcpStream;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;
use undertone_node_process::Signal;

use super::support::{Home, SHARD, publish};
use crate::support::process::{Node, until};

/// Time within which a node promises to end.
const PROMISE: Duration = Duration::from_secs(10);

/// Clients of each node that publish at the same time.
const CLIENTS: usize = 4;

/// Messages that the node has acknowledged at least when it is told to stop.
const BEFORE: usize = 200;

/// Content topics of all messages in the node's archive.
fn archived(node: &Node) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut cursor = String::new();
    loop {
        let path = format!("/store/v3/messages?includeData=true&pageSize=100{cursor}");
        let page = node.json(&path);
        let messages = page["messages"].as_array().unwrap();
        let topics = messages
            .iter()
            .map(|entry| &entry["message"]["contentTopic"]);
        found.extend(topics.map(|topic| topic.as_str().unwrap().to_owned()));
        match page["paginationCursor"].as_str() {
            Some(next) => cursor = format!("&cursor={next}"),
            None => return found,
        }
    }
}

/// Content topics in a log of deliveries.
fn delivered(log: &str) -> BTreeSet<String> {
    let lines = log.lines().map(|line| serde_json::from_str(line).unwrap());
    let topics = lines.filter_map(|line: Value| Some(line["content_topic"].as_str()?.to_owned()));
    topics.collect()
}

#[test]
fn a_node_under_load_ends_in_time_and_has_all_that_it_acknowledged() {
    let (home, elsewhere) = (Home::new(), Home::new());
    let log = home.path("deliveries");
    let flags = ["--store", "--delivery-log", log.to_str().unwrap()];
    let node = home.start(&flags);
    let neighbour = elsewhere.start(&["--static-peers", &node.address]);
    until("the nodes are connected", || {
        let topics = node.json("/admin/v1/peers/relay/on/0");
        (!topics["peers"].as_array()?.is_empty()).then_some(())
    });

    let acknowledged = Mutex::new(BTreeSet::new());
    let is_over = AtomicBool::new(false);
    let (ended, took) = thread::scope(|scope| {
        for client in 0..CLIENTS {
            let (acknowledged, is_over, rest) = (&acknowledged, &is_over, node.rest.clone());
            scope.spawn(move || {
                for number in 0.. {
                    let topic = format!("/load/1/own-{client}-{number}/proto");
                    if is_over.load(Ordering::Relaxed) || !publish(&rest, SHARD, &topic) {
                        return;
                    }
                    acknowledged.lock().unwrap().insert(topic);
                }
            });
            let rest = neighbour.rest.clone();
            scope.spawn(move || {
                for number in 0.. {
                    let topic = format!("/load/1/other-{client}-{number}/proto");
                    publish(&rest, SHARD, &topic);
                    if is_over.load(Ordering::Relaxed) {
                        return;
                    }
                }
            });
        }
        until("enough messages are acknowledged", || {
            (acknowledged.lock().unwrap().len() >= BEFORE).then_some(())
        });
        let told = Instant::now();
        node.signal(Signal::TERM);
        let ended = node.ended();
        let took = told.elapsed();
        is_over.store(true, Ordering::Relaxed);
        (ended, took)
    });
    assert_eq!(ended.code(), Some(0));
    assert!(took < PROMISE, "{took:?}");

    let acknowledged = acknowledged.into_inner().unwrap();
    let arrived = delivered(&fs::read_to_string(&log).unwrap());
    assert!(arrived.iter().any(|topic| topic.contains("other")));
    let again = home.start(&["--store"]);
    let archived = archived(&again);
    let lost: Vec<_> = acknowledged.difference(&archived).collect();
    assert!(lost.is_empty(), "acknowledged and lost: {lost:?}");
    let lost: Vec<_> = arrived.difference(&archived).collect();
    assert!(lost.is_empty(), "delivered and lost: {lost:?}");
}

/// Begins a request whose body does not come, which holds up the end.
fn hold_up(node: &Node) -> TcpStream {
    let mut client = TcpStream::connect(node.rest.authority()).unwrap();
    let rest = node.rest.authority();
    let head = format!(
        "POST /relay/v1/subscriptions HTTP/1.1\r\nhost: {rest}\r\ncontent-type: application/json\r\n\
         content-length: 100\r\n\r\n["
    );
    client.write_all(head.as_bytes()).unwrap();
    thread::sleep(Duration::from_millis(200));
    client
}

#[test]
fn a_second_signal_ends_a_node_at_once() {
    for (first, name, second) in [
        (Signal::TERM, "SIGTERM", Signal::INT),
        (Signal::INT, "SIGINT", Signal::INT),
    ] {
        let home = Home::new();
        let node = home.start(&[]);
        let _client = hold_up(&node);
        node.signal(first);
        node.says(&format!("{name}: stopping"));
        node.signal(second);
        assert_eq!(node.ended().code(), Some(1), "{second:?}");
    }
}

#[test]
fn a_sigterm_that_comes_twice_at_once_is_one() {
    let home = Home::new();
    let node = home.start(&[]);
    let _client = hold_up(&node);
    node.signal(Signal::TERM);
    node.says("SIGTERM: stopping");
    node.signal(Signal::TERM);
    assert_eq!(node.ended().code(), Some(0));
}

#[test]
fn a_client_that_never_ends_its_request_does_not_hold_up_the_end() {
    let home = Home::new();
    let node = home.start(&["--store"]);
    let mut client = TcpStream::connect(node.rest.authority()).unwrap();
    let rest = node.rest.authority();
    let head = format!(
        "POST /relay/v1/subscriptions HTTP/1.1\r\nhost: {rest}\r\ncontent-length: 9\r\n\r\n["
    );
    client.write_all(head.as_bytes()).unwrap();
    let told = Instant::now();
    node.signal(Signal::INT);
    assert_eq!(node.ended().code(), Some(0));
    assert!(told.elapsed() < PROMISE);
}
