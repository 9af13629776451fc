//! Cost of a frame in the router alone: time and allocations, by size and kind.
//!
//! `cargo bench -p undertone-gossip --bench router`

mod support;

use support::Bench;
use undertone_gossip::{Input, MessageId, PeerIx, Verdict};

#[global_allocator]
static ALLOCATIONS: divan::AllocProfiler = divan::AllocProfiler::system();

const SIZES: [usize; 3] = [2 << 10, 25 << 10, 150 << 10];

/// First copy of a message: decoded, id computed, announced by IDONTWANT, accepted, forwarded to
/// seven peers.
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
            // A new router before the ids repeat.
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

/// Duplicate of an accepted message.
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

/// Hashing alone, which both benchmarks above include: the lower bound.
#[divan::bench(args = SIZES)]
fn message_id(bencher: divan::Bencher<'_, '_>, size: usize) {
    let data = vec![7; size];
    bencher.bench_local(|| MessageId::of(divan::black_box(&data)));
}

/// Upkeep for eight peers with a full advertisement window.
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
