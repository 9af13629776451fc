//! Traces of real nodes at a collector that reads them with OpenTelemetry's own definitions. Run by `cargo xtask test
//! --only openapi`, because it needs Python and PyPI.
#![allow(
    clippy::unwrap_used,
    reason = "only test functions are exempt, and these helpers serve them"
)]

use std::collections::BTreeSet;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use serde_json::Value;
use tempfile::TempDir;
use undertone_message::{PubsubTopic, WakuMessage};
use undertone_node::Multiaddr;
use undertone_node::assemble::{Assembled, assemble};
use undertone_node::config::{NodeConfig, Sources};
use undertone_services::history::{ContentCriteria, HistoryCriteria, HistoryQuery, PageDirection};

/// Set to 1 to run the test.
const SWITCH: &str = "UNDERTONE_TRACES_TEST";

/// Version of OpenTelemetry's definitions on PyPI.
const PROTO: &str = "opentelemetry-proto==1.45.2";

/// Guards against hangs only.
const HANG: Duration = Duration::from_secs(120);

/// Collector in a process of its own, which ends with it.
struct Collector {
    process: Child,
    port: u16,
    lines: mpsc::Receiver<String>,
    seen: Vec<Value>,
}

impl Collector {
    fn start() -> Self {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/traces/receiver.py");
        let mut process = Command::new(python())
            .arg(script)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let output = BufReader::new(process.stdout.take().unwrap());
        let (sender, lines) = mpsc::channel();
        std::thread::spawn(move || {
            let mut lines = output.lines().map_while(Result::ok);
            lines.all(|line| sender.send(line).is_ok());
        });
        let port = lines.recv_timeout(HANG).unwrap().parse().unwrap();
        Self {
            process,
            port,
            lines,
            seen: Vec::new(),
        }
    }

    /// Waits until `count` of all spans satisfy `is_wanted`, and returns them.
    fn spans(&mut self, count: usize, is_wanted: impl Fn(&Value) -> bool) -> Vec<Value> {
        loop {
            let wanted: Vec<_> = self.seen.iter().filter(|span| is_wanted(span)).collect();
            if wanted.len() >= count {
                return wanted.into_iter().cloned().collect();
            }
            let line = self.lines.recv_timeout(HANG);
            let line = line.unwrap_or_else(|_| panic!("it never came; there are {:#?}", self.seen));
            self.seen.push(serde_json::from_str(&line).unwrap());
        }
    }
}

