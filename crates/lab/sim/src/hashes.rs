//! Caches of message hashes: each message is hashed once, however many nodes hold it.

use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use undertone_gossip::{MessageId, MessageIds};
use undertone_message::WakuMessage;
use undertone_relay::SignalHashes;
use undertone_rln::{Fr, signal_hash};

const SLOTS: usize = 1024;

/// Results keyed by the memory address of the bytes. An entry holds the bytes, so the memory cannot be
/// reused while the entry exists.
#[derive(Debug)]
struct Memo<V> {
    slots: Vec<Option<(Bytes, V)>>,
}

impl<V: Copy> Memo<V> {
    fn new() -> Self {
        Self {
            slots: (0..SLOTS).map(|_| None).collect(),
        }
    }

    fn get(&mut self, bytes: &Bytes, compute: impl FnOnce() -> V) -> V {
        let at = (bytes.as_ptr() as usize >> 4).wrapping_mul(0x9e37_79b9_7f4a_7c15_u64 as usize);
        let slot = &mut self.slots[at >> (usize::BITS - 10)];
        match slot {
            Some((held, value)) if held.as_ptr() == bytes.as_ptr() && held.len() == bytes.len() => {
                *value
            }
            _ => {
                let value = compute();
                *slot = Some((bytes.clone(), value));
                value
            }
        }
    }
}

/// Cache of message ids, shared by the nodes of a thread.
#[derive(Clone, Debug)]
pub(crate) struct SharedIds(Arc<Mutex<Memo<MessageId>>>);

/// Cache of signal hashes, shared by the nodes of a thread. A message is identified by its payload: two
/// messages that share the memory of their payload are copies of one message.
#[derive(Clone, Debug)]
pub(crate) struct SharedSignals(Arc<Mutex<Memo<(Fr, i64)>>>);

impl SharedIds {
    pub(crate) fn new() -> Self {
        Self(Arc::new(Mutex::new(Memo::new())))
    }
}

impl SharedSignals {
    pub(crate) fn new() -> Self {
        Self(Arc::new(Mutex::new(Memo::new())))
    }
}

impl MessageIds for SharedIds {
    fn id_of(&mut self, data: &Bytes) -> MessageId {
        let mut memo = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        memo.get(data, || MessageId::of(data))
    }
}

impl SignalHashes for SharedSignals {
    fn hash_of(&mut self, message: &WakuMessage) -> Fr {
        let timestamp_ns = message.timestamp_ns();
        let compute = || signal_hash(&message.payload, &message.content_topic, timestamp_ns);
        if message.payload.is_empty() {
            return compute();
        }
        let mut memo = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (hash, of_ns) = memo.get(&message.payload, || (compute(), timestamp_ns));
        if of_ns == timestamp_ns {
            hash
        } else {
            compute()
        }
    }
}
