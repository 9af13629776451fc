use super::*;

fn tracer(sampled_share: f64, own: PeerId) -> Tracer {
    let config = TraceConfig {
        url: String::new(),
        sampled_share,
    };
    Tracer::new(&config, own, [7; 32])
}

fn message(number: u64) -> MessageId {
    let mut id = [0; 32];
    // Hashes are spread evenly; this is too, as far as the half of the id that samples.
    id[8..16].copy_from_slice(&number.wrapping_mul(0x9e37_79b9_7f4a_7c15).to_be_bytes());
    MessageId(id)
}

#[test]
fn all_nodes_sample_the_same_messages() {
    let [alice, bob] = [(); 2].map(|()| tracer(0.25, PeerId::random()));
    let sampled = |tracer: &Tracer| -> Vec<u64> {
        (0..1_000)
            .filter(|n| tracer.of_message(&message(*n)).is_some())
            .collect()
    };
    let messages = sampled(&alice);
    assert_eq!(messages, sampled(&bob));
    assert!((200..300).contains(&messages.len()), "{}", messages.len());
}

#[test]
fn a_share_of_one_takes_all_and_of_nothing_none() {
    let own = PeerId::random();
    assert!((0..1_000).all(|n| tracer(1.0, own).of_message(&message(n)).is_some()));
    assert!((0..1_000).all(|n| tracer(0.0, own).of_message(&message(n)).is_none()));
}

#[test]
fn a_receiver_knows_the_span_of_the_sender() {
    let (sender, receiver) = (PeerId::random(), PeerId::random());
    let trace = |own| tracer(1.0, own).of_message(&message(5)).unwrap();
    assert_eq!(trace(sender), trace(receiver));
    let at = |peer| SpanId::of_message(trace(sender), peer);
    assert_eq!(at(&sender), SpanId::of_message(trace(receiver), &sender));
    assert_ne!(at(&sender), at(&receiver));
    let other = tracer(1.0, sender).of_message(&message(6)).unwrap();
    assert_ne!(at(&sender), SpanId::of_message(other, &sender));
}
