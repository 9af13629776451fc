//! Order in which waiting queries have their turns: one of each peer after another.

use std::collections::{BTreeMap, VecDeque};

use crate::{PeerNo, RequestNo};

/// Queries that wait, each peer's in the order of their arrival.
#[derive(Debug, Default)]
pub(super) struct Turns {
    /// Waiting queries of each peer; none is empty.
    queues: BTreeMap<PeerNo, VecDeque<RequestNo>>,
    /// Peers with waiting queries, the next one first.
    order: VecDeque<PeerNo>,
    len: usize,
}

impl Turns {
    /// Number of waiting queries.
    pub(super) fn len(&self) -> usize {
        self.len
    }

    pub(super) fn push(&mut self, peer: PeerNo, query: RequestNo) {
        let queue = self.queues.entry(peer).or_default();
        if queue.is_empty() {
            self.order.push_back(peer);
        }
        queue.push_back(query);
        self.len += 1;
    }

    /// Takes the query whose turn it is; its peer's next one comes after those of all others.
    pub(super) fn pop(&mut self) -> Option<RequestNo> {
        let peer = self.order.pop_front()?;
        let queue = self.queues.get_mut(&peer)?;
        let query = queue.pop_front();
        if queue.is_empty() {
            self.queues.remove(&peer);
        } else {
            self.order.push_back(peer);
        }
        self.len -= usize::from(query.is_some());
        query
    }

    pub(super) fn remove(&mut self, peer: PeerNo, query: RequestNo) {
        let Some(queue) = self.queues.get_mut(&peer) else {
            return;
        };
        let before = queue.len();
        queue.retain(|one| *one != query);
        self.len -= before - queue.len();
        if queue.is_empty() {
            self.queues.remove(&peer);
            self.order.retain(|one| *one != peer);
        }
    }

    /// Returns the last query of the peer with the most waiting ones, and their number.
    pub(super) fn last_of_greediest(&self) -> Option<(RequestNo, usize)> {
        let greediest = self.queues.values().max_by_key(|queue| queue.len())?;
        Some((*greediest.back()?, greediest.len()))
    }
}
