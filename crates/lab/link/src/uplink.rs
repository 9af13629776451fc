//! Scheduling of a host's uplink: the connection that sends next.

use std::collections::VecDeque;

use undertone_compact::FewMap;

use crate::profile::Sharing;

/// Connections that have data to send and room in their window.
#[derive(Debug)]
pub(crate) enum ReadyConnections {
    /// Ordered by the position of their first unsent frame among all frames that the host wrote.
    Written(FewMap<u64, u32>),
    /// Served in turns, first in, first out.
    Turns(VecDeque<u32>),
}

impl ReadyConnections {
    pub(crate) fn new(sharing: Sharing) -> Self {
        match sharing {
            Sharing::WriteOrder => Self::Written(FewMap::new()),
            Sharing::Turns { .. } => Self::Turns(VecDeque::new()),
        }
    }

    pub(crate) fn push(&mut self, order: u64, conn: u32) {
        match self {
            Self::Written(ordered) => {
                ordered.insert(order, conn);
            }
            Self::Turns(queue) => queue.push_back(conn),
        }
    }

    pub(crate) fn pop(&mut self) -> Option<u32> {
        match self {
            Self::Written(ordered) => ordered.pop_first().map(|(_, conn)| conn),
            Self::Turns(queue) => queue.pop_front(),
        }
    }

    pub(crate) fn remove(&mut self, conn: u32) {
        match self {
            Self::Written(ordered) => ordered.retain(|_, c| *c != conn),
            Self::Turns(queue) => queue.retain(|c| *c != conn),
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        match self {
            Self::Written(ordered) => ordered.is_empty(),
            Self::Turns(queue) => queue.is_empty(),
        }
    }
}
