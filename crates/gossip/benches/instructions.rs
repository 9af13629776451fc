//! Fixed work of the router for `cargo xtask instructions`, which counts the instructions of the functions
//! named `measured_*`. Takes the name of the work; prints how many times it was done.

mod support;

use bytes::Bytes;
use support::Bench;
use undertone_gossip::{Input, MessageId, PeerIx, Verdict};

/// Messages of one measurement: as many as a router remembers without forgetting any.
const MESSAGES: usize = 500;
const HEARTBEATS: usize = 100;

fn main() {
    let work = std::env::args().skip(1).find(|arg| !arg.starts_with("--"));
    let done = match work.as_deref() {
        Some("new-2k") => new_messages(2 << 10),
        Some("new-150k") => new_messages(150 << 10),
        Some("duplicate-2k") => duplicates(2 << 10),
        Some("heartbeat") => heartbeats(),
        // A plain `cargo bench` starts every benchmark, this one without a name.
        _ => {
            println!("cargo xtask instructions runs this");
            return;
        }
    };
    println!("times: {done}");
}

fn new_messages(size: usize) -> usize {
    let mut other = Bench::new();
    let messages: Vec<_> = (0..MESSAGES).map(|_| other.message(size)).collect();
    measured_new(&mut Bench::new(), messages);
    MESSAGES
}

/// First copies: each is decoded, named, announced by IDONTWANT, accepted, forwarded to seven peers.
#[inline(never)]
fn measured_new(bench: &mut Bench, messages: Vec<(MessageId, Bytes)>) {
    for (id, frame) in messages {
        bench.frame(PeerIx(0), frame);
        bench.input(Input::Validated {
            id,
            verdict: Verdict::Accept,
        });
    }
}

fn duplicates(size: usize) -> usize {
    let mut bench = Bench::new();
    let (id, frame) = bench.message(size);
    bench.frame(PeerIx(0), frame.clone());
    bench.input(Input::Validated {
        id,
        verdict: Verdict::Accept,
    });
    measured_duplicates(&mut bench, &frame);
    MESSAGES
}

/// Further copies of an accepted message.
#[inline(never)]
fn measured_duplicates(bench: &mut Bench, frame: &Bytes) {
    for _ in 0..MESSAGES {
        bench.frame(PeerIx(1), frame.clone());
    }
}

fn heartbeats() -> usize {
    measured_heartbeats(&mut Bench::new());
    HEARTBEATS
}

/// Upkeep of eight peers, once a second.
#[inline(never)]
fn measured_heartbeats(bench: &mut Bench) {
    for _ in 0..HEARTBEATS {
        bench.now = bench.now.after(std::time::Duration::from_secs(1));
        bench.input(Input::Tick);
    }
}
