//! Neighbour of a store, which publishes messages for it to keep.

use std::time::Duration;

use undertone_node::assemble::{Assembled, assemble};

use crate::store_faults::{message, topic};
use crate::support::{HANG, Place, metrics, metrics_until};

const KEPT: &str = "undertone_store_messages_total{outcome=\"kept\"}";
const LOST: &str = "undertone_store_messages_total{outcome=\"lost\"}";

/// Node that is connected to a store only.
pub(crate) struct Neighbour {
    _place: Place,
    node: Assembled,
    published: u32,
}

impl Neighbour {
    pub(crate) async fn of(store: &Assembled) -> Self {
        let place = Place::new();
        let peers = [store.node.addresses[0].to_string()];
        let flags = [("rln", "false"), ("shards", "0")];
        let node = assemble(&place.config(&peers, &flags)).await.unwrap();
        Self {
            _place: place,
            node,
            published: 0,
        }
    }

    /// Publishes messages that the store gets.
    pub(crate) async fn publish(&mut self, messages: u32, bytes: usize) {
        for _ in 0..messages {
            let text = format!("{}: {}", self.published, "a".repeat(bytes));
            let published = async {
                // Before the nodes are in each other's mesh, there is nobody to publish to.
                while self
                    .node
                    .node
                    .handle
                    .publish(topic(), message(&text))
                    .await
                    .is_err()
                {
                    tokio::time::sleep(Duration::from_millis(50)).await;
                }
            };
            tokio::time::timeout(HANG, published).await.unwrap();
            self.published += 1;
        }
    }

    /// Publishes a message, and waits until the store has kept it.
    pub(crate) async fn publish_until_kept(&mut self, store: &Assembled, bytes: usize) {
        self.publish(1, bytes).await;
        self.assert_all_kept(store).await;
    }

    /// Waits until the store has kept all published messages.
    pub(crate) async fn assert_all_kept(&self, store: &Assembled) {
        let published = f64::from(self.published);
        metrics_until(store, |page| page[KEPT] >= published).await;
        let page = metrics(store.rest.unwrap()).await;
        assert_eq!((page[KEPT], page[LOST]), (published, 0.0));
    }

    pub(crate) async fn stop(self) {
        assert!(self.node.stop().await.is_complete());
    }
}
