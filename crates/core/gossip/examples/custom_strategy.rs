//! A custom strategy: messages are forwarded to the best-scoring peers of the mesh first, and to the others a
//! little later, so that an IDONTWANT in between saves their copies.
//!
//! `cargo run -p undertone-gossip --example custom_strategy`

use std::error::Error;
use std::time::Duration;

use bytes::Bytes;
use undertone_gossip::{
    Config, Direction, Features, Input, NewPeer, Output, PeerIx, RequestId, Rng, Router, SendPlan,
    Strategy, StrategyChoice, StrategyFactory, Time, Topic, View, wire,
};

/// Parameters of the strategy, from which each router builds its own.
#[derive(Clone, Copy, Debug)]
struct BestFirst {
    /// Number of peers that get a copy at once.
    at_once: usize,
    /// Delay before the others get theirs.
    pause: Duration,
}

impl StrategyFactory for BestFirst {
    fn build(&self) -> Box<dyn Strategy> {
        Box::new(*self)
    }
}

/// Differs from GossipSub only in how copies are spread over time; the default methods choose the receivers.
impl Strategy for BestFirst {
    fn spread(
        &mut self,
        view: &View<'_>,
        _len: usize,
        mut receivers: Vec<PeerIx>,
        _rng: &mut Rng,
    ) -> SendPlan {
        // A stable sort of a list in ascending order: the choice is deterministic.
        receivers.sort_by(|a, b| view.score(*b).total_cmp(&view.score(*a)));
        let later = receivers.split_off(self.at_once.min(receivers.len()));
        let at = view.now().after(self.pause);
        SendPlan::at_once(receivers).later(later, at, usize::MAX)
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut config = Config::libp2p();
    config.strategy = StrategyChoice::custom(BestFirst {
        at_once: 2,
        pause: Duration::from_millis(50),
    });
    let mut router = Router::new(config, [1; 32], Time::ZERO)?;
    let topic = Topic::new("/example/1");
    let features = Features::of("/meshsub/1.2.0").ok_or("not in the table of protocols")?;
    let mut inputs = vec![Input::Subscribe(topic.clone())];
    for peer in (0..5).map(PeerIx) {
        inputs.push(Input::Connected(NewPeer::new(
            peer,
            features,
            Direction::Outbound,
        )));
        // Five peers that subscribe to the topic.
        let mut subscribe = wire::Encoder::default();
        subscribe.subscription(true, &topic);
        let frame = subscribe.finish().ok_or("the frame has an entry")?.into();
        inputs.push(Input::Frame { peer, frame });
    }
    let data = Bytes::from_static(b"hello");
    let copy = wire::message_frame(&topic, &data);
    inputs.push(Input::Publish {
        topic,
        data,
        request: RequestId(1),
    });
    let mut copies_at = |now: Time, input: Input| -> Result<Vec<PeerIx>, Box<dyn Error>> {
        router.handle(now, input)?;
        let sent = std::iter::from_fn(|| router.poll()).filter_map(|output| match output {
            Output::Send { peer, frame, .. } if frame == copy => Some(peer),
            _ => None,
        });
        Ok(sent.collect())
    };
    let mut copies = Vec::new();
    for input in inputs {
        copies.extend(copies_at(Time::ZERO, input)?);
    }
    println!("at once: {copies:?}");
    assert_eq!(copies.len(), 2);
    let later = copies_at(Time::from_millis(50), Input::Tick)?;
    println!("after 50 ms: {later:?}");
    assert_eq!(later.len(), 3);
    Ok(())
}
