use super::*;
use crate::{BLOOM_BYTES, BloomFilter};

fn news(outputs: &[Output]) -> Vec<(&str, &str)> {
    let news = outputs.iter().filter_map(|output| match output {
        Output::Acknowledged { id } => Some(("certain", &**id)),
        Output::PossiblyAcknowledged { id } => Some(("possible", &**id)),
        Output::Unconfirmed { id } => Some(("never", &**id)),
        _ => None,
    });
    news.collect()
}

/// Sync message with a filter.
fn sync(sender: &str, filter: Vec<u8>) -> Vec<u8> {
    let mut message = forged("sync", START_MS, &[]);
    message.sender_id = sender.into();
    message.content = None;
    message.bloom_filter = Some(filter);
    message.encode()
}

#[test]
fn a_named_message_is_acknowledged() {
    let (mut alice, mut bob) = (member("alice"), member("bob"));
    let m1 = send(&mut alice, at(1), "m1");
    receive(&mut bob, at(2), &m1);
    let m2 = send(&mut bob, at(3), "m2");
    assert_eq!(news(&receive(&mut alice, at(4), &m2)), [("certain", "m1")]);
    assert!(!alice.has_unacknowledged());
}

#[test]
fn filters_of_different_members_add_up_and_those_of_one_do_not() {
    let mut alice = member("alice");
    send(&mut alice, at(1), "m1");
    let filter = BloomFilter::of(["m1"]).as_bytes().to_vec();
    assert_eq!(
        news(&receive(&mut alice, at(2), &sync("bob", filter.clone()))),
        [("possible", "m1")]
    );
    assert_eq!(
        news(&receive(&mut alice, at(3), &sync("bob", filter.clone()))),
        []
    );
    assert!(alice.has_unacknowledged());
    assert_eq!(
        news(&receive(&mut alice, at(4), &sync("carol", filter))),
        [("certain", "m1")]
    );
}

#[test]
fn filters_that_say_yes_to_everything_prove_nothing() {
    let mut alice = member("alice");
    send(&mut alice, at(1), "m1");
    let mut mostly = vec![0xff; BLOOM_BYTES * 61 / 100];
    mostly.resize(BLOOM_BYTES, 0);
    let honest = BloomFilter::of(["m1"]);
    mostly
        .iter_mut()
        .zip(honest.as_bytes())
        .for_each(|(byte, more)| *byte |= more);
    let mut longer = honest.as_bytes().to_vec();
    longer.push(0);
    for (n, filter) in [
        vec![0xff; BLOOM_BYTES],
        mostly,
        longer,
        vec![0xff; 8],
        vec![],
    ]
    .into_iter()
    .enumerate()
    {
        let outputs = receive(&mut alice, at(2), &sync(&format!("liar {n}"), filter));
        assert_eq!(news(&outputs), [], "filter {n}");
    }
}

#[test]
fn a_message_without_answer_is_sent_again_and_at_last_given_up() {
    let mut settings = config("alice");
    settings.max_resends = 3;
    settings.sync_ms = 10_000_000;
    let mut alice = Channel::new(Time::ZERO, settings, rng(1));
    let frame = send(&mut alice, at(0), "m1");
    let outputs = run(&mut alice, at(1_000_000));
    let times: Vec<Time> = outputs
        .iter()
        .filter(|(_, output)| matches!(output, Output::Publish { bytes, .. } if **bytes == *frame))
        .map(|(time, _)| *time)
        .collect();
    assert_eq!(times, [at(60_000), at(120_000), at(180_000)]);
    let (time, last) = outputs.last().unwrap();
    assert_eq!(
        (*time, last),
        (at(240_000), &Output::Unconfirmed { id: "m1".into() })
    );
}

#[test]
fn a_possibly_acknowledged_message_is_sent_again_later() {
    let mut settings = config("alice");
    settings.sync_ms = 10_000_000;
    let mut alice = Channel::new(Time::ZERO, settings, rng(1));
    send(&mut alice, at(0), "m1");
    receive(
        &mut alice,
        at(1),
        &sync("bob", BloomFilter::of(["m1"]).as_bytes().to_vec()),
    );
    let outputs = run(&mut alice, at(200_000));
    let times: Vec<Time> = outputs
        .iter()
        .filter(|(_, it)| matches!(it, Output::Publish { .. }))
        .map(|(at, _)| *at)
        .collect();
    assert_eq!(times, [at(180_000)]);
}

#[test]
fn the_filter_has_what_arrived_even_if_it_waits() {
    let mut bob = member("bob");
    receive(&mut bob, at(1), &forged("m2", START_MS, &["m1"]).encode());
    let filter = decode(&send(&mut bob, at(2), "m3")).bloom_filter.unwrap();
    let filter = crate::BloomView::new(&filter).unwrap();
    assert!(filter.contains("m2") && !filter.contains("m1") && !filter.contains("m3"));
}

#[test]
fn a_full_filter_is_made_anew_of_the_latest_messages() {
    let mut settings = config("bob");
    settings.limits.max_log = 100;
    let mut bob = Channel::new(Time::ZERO, settings, rng(1));
    for n in 0..10_050 {
        receive(
            &mut bob,
            at(1),
            &forged(&format!("m{n}"), START_MS + n, &[]).encode(),
        );
    }
    let filter = decode(&send(&mut bob, at(2), "last")).bloom_filter.unwrap();
    let filter = crate::BloomView::new(&filter).unwrap();
    assert!((9_950..10_050).all(|n| filter.contains(&format!("m{n}"))));
    assert!(filter.fill_permille() < 15, "{}", filter.fill_permille());
}