impl Drop for Collector {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Python of a virtual environment of this test's own; it is made when it is missing.
fn python() -> PathBuf {
    let home = Path::new(env!("CARGO_TARGET_TMPDIR")).join("opentelemetry");
    let python = home.join("bin").join("python");
    let marker = home.join(PROTO);
    if !marker.exists() {
        let venv = ["-m", "venv", "--clear"];
        run(Command::new("python3").args(venv).arg(&home));
        run(Command::new(&python).args(["-m", "pip", "install", "--quiet", PROTO]));
        std::fs::write(marker, "").unwrap();
    }
    python
}

fn run(command: &mut Command) {
    let status = command.status();
    let works = status.as_ref().is_ok_and(std::process::ExitStatus::success);
    assert!(
        works,
        "{command:?}: {status:?}; this test needs python3 with venv and pip, and access to PyPI"
    );
}

async fn node(
    collector: &Collector,
    peers: &[String],
    more: &[(&str, &str)],
) -> (TempDir, Assembled) {
    let folder = tempfile::tempdir().unwrap();
    let folder_name = folder.path().display().to_string();
    let endpoint = format!("http://127.0.0.1:{}", collector.port);
    let peers = peers.join(",");
    let mut flags = vec![
        ("network", "local"),
        ("rln", "false"),
        ("shards", "0"),
        ("data-dir", folder_name.as_str()),
        ("listen-address", "127.0.0.1"),
        ("tcp-port", "0"),
        ("rest", "false"),
        ("otlp-endpoint", &endpoint),
    ];
    flags.extend(more);
    if !peers.is_empty() {
        flags.push(("static-peers", &peers));
    }
    let owned = |(name, value): (&str, &str)| (name.to_owned(), value.to_owned());
    let config = NodeConfig::load(&Sources {
        flags: flags.into_iter().map(owned).collect(),
        ..Sources::default()
    });
    let node = assemble(&config.unwrap()).await.unwrap();
    (folder, node)
}

fn is_called(name: &'static str) -> impl Fn(&Value) -> bool {
    move |span| span["name"] == name
}

fn node_of(span: &Value) -> &str {
    span["resource"]["service.instance.id"].as_str().unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn one_trace_shows_the_way_of_a_message() {
    if std::env::var(SWITCH).is_ok_and(|value| value == "1") {
        check().await;
    } else {
        println!("not run: set {SWITCH}=1, or use `cargo xtask test --only openapi`");
    }
}

/// Whether a peer of the node is subscribed to the topic.
async fn is_heard(node: &Assembled, topic: &PubsubTopic) -> bool {
    let peers = node.node.handle.peers().await.unwrap();
    peers.iter().any(|peer| peer.topics.contains(topic))
}

/// Three nodes in a line, the last of which has a store that the first asks.
async fn check() {
    let mut collector = tokio::task::spawn_blocking(Collector::start).await.unwrap();
    let (_third, last) = node(&collector, &[], &[("store", "true")]).await;
    let at = |node: &Assembled| node.node.addresses[0].to_string();
    let (_second, middle) = node(&collector, &[at(&last)], &[]).await;
    let (_first, first) = node(&collector, &[at(&middle)], &[]).await;
    let topic = PubsubTopic::parse("/waku/2/rs/66/0").unwrap();
    let message = WakuMessage::new("hello", "/test/1/a/proto");
    let mut deliveries = last.node.handle.messages(1);
    while !is_heard(&first, &topic).await {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    first.node.handle.publish(topic, message).await.unwrap();
    deliveries.recv().await.unwrap();

    let store: Multiaddr = at(&last).parse().unwrap();
    let query = HistoryQuery {
        include_data: true,
        criteria: HistoryCriteria::Content(ContentCriteria {
            content_topics: vec!["/test/1/a/proto".into()],
            ..ContentCriteria::default()
        }),
        cursor: None,
        direction: PageDirection::Forward,
        limit: 100,
    };
    let answer = first.services.handle.query_store(Some(store), query).await;
    answer.unwrap();

    let [first_id, middle_id, last_id] =
        [&first, &middle, &last].map(|n| n.node.peer_id.to_string());
    for node in [first, middle, last] {
        // Stopping posts what waits, so that nothing has to be waited for.
        node.stop().await;
    }
    tokio::task::spawn_blocking(move || {
        let published = collector.spans(1, is_called("publish")).remove(0);
        let received = collector.spans(2, is_called("message"));
        assert_eq!(node_of(&published), first_id);
        assert_eq!(published["kind"], "SPAN_KIND_PRODUCER");
        assert_eq!(published["parent"], "");
        let of = |id: &str| received.iter().find(|span| node_of(span) == id).unwrap();
        let (second, third) = (of(&middle_id), of(&last_id));
        // One trace, in which each node stands below the one that it has the message from.
        for (child, parent) in [(second, &published), (third, second)] {
            assert_eq!(child["trace"], published["trace"]);
            assert_eq!(child["parent"], parent["id"]);
            assert_eq!(child["attributes"]["network.peer.id"], node_of(parent));
            assert_eq!(child["kind"], "SPAN_KIND_CONSUMER");
            assert_eq!(child["status"], "STATUS_CODE_UNSET");
            assert!(child["start_ns"].as_u64() >= parent["start_ns"].as_u64());
        }
        let topic = &published["attributes"]["messaging.destination.name"];
        assert_eq!(topic, "/waku/2/rs/66/0");
        assert_eq!(second["attributes"]["undertone.copies"], 1);
        assert_eq!(third["attributes"]["undertone.copies"], 0);
        // The store's answer has a span at both ends.
        let of_store = |kind: &'static str| {
            move |span: &Value| span["name"] == "request" && span["kind"] == kind
        };
        let asked = collector.spans(1, of_store("SPAN_KIND_CLIENT")).remove(0);
        let answered = collector.spans(1, of_store("SPAN_KIND_SERVER")).remove(0);
        assert_eq!([node_of(&asked), node_of(&answered)], [&first_id, &last_id]);
        for span in [asked, answered] {
            assert_eq!(
                span["attributes"]["rpc.service"],
                "/vac/waku/store-query/3.0.0"
            );
            assert_eq!(span["status"], "STATUS_CODE_UNSET");
        }
        // Each dials its static peer, and the first one the store, too, to which it has no connection.
        let is_reached =
            |span: &Value| span["name"] == "dial" && span["status"] == "STATUS_CODE_UNSET";
        let dials = collector.spans(3, is_reached);
        let ends = dials.iter().map(|dial| {
            let to = dial["attributes"]["network.peer.id"].as_str().unwrap();
            (node_of(dial), to)
        });
        let expected = [
            (first_id.as_str(), middle_id.as_str()),
            (&first_id, &last_id),
            (&middle_id, &last_id),
        ];
        assert_eq!(BTreeSet::from_iter(ends), BTreeSet::from(expected));
    })
    .await
    .unwrap();
}
