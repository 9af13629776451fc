//! What a frame costs in the router alone: time and allocations, by size and kind.
//!
//! `cargo bench -p undertone-gossip --bench router`

use bytes::Bytes;
use undertone_gossip::{
    Config, Direction, Features, Input, MessageId, NewPeer, PeerIx, Router, Time, Topic, Verdict,
    wire,
};

#[global_allocator]
static ALLOCATIONS: divan::AllocProfiler = divan::AllocProfiler::system();

const SIZES: [usize; 3] = [2 << 10, 25 << 10, 150 << 10];
const PEERS: u32 = 8;

/// A router with eight mesh peers.
struct Bench {
    router: Router,
    topic: Topic,
    now: Time,
    next: u64,
}

impl Bench {
    fn new() -> Self {
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
            let connected = NewPeer::new(peer, features, Direction::Outbound);
            bench.input(Input::Connected(connected));
            let mut hello = wire::Encoder::default();
            hello.subscription(true, &bench.topic);
            hello.graft(&bench.topic);
            let hello = hello.finish().expect("two entries");
            bench.frame(peer, hello);
        }
        assert_eq!(bench.router.mesh(&bench.topic).len(), PEERS as usize);
        bench
    }

    fn input(&mut self, input: Input) {
        self.router
            .handle(self.now, input)
            .expect("the bench keeps the contract");
        while let Some(output) = self.router.poll() {
            divan::black_box(output);
        }
    }

    fn frame(&mut self, peer: PeerIx, frame: Bytes) {
        self.input(Input::Frame {
            peer,
            frame: frame.into(),
        });
    }

    /// A message that was never seen, as a frame.
    fn message(&mut self, size: usize) -> (MessageId, Bytes) {
        let mut data = vec![0; size];
        data[..8].copy_from_slice(&self.next.to_be_bytes());
        self.next += 1;
        // Time moves on, so that caches turn over as they do in life.
        self.now = self.now.after(std::time::Duration::from_millis(10));
        self.input(Input::Tick);
        (
            MessageId::of(&data),
            wire::message_frame(&self.topic, &data),
        )
    }
}

/// A first copy: decoded, named, announced by IDONTWANT, accepted, forwarded to seven peers.
#[divan::bench(args = SIZES)]
fn new_message(bencher: divan::Bencher<'_, '_>, size: usize) {
    let mut bench = Bench::new();
    let messages: Vec<_> = (0..500).map(|_| bench.message(size)).collect();
    let mut messages = messages.into_iter().cycle();
    let mut bench = Bench::new();
    let mut left = 0;
    bencher
        .with_inputs(|| messages.next().expect("cycles"))
        .bench_local_values(|(id, frame)| {
            // A fresh router before ids come round again.
            if left == 0 {
                bench = Bench::new();
                left = 500;
            }
            left -= 1;
            bench.frame(PeerIx(0), frame);
            bench.input(Input::Validated {
                id,
                verdict: Verdict::Accept,
            });
        });
}

/// A further copy of an accepted message.
#[divan::bench(args = SIZES)]
fn duplicate(bencher: divan::Bencher<'_, '_>, size: usize) {
    let mut bench = Bench::new();
    let (id, frame) = bench.message(size);
    bench.frame(PeerIx(0), frame.clone());
    bench.input(Input::Validated {
        id,
        verdict: Verdict::Accept,
    });
    bencher.bench_local(|| bench.frame(PeerIx(1), frame.clone()));
}

/// Hashing alone, which both of the above contain: the floor.
#[divan::bench(args = SIZES)]
fn message_id(bencher: divan::Bencher<'_, '_>, size: usize) {
    let data = vec![7; size];
    bencher.bench_local(|| MessageId::of(divan::black_box(&data)));
}

/// An upkeep of eight peers with a full advertisement window.
#[divan::bench]
fn heartbeat(bencher: divan::Bencher<'_, '_>) {
    let mut bench = Bench::new();
    bencher.bench_local(|| {
        bench.now = bench.now.after(std::time::Duration::from_secs(1));
        bench.input(Input::Tick);
    });
}

fn main() {
    divan::main();
}
