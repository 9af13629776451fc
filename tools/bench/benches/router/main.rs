//! Costs of a frame in the router alone, for Undertone's router and that of `libp2p-gossipsub`, given the
//! same RPCs: time and allocations, by size and kind.
//!
//! `cargo bench -p undertone-bench --bench router`
//!
//! Three variants, each with eight mesh peers, the same parameters and the same score:
//!
//! - [`Undertone`]: frames in, frames out;
//! - [`Behaviour`]: the behaviour of `libp2p-gossipsub` alone, decoded RPCs in, queued RPCs out; it neither
//!   decodes nor encodes;
//! - [`WithCodec`]: the same behaviour with its own codec and handlers, frames in, frames out, which is the
//!   work that [`Undertone`] does.
//!
//! Frames are complete in memory at the start and dropped at the end. No variant reads a socket, waits, or
//! runs its heartbeat.

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

/// Number of messages after which a router is replaced by a fresh one, untimed, because caches are only
/// emptied at heartbeats, and none runs. Small enough that memory is reused, as in practice.
const MESSAGES_PER_ROUTER: usize = 50;

/// A first copy: its id is computed, IDONTWANT is sent, and it is accepted and forwarded to seven peers. One
/// at a time, so that the queues can be emptied, untimed, before the next.
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

/// Hashing alone, which all the others include: the lower bound.
#[divan::bench(args = SIZES)]
fn message_id(bencher: divan::Bencher<'_, '_>, size: usize) {
    let data = vec![7; size];
    bencher.bench_local(|| MessageId::of(divan::black_box(&data)));
}

fn main() {
    divan::main();
}
