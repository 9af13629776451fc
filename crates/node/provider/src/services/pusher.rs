//! Pusher of messages to subscribed peers: in order per peer, and concurrently for all peers.

use std::collections::{BTreeMap, VecDeque};
use std::io::ErrorKind;
use std::time::Duration;

use bytes::Bytes;
use libp2p::PeerId;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep_until, timeout};
use undertone_services::PeerNo;
use undertone_services::filter::PUSH_TIMEOUT;

use super::finished_work::FinishedWork;
use super::push_streams::{KeptEnd, PushEnd, PushStreams};
use undertone_network::swarm::StreamOpener;

#[cfg(test)]
#[path = "tests/pusher.rs"]
mod tests;

/// Time after which the idle task of a connected peer ends.
const IDLE: Duration = Duration::from_secs(600);

/// Time after which the idle task of a disconnected peer ends, so that peers that come and go under new identities
/// leave no tasks behind.
const IDLE_AWAY: Duration = Duration::from_secs(1);

/// Time from a peer's subscription to the opening of its stream. Clients reset streams from nodes at which they do not
/// know to be subscribed (go-waku), and they only know it once the answer has arrived.
const PREPARE_AFTER: Duration = Duration::from_secs(1);

/// Tasks that push messages, one for each peer that is being pushed to.
pub(super) struct Pusher {
    streams: StreamOpener,
    done: mpsc::UnboundedSender<FinishedWork>,
    tasks: BTreeMap<PeerNo, PushTask>,
}

struct PushTask {
    queue: mpsc::UnboundedSender<Bytes>,
    task: JoinHandle<()>,
}

impl Drop for PushTask {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Pusher {
    pub(super) fn new(streams: StreamOpener, done: mpsc::UnboundedSender<FinishedWork>) -> Self {
        Self {
            streams,
            done,
            tasks: BTreeMap::new(),
        }
    }

    /// Queues a frame for a peer; the filter server bounds the number of frames. The outcome is reported.
    pub(super) fn push(&mut self, number: PeerNo, peer: PeerId, frame: Bytes) {
        let frame = match self.tasks.get(&number) {
            Some(known) => match known.queue.send(frame) {
                Ok(()) => return,
                // The task has ended because it was idle.
                Err(mpsc::error::SendError(frame)) => frame,
            },
            None => frame,
        };
        let queue = self.start(number, peer, None);
        // Its receiver is in the task that starts here.
        let _ = queue.send(frame);
    }

    /// Has a stream opened soon for the messages of a subscribed peer, unless one may be open.
    pub(super) fn prepare(&mut self, number: PeerNo, peer: PeerId) {
        if !self.pushes_to(number) {
            self.start(number, peer, Some(Instant::now() + PREPARE_AFTER));
        }
    }

    /// Starts the task of a peer, which opens its first stream at the given time or for the first message.
    fn start(
        &mut self,
        number: PeerNo,
        peer: PeerId,
        prepare_at: Option<Instant>,
    ) -> mpsc::UnboundedSender<Bytes> {
        let (queue, frames) = mpsc::unbounded_channel();
        let outlet = PushStreams::new(self.streams.clone(), peer);
        let pushing = run(
            outlet,
            (number, peer),
            frames,
            self.done.clone(),
            prepare_at,
        );
        let task = PushTask {
            queue: queue.clone(),
            task: tokio::spawn(pushing),
        };
        self.tasks.insert(number, task);
        queue
    }

    /// Stops the task of a peer, without reports.
    pub(super) fn forget(&mut self, peer: PeerNo) {
        self.tasks.remove(&peer);
    }

    /// Forgets the task of a peer if it has ended; another one may have been started since.
    pub(super) fn forget_ended(&mut self, peer: PeerNo) {
        if !self.pushes_to(peer) {
            self.tasks.remove(&peer);
        }
    }

    /// Whether a task for the peer may be running.
    pub(super) fn pushes_to(&self, peer: PeerNo) -> bool {
        self.tasks
            .get(&peer)
            .is_some_and(|known| !known.queue.is_closed())
    }
}

async fn run(
    mut outlet: PushStreams,
    (number, peer): (PeerNo, PeerId),
    mut frames: mpsc::UnboundedReceiver<Bytes>,
    done: mpsc::UnboundedSender<FinishedWork>,
    mut prepare_at: Option<Instant>,
) {
    // The host may have ended.
    let report = |delivered| {
        let pushed = FinishedWork::Pushed {
            peer: number,
            delivered,
        };
        done.send(pushed).is_ok()
    };
    let mut idle = IDLE;
    // Messages that the client has not read from the stream they were written to, oldest first.
    let mut unread = VecDeque::new();
    loop {
        let pushed = if let Some(frame) = unread.pop_front() {
            timeout(PUSH_TIMEOUT, outlet.push_apart(&frame)).await
        } else {
            let next = tokio::select! {
                biased;
                kept = outlet.learn() => {
                    match kept {
                        KeptEnd::Sent(count) => for _ in 0..count {
                            report(true);
                        }
                        KeptEnd::Unread(frames) => unread.extend(frames),
                    }
                    continue;
                }
                () = until(prepare_at) => {
                    prepare_at = None;
                    if let Ok(Err(error)) = timeout(PUSH_TIMEOUT, outlet.prepare()).await {
                        tracing::debug!(%peer, %error, "cannot open a stream for messages");
                        idle = IDLE_AWAY;
                    }
                    continue;
                }
                next = timeout(idle, frames.recv()) => next,
            };
            let frame = match next {
                Ok(Some(frame)) => frame,
                Ok(None) => {
                    let _ = done.send(FinishedWork::Idle { peer: number });
                    return;
                }
                Err(_) => {
                    // A frame that has just arrived is still pushed; the next one finds the queue closed.
                    frames.close();
                    continue;
                }
            };
            let pushed = timeout(PUSH_TIMEOUT, outlet.push(&frame)).await;
            if pushed.is_err() {
                // The stream accepted all messages kept before.
                for _ in 0..outlet.give_up() {
                    report(true);
                }
            }
            pushed
        };
        let is_away = matches!(&pushed, Ok(Err(error)) if error.kind() == ErrorKind::NotConnected);
        idle = if is_away { IDLE_AWAY } else { IDLE };
        if let Ok(Err(error)) = &pushed {
            tracing::debug!(%peer, %error, "cannot push a message");
        }
        let is_heard = match pushed {
            Ok(Ok(PushEnd::Kept)) => true,
            Ok(Ok(PushEnd::Sent)) => report(true),
            Ok(Err(_)) | Err(_) => report(false),
        };
        if !is_heard {
            return;
        }
    }
}

/// Waits until the given time, or for ever.
async fn until(time: Option<Instant>) {
    match time {
        Some(time) => sleep_until(time).await,
        None => std::future::pending().await,
    }
}
