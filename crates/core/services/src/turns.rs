//! Round-robin order of waiting requests: one of each peer after another.

use std::collections::{BTreeMap, VecDeque};

use crate::{PeerNo, RequestNo};

/// Waiting requests, each peer's in the order of their arrival.
#[derive(Debug, Default)]
pub(crate) struct Turns {
    /// Waiting requests of each peer; none is empty.
    queues: BTreeMap<PeerNo, VecDeque<RequestNo>>,
    /// Peers with waiting requests, the next one first.
    order: VecDeque<PeerNo>,
    len: usize,
}

impl Turns {
    /// Returns the number of waiting requests.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    pub(crate) fn push(&mut self, peer: PeerNo, request: RequestNo) {
        let queue = self.queues.entry(peer).or_default();
        if queue.is_empty() {
            self.order.push_back(peer);
        }
        queue.push_back(request);
        self.len += 1;
    }

    /// Takes the next request; its peer's following one comes after those of all others.
    pub(crate) fn pop(&mut self) -> Option<RequestNo> {
        let peer = self.order.pop_front()?;
        let queue = self.queues.get_mut(&peer)?;
        let request = queue.pop_front();
        if queue.is_empty() {
            self.queues.remove(&peer);
        } else {
            self.order.push_back(peer);
        }
        self.len -= usize::from(request.is_some());
        request
    }

    pub(crate) fn remove(&mut self, peer: PeerNo, request: RequestNo) {
        let Some(queue) = self.queues.get_mut(&peer) else {
            return;
        };
        let before = queue.len();
        queue.retain(|one| *one != request);
        self.len -= before - queue.len();
        if queue.is_empty() {
            self.queues.remove(&peer);
            self.order.retain(|one| *one != peer);
        }
    }

    /// Returns the last request of the peer with the most waiting ones, and how many that peer has.
    pub(crate) fn last_of_greediest(&self) -> Option<(RequestNo, usize)> {
        let greediest = self.queues.values().max_by_key(|queue| queue.len())?;
        Some((*greediest.back()?, greediest.len()))
    }
}
