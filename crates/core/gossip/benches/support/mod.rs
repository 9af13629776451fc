//! Router in a mesh, as driven by the benchmarks.

use bytes::Bytes;
use undertone_gossip::{
    Config, Direction, Features, Input, MessageId, NewPeer, PeerIx, Router, Time, Topic, wire,
};

const PEERS: u32 = 8;

/// Router with eight mesh peers.
pub(crate) struct Bench {
    router: Router,
    topic: Topic,
    pub(crate) now: Time,
    next: u64,
}

impl Bench {
    /// Returns a router that has joined the topic and its mesh.
    pub(crate) fn new() -> Self {
        let router = Router::new(Config::waku(), [7; 32], Time::ZERO).expect("the preset is valid");
        let topic = Topic::new("/waku/2/rs/66/0");
        let mut bench = Self {
            router,
            topic,
            now: Time::from_millis(1),
            next: 0,
        };
        bench.input(Input::Subscribe(bench.topic.clone()));
        let features = Features::of("/vac/waku/relay/2.0.0").expect("the id is in the table");
        for peer in (0..PEERS).map(PeerIx) {
            bench.input(Input::Connected(NewPeer::new(
                peer,
                features,
                Direction::Outbound,
            )));
            let mut hello = wire::Encoder::default();
            hello.subscription(true, &bench.topic);
            hello.graft(&bench.topic);
            let hello = hello.finish().expect("two entries");
            bench.frame(peer, hello);
        }
        assert_eq!(bench.router.mesh(&bench.topic).len(), PEERS as usize);
        bench
    }

    /// Passes one input to the router and discards all its outputs.
    pub(crate) fn input(&mut self, input: Input) {
        self.router
            .handle(self.now, input)
            .expect("the bench keeps the contract");
        while let Some(output) = self.router.poll() {
            std::hint::black_box(output);
        }
    }

    /// Passes a peer's frame to the router.
    pub(crate) fn frame(&mut self, peer: PeerIx, frame: Bytes) {
        self.input(Input::Frame {
            peer,
            frame: frame.into(),
        });
    }

    /// Returns a new message, as a frame.
    pub(crate) fn message(&mut self, size: usize) -> (MessageId, Bytes) {
        let mut data = vec![0; size];
        data[..8].copy_from_slice(&self.next.to_be_bytes());
        self.next += 1;
        // Time advances, so that caches turn over as in real use.
        self.now = self.now.after(std::time::Duration::from_millis(10));
        self.input(Input::Tick);
        (
            MessageId::of(&data),
            wire::message_frame(&self.topic, &data),
        )
    }
}
