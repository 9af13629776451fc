use undertone_gossip::MessageId;
use undertone_message::Shard;

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
    let now = Instant::now();
    Delivery {
        pubsub_topic: topic(),
        message,
        id: MessageId([0; 32]),
        from: None,
        received: now,
        validated: now,
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
    let [first, lost, second, unread] = [1, 2, 3, 4].map(delivery);
    endpoint.deliveries.deliver(&first);
    endpoint.deliveries.deliver(&lost);
    assert_eq!(messages.recv().await, Some(first));
    endpoint.deliveries.deliver(&second);
    assert_eq!(messages.recv().await, Some(second));
    drop(messages);
    endpoint.deliveries.deliver(&unread);
    assert!(endpoint.deliveries.sinks.lock().is_empty());
}
