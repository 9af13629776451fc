//! Section E: strangers that offer services and lie. An honest peer is beside them each time.

use std::net::Ipv4Addr;
use std::time::Duration;

use libp2p::identity::Keypair;
use tempfile::TempDir;
use undertone_attacks::attacks::e1_lying_services;
use undertone_attacks::node::{Node, NodeSpec, wait_until};
use undertone_attacks::raw::LyingServices;
use undertone_attacks::test_network::{prefix, pubsub_topic};

use crate::support::{measured, program, unharmed};

const PATIENCE: Duration = Duration::from_secs(30);
/// A store that comes later is asked half a minute after the start.
const RESUMING: Duration = Duration::from_secs(90);
const STORE: &str = "/vac/waku/store-query/3.0.0";

/// An honest store that publishes for others, and a neighbour in its mesh.
struct Honest {
    store: Node,
    _neighbour: Node,
    folder: TempDir,
}

async fn node(folder: &TempDir, name: &str, ip: u8, flags: &[&str]) -> Node {
    let topic = pubsub_topic(0);
    let cluster = topic.split('/').nth(4).unwrap();
    let mut all = vec![
        "--rln=false".to_owned(),
        "--network=local".to_owned(),
        format!("--cluster-id={cluster}"),
        "--shards=0".to_owned(),
    ];
    all.extend(flags.iter().map(ToString::to_string));
    let spec = NodeSpec {
        program: program(),
        name: name.to_owned(),
        folder: folder.path().to_owned(),
        ip: Ipv4Addr::new(127, 0, 41, ip),
        flags: all,
    };
    Node::start(spec).await.unwrap()
}

impl Honest {
    async fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let store = node(&folder, "store", 1, &["--store=true"]).await;
        let to_store = format!("--static-peers={}", store.addr());
        let neighbour = node(&folder, "neighbour", 2, &[&to_store]).await;
        in_mesh(&neighbour, &store).await;
        in_mesh(&store, &neighbour).await;
        Self {
            store,
            _neighbour: neighbour,
            folder,
        }
    }
}

async fn in_mesh(node: &Node, of: &Node) {
    let id = of.peer_id();
    let is_in = node.wait_peers(PATIENCE, |peers| {
        peers.get(&id).is_some_and(|view| view.meshes > 0)
    });
    assert!(is_in.await, "{}", node.state().await);
}

/// Dials a node as a liar, and waits until the node knows what it offers, beside a number of honest stores.
async fn liar_at(node: &Node, honest: usize) -> LyingServices {
    let liar = LyingServices::dial(Keypair::generate_ed25519(), &node.addr()).await;
    let liar = liar.unwrap();
    let id = liar.id().to_string();
    let is_known = wait_until(PATIENCE, async || {
        let (_, peers) = node.ask("GET", "/admin/v1/peers", None).await.unwrap();
        peers.contains(&id) && peers.matches(STORE).count() == honest + 1
    });
    assert!(is_known.await, "{}", node.state().await);
    liar
}

/// Publishes three messages through the lightpush client of a node; each is answered with success.
async fn push_three(node: &Node, name: &str) -> String {
    let (topic, content_topic) = (pubsub_topic(0), format!("{}/{name}/proto", prefix(0)));
    for payload in ["AQ==", "Ag==", "Aw=="] {
        let body = format!(
            r#"{{"pubsubTopic":"{topic}","message":{{"payload":"{payload}","contentTopic":"{content_topic}"}}}}"#
        );
        let answer = node.ask("POST", "/lightpush/v3/message", Some(&body)).await;
        let (status, answer) = answer.unwrap();
        assert_eq!(status, 200, "{answer}");
    }
    content_topic
}

/// Number of messages that a node gives as the history of a content topic.
async fn history(node: &Node, content_topic: &str) -> usize {
    let topics = content_topic.replace('/', "%2F");
    let path = format!("/store/v3/messages?includeData=true&contentTopics={topics}");
    let (status, page) = node.ask("GET", &path, None).await.unwrap();
    assert_eq!(status, 200, "{page}");
    page.matches("messageHash").count()
}

async fn three_at(node: &Node, content_topic: &str, patience: Duration) -> bool {
    wait_until(patience, async || history(node, content_topic).await == 3).await
}

/// What a light node with one liar gets and publishes.
async fn served_beside_a_liar(honest: &Honest, light: &Node, name: &str) {
    let content_topic = push_three(light, name).await;
    let arrived = three_at(&honest.store, &content_topic, PATIENCE).await;
    assert!(
        arrived,
        "messages of the light node are lost: {}",
        light.log_tail()
    );
    for _ in 0..5 {
        assert_eq!(
            history(light, &content_topic).await,
            3,
            "{}",
            light.log_tail()
        );
    }
}

#[tokio::test]
async fn e1_lying_services_beside_a_peer_that_was_dialled_are_not_believed() {
    let honest = Honest::start().await;
    let to_store = format!("--static-peers={}", honest.store.addr());
    let light = node(&honest.folder, "light", 3, &["--relay=false", &to_store]).await;
    let _liar = liar_at(&light, 1).await;
    served_beside_a_liar(&honest, &light, "dialled").await;
    assert!(!light.log().contains("the word of strangers alone"));
}

#[tokio::test]
async fn e1_lying_services_beside_another_stranger_hide_nothing_and_the_log_and_health_say_so() {
    let honest = Honest::start().await;
    let light = node(&honest.folder, "light", 3, &["--relay=false"]).await;
    assert!(honest.store.connect(&light.addr()).await);
    let _liar = liar_at(&light, 1).await;
    served_beside_a_liar(&honest, &light, "strangers").await;
    assert!(light.log().contains("the word of strangers alone"));
    let (_, health) = light.ask("GET", "/health", None).await.unwrap();
    assert!(health.contains("Only strangers were asked"), "{health}");
}

#[tokio::test]
async fn e1_lying_services_get_nothing_of_what_a_relay_can_publish() {
    let honest = Honest::start().await;
    let to_store = format!("--static-peers={}", honest.store.addr());
    let relay = node(&honest.folder, "relay", 3, &[&to_store]).await;
    let _liar = liar_at(&relay, 1).await;
    in_mesh(&relay, &honest.store).await;
    in_mesh(&honest.store, &relay).await;
    let pushed = push_three(&relay, "relayed").await;
    let arrived = three_at(&honest.store, &pushed, PATIENCE).await;
    assert!(
        arrived,
        "messages of the relay are lost: {}",
        relay.log_tail()
    );
}

#[tokio::test]
async fn e1_lying_services_do_not_end_a_resume() {
    let honest = Honest::start().await;
    let content_topic = push_three(&honest.store, "before").await;
    assert!(three_at(&honest.store, &content_topic, PATIENCE).await);
    let flags = ["--store=true", "--store-resume=true"];
    let late = node(&honest.folder, "late", 3, &flags).await;
    let liar = liar_at(&late, 0).await;
    // The liar is the first to be asked, and alone.
    assert!(wait_until(PATIENCE, async || liar.asked() > 0).await);
    assert!(late.connect(&honest.store.addr()).await);
    let resumed = three_at(&late, &content_topic, RESUMING).await;
    assert!(resumed, "nothing was resumed: {}", late.log_tail());
    assert!(late.log().contains("by the word of one store alone"));
}

#[tokio::test]
async fn e1_lying_services_leave_the_victims_own_services_alone() {
    unharmed(&measured(&e1_lying_services::ATTACK, 1).await);
}
