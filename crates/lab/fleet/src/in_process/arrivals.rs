//! Record of the messages that arrived at watched nodes, with their times.

use std::sync::Arc;
use std::time::Instant;

use parking_lot::Mutex;
use undertone_message::WakuMessage;
use undertone_node::handle::{Delivery, MessageSink, NodeHandle};

/// A message found valid at a node that did not publish it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LoggedArrival {
    pub(crate) message: u32,
    pub(crate) at: Instant,
}

/// List of all arrivals at the watched nodes; clones share it.
#[derive(Clone, Default)]
pub(crate) struct ArrivalLog {
    list: Arc<Mutex<Vec<LoggedArrival>>>,
}

impl ArrivalLog {
    /// Starts to record the messages that arrive at a node.
    pub(crate) fn watch(&self, node: &NodeHandle) {
        node.add_sink(Arc::new(self.clone()));
    }

    pub(crate) fn count(&self) -> usize {
        self.list.lock().len()
    }

    /// Returns all arrivals recorded so far.
    pub(crate) fn list(&self) -> Vec<LoggedArrival> {
        self.list.lock().clone()
    }
}

impl MessageSink for ArrivalLog {
    fn deliver(&self, delivery: &Delivery) -> bool {
        if delivery.from.is_some()
            && let Some(message) = number(&delivery.message)
        {
            let at = delivery.validated;
            self.list.lock().push(LoggedArrival { message, at });
        }
        true
    }
}

/// Makes a message whose payload begins with its number; `size_bytes` long, but at least four bytes.
pub(crate) fn numbered(number: u32, size_bytes: usize) -> WakuMessage {
    let mut payload = number.to_be_bytes().to_vec();
    payload.resize(size_bytes.max(payload.len()), 0x5a);
    WakuMessage::new(payload, "/undertone/1/lab/proto")
}

fn number(message: &WakuMessage) -> Option<u32> {
    let bytes = message.payload.first_chunk()?;
    Some(u32::from_be_bytes(*bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_carries_its_number() {
        let message = numbered(70_000, 2_000);
        assert_eq!(message.payload.len(), 2_000);
        assert_eq!(number(&message), Some(70_000));
        assert_eq!(number(&WakuMessage::new(vec![1, 2], "/a/1/b/proto")), None);
    }
}
