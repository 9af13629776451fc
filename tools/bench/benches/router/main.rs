//! What a frame costs in the router alone, Undertone's beside `libp2p-gossipsub`'s, fed the same RPCs:
//! time and allocations, by size and kind.
//!
//! `cargo bench -p undertone-bench --bench router`
//!
//! Three variants, each with eight mesh peers, the same parameters and the same score:
//!
//! - [`Undertone`]: frames in, frames out;
//! - [`Behaviour`]: the behaviour of `libp2p-gossipsub` by itself, decoded RPCs in, queued RPCs out: it
//!   neither decodes nor encodes;
//! - [`WithCodec`]: the same behaviour between its own codec and its own handlers, frames in, frames
//!   out: what [`Undertone`] does.
//!
//! Frames lie complete in memory at the start and are dropped at the end; no variant reads a socket,
//! waits, or has its heartbeat run.

mod frames;
mod gossipsub;
mod streams;
mod subject;
mod undertone;

use std::cell::RefCell;

use bytes::Bytes;
use undertone_gossip::MessageId;

use frames::Messages;
use gossipsub::{Behaviour, WithCodec};
use subject::{Checked, Subject};
use undertone::Undertone;

#[global_allocator]
static ALLOCATIONS: divan::AllocProfiler = divan::AllocProfiler::system();

const SIZES: [usize; 3] = [2 << 10, 25 << 10, 150 << 10];

/// Messages that a router sees before it is replaced by a fresh one, untimed: caches turn over with
/// heartbeats, and none runs. So few that memory is used again, as it is in life.
const MESSAGES_PER_ROUTER: usize = 50;

/// A first copy: named, announced by IDONTWANT, accepted, forwarded to seven peers. One at a time, so
/// that what is left in queues is taken out, untimed, before the next.
#[divan::bench(
    types = [Undertone, Behaviour, WithCodec],
    args = SIZES,
    sample_size = 1,
    sample_count = 1500,
)]
fn new_message<S: Subject>(bencher: divan::Bencher<'_, '_>, size: usize) {
    let mut messages = Messages::new(size);
    let subject = RefCell::new(Checked::<S>::new(&mut messages));
    let mut left = MESSAGES_PER_ROUTER;
    bencher
        .with_inputs(|| {
            let mut subject = subject.borrow_mut();
            subject.settle();
            if left == 0 {
                *subject = Checked::new(&mut messages);
                left = MESSAGES_PER_ROUTER;
            }
            left -= 1;
            subject.arriving(&messages.fresh())
        })
        .bench_local_values(|arriving| subject.borrow_mut().first_copy(arriving));
    subject.borrow_mut().settle();
}

/// A further copy of an accepted message, from another peer than the first.
#[divan::bench(types = [Undertone, Behaviour, WithCodec], args = SIZES)]
fn duplicate<S: Subject>(bencher: divan::Bencher<'_, '_>, size: usize) {
    let mut messages = Messages::new(size);
    let subject = RefCell::new(Checked::<S>::new(&mut messages));
    let frame: Bytes = messages.fresh();
    let arriving = subject.borrow_mut().arriving(&frame);
    subject.borrow_mut().first_copy(arriving);
    bencher
        .with_inputs(|| subject.borrow_mut().arriving(&frame))
        .bench_local_values(|arriving| subject.borrow_mut().further_copy(arriving));
    subject.borrow_mut().settle();
}

/// Hashing alone, which all of the above contain: the floor.
#[divan::bench(args = SIZES)]
fn message_id(bencher: divan::Bencher<'_, '_>, size: usize) {
    let data = vec![7; size];
    bencher.bench_local(|| MessageId::of(divan::black_box(&data)));
}

fn main() {
    divan::main();
}
