//! Spans of messages, as they are given to the exporter.

use std::time::Duration;

use undertone_gossip::SendHandle;

use super::*;
use crate::traces::TraceConfig;

/// A node with traces, and the spans that it exported.
struct Traced {
    traces: MessageTraces,
    tracer: Tracer,
}

impl Traced {
    fn new() -> Self {
        let config = TraceConfig {
            url: String::new(),
            sampled_share: 1.0,
        };
        let tracer = Tracer::new(&config, PeerId::random(), [3; 32]);
        let traces = MessageTraces::new(Some(tracer.clone()));
        Self { traces, tracer }
    }

    fn spans(&self) -> Vec<TraceSpan> {
        self.tracer.waiting()
    }
}

fn frame(bytes: &'static [u8], class: Class) -> QueuedFrame {
    QueuedFrame {
        handle: SendHandle(1),
        class,
        frame: bytes.into(),
    }
}

fn delivery(from: Option<PeerId>) -> Delivery {
    let received = Instant::now();
    Delivery {
        id: MessageId([9; 32]),
        pubsub_topic: PubsubTopic::parse("/waku/2/rs/66/0").unwrap(),
        message: WakuMessage::new("hello", "/test/1/a/proto"),
        from,
        received,
        validated: received + Duration::from_millis(3),
    }
}

fn number(span: &TraceSpan, key: &str) -> u64 {
    let value = span.attributes.iter().find(|(name, _)| *name == key);
    match value {
        Some((_, SpanValue::Number(number))) => *number,
        other => panic!("{key} is no number of {span:?}: {other:?}"),
    }
}

#[test]
fn a_received_message_has_a_span_below_that_of_its_sender_and_one_for_its_proof() {
    let mut node = Traced::new();
    let sender = PeerId::random();
    static ANSWER: &[u8] = b"answer to an IWANT";
    static COPY: &[u8] = b"copy";
    node.traces.checking(ProofTicket(4));
    node.traces.verdict(ProofTicket(4));
    node.traces.copied(&frame(ANSWER, Class::Forward));
    for _ in 0..3 {
        node.traces.copied(&frame(COPY, Class::Forward));
        node.traces.copied(&frame(b"IHAVE", Class::Control));
    }
    node.traces.delivered(&delivery(Some(sender)));
    node.traces.verdict_settled();

    let spans = node.spans();
    let [proof, message] = &spans[..] else {
        panic!("two spans, not {spans:?}");
    };
    assert_eq!((proof.name, message.name), ("check proof", "message"));
    assert_eq!(proof.parent, Some(message.id));
    let trace = message.trace;
    assert_eq!(message.id, SpanId::of_message(trace, &node.tracer.own()));
    assert_eq!(message.parent, Some(SpanId::of_message(trace, &sender)));
    assert_eq!(message.end - message.start, Duration::from_millis(3));
    assert_eq!(number(message, "undertone.copies"), 3);
    assert_eq!(number(message, "messaging.message.body.size"), 5);
}

#[test]
fn copies_of_one_message_are_not_counted_for_the_next() {
    let mut node = Traced::new();
    let from = Some(PeerId::random());
    node.traces.copied(&frame(b"copy", Class::Forward));
    node.traces.delivered(&delivery(from));
    node.traces.delivered(&delivery(from));
    let copies = node.spans();
    let copies: Vec<_> = copies
        .iter()
        .map(|span| number(span, "undertone.copies"))
        .collect();
    assert_eq!(copies, [1, 0]);
}

#[test]
fn a_rejected_message_says_why() {
    let mut node = Traced::new();
    node.traces
        .rejected(&MessageId([1; 32]), Some(PeerId::random()), "snark");
    let spans = node.spans();
    assert_eq!(spans[0].failure.as_deref(), Some("snark"));
}

#[test]
fn an_own_message_has_a_root_span_and_one_for_its_proof() {
    let mut node = Traced::new();
    let topic = PubsubTopic::parse("/waku/2/rs/66/0").unwrap();
    let message = WakuMessage::new("hello", "/test/1/a/proto");
    let (request, id) = (RequestId(1), MessageId([9; 32]));
    node.traces.publishing(request, &topic, &message);
    node.traces.proved(request, Instant::now());
    node.traces
        .published(request, &Ok(Published { id, peers: 2 }));
    // The relay delivers it to this node as well.
    node.traces.delivered(&delivery(None));

    let spans = node.spans();
    let [proof, publish] = &spans[..] else {
        panic!("two spans, not {spans:?}");
    };
    assert_eq!((proof.name, publish.name), ("make proof", "publish"));
    assert_eq!((proof.parent, publish.parent), (Some(publish.id), None));
    assert_eq!(number(publish, "undertone.copies"), 2);
    assert!(publish.failure.is_none());
}

#[test]
fn a_refused_message_is_a_trace_of_its_own() {
    let mut node = Traced::new();
    let topic = PubsubTopic::parse("/waku/2/rs/66/0").unwrap();
    let message = WakuMessage::new("hello", "/test/1/a/proto");
    node.traces.publishing(RequestId(1), &topic, &message);
    node.traces
        .published(RequestId(1), &Err(PublishError::Duplicate));
    let reason = node.spans()[0].failure.clone();
    assert!(reason.is_some_and(|reason| reason.contains("same message")));
}

#[test]
fn long_reasons_are_cut_between_characters() {
    assert_eq!(shortened("no".into()), "no");
    let cut = shortened("ä".repeat(200) + "b");
    assert_eq!(cut.len(), FAILURE_BYTES_MAX);
    assert_eq!(
        shortened("b".to_owned() + &"ä".repeat(200)).len(),
        FAILURE_BYTES_MAX - 1
    );
}
