//! History that honest nodes made.

use std::time::Duration;

use undertone_message::WakuMessage;
use undertone_node::assemble::Assembled;
use undertone_rln::{Identity, IdentityFile};
use undertone_services::history::{ContentCriteria, HistoryCriteria, HistoryQuery, PageDirection};

use crate::store_cli::support::{HANG, Place, address, pubsub_topic};
use crate::support::author::TOPIC;

/// Number of messages in a node's own archive.
async fn kept(store: &Assembled) -> usize {
    let query = HistoryQuery {
        include_data: false,
        criteria: HistoryCriteria::Content(ContentCriteria::default()),
        cursor: None,
        direction: PageDirection::Forward,
        limit: 100,
    };
    let answer = store.services.handle.query_store(None, query).await;
    answer.unwrap().page.entries.len()
}

async fn until_kept(store: &Assembled, count: usize) {
    let waits = async {
        while kept(store).await < count {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(HANG, waits).await.unwrap();
}

async fn publish(node: &Assembled, text: String) {
    let publishes = async {
        loop {
            let message = WakuMessage::new(text.clone().into_bytes(), TOPIC);
            match node.node.handle.publish(pubsub_topic(), message).await {
                Ok(published) if published.peers > 0 => return,
                // The store has not subscribed yet, or the membership is still being read.
                _ => tokio::time::sleep(Duration::from_millis(200)).await,
            }
        }
    };
    tokio::time::timeout(HANG, publishes).await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_honest_nodes_publish_is_verified_at_any_store() {
    let place = Place::new();
    let identity = Identity::from_seed(b"alice");
    std::fs::create_dir(place.path("alice")).unwrap();
    IdentityFile::write(&place.path("alice/rln-identity.json"), &identity).unwrap();
    let registry = place.registry();
    registry.register(identity.commitment(), 50).unwrap();
    let alice = place.node("alice", &[], &[]).await;
    let store = place
        .node("store", &[address(&alice)], &[("store", "true")])
        .await;

    publish(&alice, "first".to_owned()).await;
    until_kept(&store, 1).await;
    let before = kept(&store).await;
    // Others join; roots come and go.
    for member in 1..=3_u64 {
        let other = Identity::from_seed(&member.to_le_bytes());
        registry.register(other.commitment(), 50).unwrap();
        publish(&alice, format!("after member {member}")).await;
    }
    until_kept(&store, before + 3).await;
    let count = kept(&store).await;

    let peer = format!("--peer {}", address(&store));
    let archive = format!(
        "--archive sqlite://{}",
        place.path("store/store.sqlite").display()
    );
    for store in [&peer, &archive] {
        let verified = place.verify(store).json(0);
        assert_eq!(verified["messages"], count, "{verified}");
        assert_eq!(verified["valid"], count, "{verified}");
        assert_eq!(verified["verdicts"]["valid"], count, "{verified}");
        assert_eq!(verified["roots"], 4, "{verified}");
        assert_eq!(verified["isCut"], false, "{verified}");
        let cut = place.verify(&format!("{store} --max-messages 2")).json(0);
        assert_eq!((&cut["messages"], &cut["isCut"]), (&2.into(), &true.into()));
        let none = place.verify(&format!("{store} --content-topic /other/1/a/proto"));
        assert_eq!(none.json(0)["messages"], 0);

        let line = format!("query --network local {store}");
        let listed = place.store(&format!("{line} --json")).json(0);
        let messages = listed["messages"].as_array().unwrap();
        assert_eq!(messages.len(), count);
        assert_eq!(messages[0]["payload"], hex::encode("first"));
        assert!(messages.iter().all(|one| one["hasProof"] == true));
        assert!(
            place
                .store(&line)
                .stdout
                .contains("/test/1/a/proto 5 bytes")
        );
    }
    // For people, a table.
    let line = format!("verify --network local --rln-registry members.sqlite {archive}");
    let shown = place.store(&format!(
        "{line} --rln-epoch-s {}",
        crate::store_cli::support::EPOCH_S
    ));
    assert_eq!(shown.code, 0, "{shown:?}");
    assert!(shown.stdout.contains("valid"), "{shown:?}");

    // Another registry never had these roots.
    place.registry();
    std::fs::create_dir(place.path("other")).unwrap();
    let other = undertone_membership::SqliteRegistry::open(place.path("other/members")).unwrap();
    other.register(identity.commitment(), 49).unwrap();
    let line = format!("verify --network local --rln-registry other/members --json {archive}");
    let foreign = place.store(&format!(
        "{line} --rln-epoch-s {}",
        crate::store_cli::support::EPOCH_S
    ));
    let foreign = foreign.json(3);
    assert_eq!(foreign["verdicts"]["unknown_root"], count, "{foreign}");
    alice.stop().await;
    store.stop().await;
}
