use libp2p::PeerId;
use libp2p_gossipsub::{Message, MessageId};
use tokio::time::{Instant, sleep_until};
use undertone_conformance::payload;
use undertone_conformance::protocol::{Event, REPORT_DELAY};
use undertone_node_process::host::monotonic_ns;

/// Received messages not yet reported.
#[derive(Default)]
pub(crate) struct Reports {
    waiting: Vec<Event>,
    due: Option<Instant>,
}

impl Reports {
    pub(crate) fn received(&mut self, from: &PeerId, id: &MessageId, message: Message) {
        let now_ns = monotonic_ns();
        let topic = message.topic.into_string();
        let id = hex::encode(&id.0);
        let event = payload::delivery(topic, id, from.to_string(), &message.data, now_ns);
        self.waiting.push(Event::Message(event));
        self.due
            .get_or_insert_with(|| Instant::now() + REPORT_DELAY);
    }

    /// Waits until the reports are due; never returns if there are none.
    pub(crate) async fn due(&self) {
        match self.due {
            Some(due) => sleep_until(due).await,
            None => std::future::pending().await,
        }
    }

    pub(crate) fn take(&mut self) -> Vec<Event> {
        self.due = None;
        std::mem::take(&mut self.waiting)
    }
}
