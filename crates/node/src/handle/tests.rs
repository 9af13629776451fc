use undertone_message::{Shard, message_hash};

use super::*;

fn topic() -> PubsubTopic {
    Shard {
        cluster: 66,
        index: 0,
    }
    .into()
}

fn delivery(payload: u8) -> Delivery {
    let message = WakuMessage::new(vec![payload], "/a/1/b/proto");
    let hash = message_hash(&topic().to_string(), &message);
    Delivery {
        pubsub_topic: topic(),
        message,
        hash,
    }
}

#[tokio::test]
async fn a_stopped_node_is_told_apart_from_an_answer() {
    let (handle, endpoint) = node_channel();
    drop(endpoint);
    assert_eq!(handle.info().await, Err(Stopped));
    assert_eq!(
        handle.subscribe(topic()).await,
        Err(SubscribeFailure::ShuttingDown)
    );
    let message = WakuMessage::new(vec![], "/a/1/b/proto");
    assert_eq!(
        handle.publish(topic(), message).await,
        Err(PublishFailure::ShuttingDown)
    );
    handle.shutdown().await;
}

#[tokio::test]
async fn a_command_dropped_unanswered_reads_as_stopped() {
    let (handle, mut endpoint) = node_channel();
    let driver = tokio::spawn(async move { endpoint.commands.recv().await.is_some() });
    assert_eq!(handle.peers().await, Err(Stopped));
    assert!(driver.await.unwrap());
}

#[tokio::test]
async fn a_slow_reader_loses_messages_and_a_gone_one_is_forgotten() {
    let (handle, endpoint) = node_channel();
    let mut messages = handle.messages(1);
    endpoint.deliveries.deliver(&delivery(1));
    endpoint.deliveries.deliver(&delivery(2));
    assert_eq!(messages.recv().await, Some(delivery(1)));
    endpoint.deliveries.deliver(&delivery(3));
    assert_eq!(messages.recv().await, Some(delivery(3)));
    drop(messages);
    endpoint.deliveries.deliver(&delivery(4));
    assert!(endpoint.deliveries.lock().is_empty());
}
