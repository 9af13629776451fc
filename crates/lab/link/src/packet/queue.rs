//! A bounded queue of packets with a drop discipline.

use std::collections::VecDeque;

use super::codel::{CoDelVerdict, HeadPacket, Law};
use super::config::{Discipline, LinkConfig};

/// A queued item with its length and time of arrival.
#[derive(Clone, Debug)]
struct QueuedPacket<T> {
    item: T,
    len_bytes: u32,
    since_ns: u64,
}

#[derive(Clone, Debug)]
pub(crate) struct PacketQueue<T> {
    waiting: VecDeque<QueuedPacket<T>>,
    bytes: u64,
    max_bytes: u64,
    law: Option<Law>,
}

impl<T> PacketQueue<T> {
    pub(crate) fn new(config: &LinkConfig) -> Self {
        Self {
            waiting: VecDeque::new(),
            bytes: 0,
            max_bytes: config.queue_max_bytes,
            law: match config.discipline {
                Discipline::Fifo => None,
                Discipline::CoDel(codel) => Some(Law::new(codel)),
            },
        }
    }

    /// Appends an item, or returns it as an error when it does not fit.
    pub(crate) fn push(&mut self, now_ns: u64, len_bytes: u32, item: T) -> Result<(), T> {
        let bytes = self.bytes.saturating_add(u64::from(len_bytes));
        if bytes > self.max_bytes {
            return Err(item);
        }
        self.bytes = bytes;
        self.waiting.push_back(QueuedPacket {
            item,
            len_bytes,
            since_ns: now_ns,
        });
        Ok(())
    }

    /// Takes the next packet to send, with its length. Packets that the discipline drops
    /// are passed to `dropped`.
    pub(crate) fn pop(&mut self, now_ns: u64, mut dropped: impl FnMut(T)) -> Option<(u32, T)> {
        let mut head = shift(&mut self.waiting, &mut self.bytes);
        if let Some(law) = &mut self.law {
            let mut verdict = law.first(now_ns, seen(now_ns, head.as_ref(), self.bytes));
            while verdict == CoDelVerdict::Drop {
                if let Some(late) = head {
                    dropped(late.item);
                }
                head = shift(&mut self.waiting, &mut self.bytes);
                verdict = law.next(now_ns, seen(now_ns, head.as_ref(), self.bytes));
            }
        }
        head.map(|head| (head.len_bytes, head.item))
    }

    /// Empties the queue and returns its items, first in, first out.
    pub(super) fn drain(&mut self) -> Vec<T> {
        self.bytes = 0;
        self.waiting.drain(..).map(|waiting| waiting.item).collect()
    }

    pub(super) fn len(&self) -> usize {
        self.waiting.len()
    }
}

fn shift<T>(waiting: &mut VecDeque<QueuedPacket<T>>, bytes: &mut u64) -> Option<QueuedPacket<T>> {
    let head = waiting.pop_front()?;
    *bytes -= u64::from(head.len_bytes);
    Some(head)
}

fn seen<T>(now_ns: u64, head: Option<&QueuedPacket<T>>, left_bytes: u64) -> Option<HeadPacket> {
    head.map(|head| HeadPacket {
        waited_ns: now_ns.saturating_sub(head.since_ns),
        left_bytes,
    })
}
