//! What the node reports within its process: to the application, observers, its services and its operator.

use std::time::{Duration, Instant};

use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use super::events::{NodeEvent, TimedEvent};
use super::peer_news::PeerNews;
use crate::handle::{Deliveries, Delivery};
use crate::swarm::NoSlot;

/// Minimum time between two log lines about refused peers.
const REFUSALS_QUIET: Duration = Duration::from_secs(60);

/// Item for the task that passes deliveries to the application.
#[expect(clippy::large_enum_variant, reason = "nearly all items are deliveries")]
enum OutwardItem {
    /// Message to be delivered.
    Deliver(Delivery),
    /// Action to run after the deliveries queued before it.
    Then(Box<dyn FnOnce() + Send>),
}

/// Channels to the application, to observers and to the services.
pub(crate) struct Outward {
    deliveries: mpsc::UnboundedSender<OutwardItem>,
    events: Option<mpsc::UnboundedSender<TimedEvent>>,
    /// Channel for news about peers that the services need.
    peer_news: Option<mpsc::UnboundedSender<PeerNews>>,
    /// Time from which on refused peers are logged again.
    refusals_quiet_until: Option<Instant>,
}

impl Outward {
    /// Starts the task that delivers messages to the application. It ends once this value is dropped and all messages
    /// are delivered.
    pub(super) fn start(
        sinks: Deliveries,
        events: Option<mpsc::UnboundedSender<TimedEvent>>,
        peer_news: Option<mpsc::UnboundedSender<PeerNews>>,
    ) -> (Self, JoinHandle<()>) {
        let (deliveries, waiting) = mpsc::unbounded_channel();
        let delivering = tokio::spawn(deliver(waiting, sinks));
        let outward = Self {
            deliveries,
            events,
            peer_news,
            refusals_quiet_until: None,
        };
        (outward, delivering)
    }

    /// Delivers a message to the application.
    pub(super) fn deliver(&self, delivery: Delivery) {
        // The delivery task lives as long as the runtime that this runs on.
        let _ = self.deliveries.send(OutwardItem::Deliver(delivery));
    }

    /// Runs an action once the application has received all earlier deliveries, for example to report that a message is
    /// published.
    pub(super) fn after_deliveries(&self, action: impl FnOnce() + Send + 'static) {
        // The delivery task lives as long as the runtime that this runs on.
        let _ = self.deliveries.send(OutwardItem::Then(Box::new(action)));
    }

    pub(super) fn event(&self, event: NodeEvent) {
        if let Some(events) = &self.events {
            // The observer may have stopped.
            let at = Instant::now();
            let _ = events.send(TimedEvent { at, event });
        }
    }

    pub(super) fn notify_services(&self, news: PeerNews) {
        if let Some(services) = &self.peer_news {
            // The services may have ended.
            let _ = services.send(news);
        }
    }

    /// Logs that a peer that dialled was refused for lack of a slot, at most once a minute.
    pub(super) fn log_refusal(&mut self, reason: NoSlot, refused: u64) {
        let now = Instant::now();
        if self.refusals_quiet_until.is_none_or(|until| until <= now) {
            self.refusals_quiet_until = Some(now + REFUSALS_QUIET);
            tracing::warn!(%reason, refused, "refusing a peer that has dialled; see max-connections and max-clients");
        }
    }
}

/// Delivers messages to the application, after the copies to peers have been queued.
///
/// A task of its own: on the network thread it runs after the connection tasks that were woken to write, so the
/// application does not add to the relay's latency. One turn of the event loop accepts a bounded number of messages,
/// which bounds the queue.
async fn deliver(mut waiting: mpsc::UnboundedReceiver<OutwardItem>, sinks: Deliveries) {
    let take = |item| match item {
        OutwardItem::Deliver(delivery) => sinks.deliver(&delivery),
        OutwardItem::Then(action) => action(),
    };
    while let Some(first) = waiting.recv().await {
        tokio::task::yield_now().await;
        take(first);
        while let Ok(item) = waiting.try_recv() {
            take(item);
        }
    }
}
