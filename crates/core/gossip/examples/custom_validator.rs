//! A custom validator: messages must carry a valid checksum, and the sender of an invalid one is blamed.
//!
//! `cargo run -p undertone-gossip --example custom_validator`

use std::error::Error;

use bytes::Bytes;
use undertone_gossip::{
    Config, Direction, Features, Input, NewPeer, Output, PeerIx, Router, Time, Topic, Verdict, wire,
};

/// Validates a message. This may take any time, because the router continues meanwhile, and the verdict may come
/// from another thread.
fn verdict(data: &[u8]) -> Verdict {
    match data.split_last() {
        // Not ours to judge: dropped without blame.
        None => Verdict::Ignore,
        Some((checksum, content)) => {
            let sum = content
                .iter()
                .fold(0u8, |sum, byte| sum.wrapping_add(*byte));
            if sum == *checksum {
                Verdict::Accept
            } else {
                // Every peer that sent a copy loses score (P4).
                Verdict::Reject
            }
        }
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut router = Router::new(Config::waku(), [1; 32], Time::ZERO)?;
    let topic = Topic::new("/example/1");
    let features = Features::of("/meshsub/1.2.0").ok_or("not in the table of protocols")?;
    let peer = PeerIx(0);
    let connected = NewPeer::new(peer, features, Direction::Outbound);
    let mut inputs = vec![Input::Subscribe(topic.clone()), Input::Connected(connected)];
    for data in [&b"abc\x26"[..], b"abc\x27", b""] {
        let frame = wire::message_frame(&topic, data).into();
        inputs.push(Input::Frame { peer, frame });
    }
    let mut delivered: Vec<Bytes> = Vec::new();
    for input in inputs {
        router.handle(Time::ZERO, input)?;
        let mut verdicts = Vec::new();
        while let Some(output) = router.poll() {
            match output {
                Output::Validate { id, data, .. } => verdicts.push((id, verdict(&data))),
                Output::Deliver { data, .. } => delivered.push(data),
                // A driver handles all outputs, see the example `two_nodes`.
                _ => {}
            }
        }
        for (id, verdict) in verdicts {
            println!("{id:?}: {verdict:?}");
            router.handle(Time::ZERO, Input::Validated { id, verdict })?;
            while let Some(output) = router.poll() {
                if let Output::Deliver { data, .. } = output {
                    delivered.push(data);
                }
            }
        }
    }
    println!(
        "delivered {delivered:?}; score of the peer: {}",
        router.score(peer)
    );
    assert_eq!(delivered, [&b"abc\x26"[..]]);
    assert!(router.score(peer) < 0.0);
    Ok(())
}
