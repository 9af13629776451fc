use std::time::Instant;

use undertone_gossip::MessageId;
use undertone_message::Shard;
use undertone_relay::split_message;

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
        Err(SubscribeFailure::Stopped(Stopped))
    );
    let message = WakuMessage::new(vec![], "/a/1/b/proto");
    assert_eq!(
        handle.publish(topic(), message).await,
        Err(PublishFailure::Stopped(Stopped))
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

/// A sink that keeps what it takes.
struct Kept {
    takes_fragments: bool,
    payloads: Mutex<Vec<usize>>,
}

impl MessageSink for Kept {
    fn deliver(&self, delivery: &Delivery) -> bool {
        self.payloads.lock().push(delivery.message.payload.len());
        true
    }

    fn takes_fragments(&self) -> bool {
        self.takes_fragments
    }
}

/// Deliveries with a sink for messages and one for fragments.
fn deliveries(is_reassembling: bool) -> (Deliveries, [Arc<Kept>; 2]) {
    let deliveries = Deliveries::default();
    if is_reassembling {
        deliveries.reassemble(None);
    }
    let sinks = [false, true].map(|takes_fragments| {
        let payloads = Mutex::default();
        Arc::new(Kept {
            takes_fragments,
            payloads,
        })
    });
    for sink in &sinks {
        deliveries.add(sink.clone());
    }
    (deliveries, sinks)
}

#[test]
fn the_program_gets_the_message_and_services_its_fragments() {
    let mut whole = delivery(0);
    whole.message.payload = vec![7; 300].into();
    let fragments = split_message(&whole.message, 3).unwrap().unwrap();
    let len = fragments[0].payload.len();
    for is_reassembling in [true, false] {
        let (deliveries, [program, service]) = deliveries(is_reassembling);
        deliveries.deliver(&delivery(1));
        for message in fragments.iter().chain(&fragments) {
            deliveries.deliver(&Delivery {
                message: message.clone(),
                ..delivery(0)
            });
        }
        let all = [vec![1], vec![len; 6]].concat();
        let expected = match is_reassembling {
            true => vec![1, 300],
            false => all.clone(),
        };
        assert_eq!(*program.payloads.lock(), expected);
        assert_eq!(*service.payloads.lock(), all);
    }
}

#[test]
fn a_malformed_fragment_is_no_message_of_the_program() {
    let (deliveries, [program, service]) = deliveries(true);
    let mut broken = delivery(1);
    broken.message.meta = Some(undertone_relay::FRAGMENT_META.to_vec().into());
    deliveries.deliver(&broken);
    assert!(program.payloads.lock().is_empty());
    assert_eq!(*service.payloads.lock(), [1]);
}
