//! Task that drives the state machine of one channel member.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::ErrorKind;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use undertone_network::handle::Stopped;

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{RngCore as _, SeedableRng as _};
use tokio::sync::mpsc;
use undertone_gossip::{MessageId, Time};
use undertone_message::{MessageHash, PubsubTopic, WakuMessage};
use undertone_rln::durable;
use undertone_sds::{CausalHistoryEntry, Channel, Id, IdRule, Input, Output, PublishReason};
use undertone_services::history::{HistoryCriteria, HistoryEntry, HistoryQuery, PageDirection};
use undertone_services::sending::SendId;

use super::ChannelSend;
use super::events::{ChannelEvent, ChannelFailure};
use super::options::ChannelOptions;
use crate::services::sender::{SendNews, SendReport};
use crate::services::{SendFailure, ServicesHandle};
use undertone_network::command::SenderQuestion;
use undertone_network::handle::{Delivery, MessageSink, NodeHandle};

/// Maximum number of messages waiting for a channel. A message dropped here is missing, and is requested again.
const RECEIVED_MAX: usize = 1_024;

/// Maximum number of own messages whose reports are awaited, so that others can be told their hashes.
const FOLLOWED_MAX: usize = 1_024;

/// Maximum length of a saved state that is read, bytes. A channel's default limits allow less.
const STATE_BYTES_MAX: u64 = 256 << 20;

/// Pause before a failed write of the state is retried.
const REPEAT_AFTER: Duration = Duration::from_secs(1);

/// Maximum sleep between two checks of the machine's timers.
const IDLE: Duration = Duration::from_secs(3_600);

/// Sink for the messages of one channel's content topic.
pub(super) struct MemberSink {
    pubsub_topic: PubsubTopic,
    content_topic: String,
    waiting: mpsc::Sender<Delivery>,
}

impl MessageSink for MemberSink {
    fn deliver(&self, delivery: &Delivery) -> bool {
        // Includes messages that this node published: they may come from a light client that is a member. The machine
        // recognises its own messages.
        let is_ours = *delivery.message.content_topic == *self.content_topic
            && delivery.pubsub_topic == self.pubsub_topic;
        if is_ours {
            // A full queue drops the message; see above.
            let _ = self.waiting.try_send(delivery.clone());
        }
        !self.waiting.is_closed()
    }
}

/// Input queue of a channel's messages: its sink, and the receiving end.
pub(super) struct ChannelInlet {
    pub(super) sink: Arc<MemberSink>,
    pub(super) queue: mpsc::Receiver<Delivery>,
}

/// Creates the queue of messages for a channel.
pub(super) fn received(driver: &ChannelDriver) -> ChannelInlet {
    let (waiting, queue) = mpsc::channel(RECEIVED_MAX);
    let sink = MemberSink {
        pubsub_topic: driver.options.pubsub_topic.clone(),
        content_topic: driver.options.content_topic.clone(),
        waiting,
    };
    ChannelInlet {
        sink: Arc::new(sink),
        queue,
    }
}

/// Result of a background task of a channel.
enum ChannelDone {
    /// A message was accepted for sending.
    Accepted { id: Id, send: SendId },
    /// A sync message was accepted for sending, or refused.
    SyncAccepted(Option<SendId>),
    /// Missing messages have arrived from a store.
    Retrieved(Vec<HistoryEntry>),
}

/// State of this member's last sync message until it has left. Further ones would say the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PendingSync {
    None,
    /// The sender has not answered yet.
    Offered,
    Accepted(SendId),
}

/// Driver of the state machine of one member.
pub(super) struct ChannelDriver {
    options: ChannelOptions,
    node: NodeHandle,
    services: ServicesHandle,
    machine: Channel,
    started: Instant,
    events: mpsc::Sender<ChannelEvent>,
    rng: ChaCha8Rng,
    /// Own messages in progress, by their number in the send queue.
    followed: BTreeMap<SendId, Id>,
    pending_sync: PendingSync,
    done: mpsc::UnboundedSender<ChannelDone>,
    results: mpsc::UnboundedReceiver<ChannelDone>,
}

impl ChannelDriver {
    /// Creates a member, from its saved state if there is one.
    pub(super) fn open(
        mut options: ChannelOptions,
        node: NodeHandle,
        services: ServicesHandle,
        events: mpsc::Sender<ChannelEvent>,
    ) -> Result<Self, ChannelFailure> {
        let mut seed = [0; 32];
        getrandom::fill(&mut seed)
            .map_err(std::io::Error::from)
            .map_err(ChannelFailure::Random)?;
        let mut rng = ChaCha8Rng::from_seed(seed);
        let since = SystemTime::now().duration_since(UNIX_EPOCH);
        let unix_ms = since.unwrap_or_default().as_millis();
        options.sds.clock_origin_ms = u64::try_from(unix_ms).unwrap_or(u64::MAX);
        let machine_rng = ChaCha8Rng::seed_from_u64(rng.next_u64());
        let sds = options.sds.clone();
        let kept = match &options.state {
            Some(path) => match durable::read_bounded(path, STATE_BYTES_MAX) {
                Ok(state) => Some(state),
                Err(error) if error.kind() == ErrorKind::NotFound => None,
                Err(error) => {
                    let path = path.clone();
                    return Err(ChannelFailure::Io { path, error });
                }
            },
            None => None,
        };
        let machine = match (&options.state, kept) {
            (Some(path), Some(kept)) => {
                let restored = Channel::restore(Time::ZERO, sds, machine_rng, &kept);
                restored.map_err(|error| ChannelFailure::State {
                    path: path.clone(),
                    error,
                })?
            }
            _ => Channel::new(Time::ZERO, sds, machine_rng),
        };
        let (done, results) = mpsc::unbounded_channel();
        Ok(Self {
            options,
            node,
            services,
            machine,
            started: Instant::now(),
            events,
            rng,
            followed: BTreeMap::new(),
            pending_sync: PendingSync::None,
            done,
            results,
        })
    }

    /// Runs until the program has dropped the channel or the node has stopped.
    pub(super) async fn run(
        mut self,
        mut calls: mpsc::Receiver<ChannelSend>,
        mut received: mpsc::Receiver<Delivery>,
    ) {
        let mut news = self.services.sender().news();
        loop {
            if self.carry_out().await.is_err() {
                return;
            }
            let wake = self.wake();
            tokio::select! {
                call = calls.recv() => match call {
                    Some(call) => self.send(call).await,
                    None => return,
                },
                Some(delivery) = received.recv() => {
                    let hash = delivery.hash();
                    self.input(Input::Received {
                        bytes: delivery.message.payload.to_vec(),
                        retrieval_hint: Some(hash.0.to_vec()),
                    });
                }
                report = news.next() => match report {
                    Some(SendNews::Report(report)) => self.on_report(&report),
                    Some(SendNews::Missed { .. }) => self.pending_sync = PendingSync::None,
                    None => return,
                },
                Some(done) = self.results.recv() => self.on_done(done),
                () = tokio::time::sleep_until(wake.into()) => self.input(Input::Tick),
            }
        }
    }

    fn now(&self) -> Time {
        Time::ZERO.after(self.started.elapsed())
    }

    fn input(&mut self, input: Input) {
        self.machine.handle(self.now(), input);
    }

    fn wake(&self) -> Instant {
        let idle = Instant::now() + IDLE;
        let at = |next: Time| {
            let after = Duration::from_nanos(next.as_nanos());
            self.started.checked_add(after).unwrap_or(idle)
        };
        let next = self.machine.next_timeout();
        next.map_or(idle, |next| idle.min(at(next)))
    }

    async fn send(&mut self, call: ChannelSend) {
        let ChannelSend {
            payload,
            is_ephemeral,
            reply,
        } = call;
        let id = self.id_of(&payload);
        self.input(match is_ephemeral {
            true => Input::SendEphemeral {
                id: id.clone(),
                payload,
            },
            false => Input::Send {
                id: id.clone(),
                payload,
            },
        });
        // The machine reports a refusal at once.
        let mut outputs = Vec::new();
        let mut answer = Ok(id.clone());
        while let Some(output) = self.machine.poll() {
            match output {
                Output::SendRefused { id: refused, error } if refused == id => {
                    answer = Err(error.into());
                }
                output => outputs.push(output),
            }
        }
        // A message reported as sent is already in the saved state.
        if self.carry_out_all(outputs).await.is_err() {
            answer = Err(ChannelFailure::Stopped(Stopped));
        }
        // The caller may be gone.
        let _ = reply.send(answer);
    }

    fn id_of(&mut self, payload: &[u8]) -> Id {
        let mut bytes = [0; 32];
        match self.options.sds.id_rule {
            // Gossip ids are also the SHA-256 of their data.
            IdRule::Sha256OfContent => bytes = MessageId::of(payload).0,
            IdRule::Any => self.rng.fill_bytes(&mut bytes),
        }
        let mut id = String::with_capacity(64);
        for byte in bytes {
            // Writing to a string does not fail.
            let _ = write!(id, "{byte:02x}");
        }
        id.into()
    }

    fn on_report(&mut self, report: &SendReport) {
        if self.pending_sync == PendingSync::Accepted(report.id) && report.step.is_end() {
            self.pending_sync = PendingSync::None;
        }
        if let (Some(id), Some(hash)) = (self.followed.get(&report.id), report.hash) {
            let published = Input::Published {
                id: id.clone(),
                retrieval_hint: hash.0.to_vec(),
            };
            self.followed.remove(&report.id);
            self.input(published);
        }
    }

    fn on_done(&mut self, done: ChannelDone) {
        match done {
            ChannelDone::Accepted { id, send } => {
                if self.followed.len() >= FOLLOWED_MAX {
                    self.followed.pop_first();
                }
                self.followed.insert(send, id);
            }
            ChannelDone::SyncAccepted(send) => {
                self.pending_sync = send.map_or(PendingSync::None, PendingSync::Accepted);
            }
            ChannelDone::Retrieved(entries) => {
                for entry in entries {
                    let Some(data) = entry.data else { continue };
                    if *data.message.content_topic == *self.options.content_topic {
                        self.input(Input::Retrieved {
                            bytes: data.message.payload.to_vec(),
                            retrieval_hint: Some(entry.hash.0.to_vec()),
                        });
                    }
                }
            }
        }
    }

    async fn carry_out(&mut self) -> Result<(), ChannelFailure> {
        let mut outputs = Vec::new();
        while let Some(output) = self.machine.poll() {
            outputs.push(output);
        }
        self.carry_out_all(outputs).await
    }

    /// Saves the state if it has changed, then carries out the other outputs.
    async fn carry_out_all(&mut self, outputs: Vec<Output>) -> Result<(), ChannelFailure> {
        if outputs.contains(&Output::Persist) {
            self.persist().await;
        }
        for output in outputs {
            let event = match output {
                Output::Persist => continue,
                Output::Publish {
                    bytes,
                    reason,
                    is_ephemeral,
                } => {
                    self.publish(&bytes, reason, is_ephemeral);
                    continue;
                }
                Output::Missing { entries } => {
                    self.retrieve(entries);
                    continue;
                }
                Output::Refused(refusal) => {
                    tracing::debug!(%refusal, "a message of a channel was not taken in");
                    continue;
                }
                Output::SendRefused { id, error } => {
                    tracing::warn!(%id, %error, "a message was not sent on its channel");
                    continue;
                }
                Output::PossiblyAcknowledged { .. } => continue,
                Output::Deliver {
                    id,
                    sender,
                    lamport_timestamp,
                    payload,
                    gaps,
                } => ChannelEvent::Message {
                    id,
                    sender,
                    lamport_timestamp,
                    payload,
                    gaps,
                },
                Output::Acknowledged { id } => ChannelEvent::Acknowledged { id },
                Output::Unconfirmed { id } => ChannelEvent::Unconfirmed { id },
                Output::Lost { ids } => ChannelEvent::Lost { ids },
            };
            let told = self.events.send(event).await;
            told.map_err(|_| Stopped)?;
        }
        Ok(())
    }

    /// Writes the state. Nothing else starts before it is written.
    async fn persist(&self) {
        let Some(path) = self.options.state.clone() else {
            return;
        };
        let (path, state) = (Arc::new(path), Arc::new(self.machine.state()));
        let mut is_told = false;
        loop {
            let (file, content) = (Arc::clone(&path), Arc::clone(&state));
            let written = tokio::task::spawn_blocking(move || durable::replace(&file, &content));
            let error = match written.await {
                Ok(Ok(())) => return,
                Ok(Err(error)) => error.to_string(),
                Err(error) => error.to_string(),
            };
            if !is_told {
                tracing::error!(path = %path.display(), %error, "the state of a channel cannot be written; the channel waits until it can");
                is_told = true;
            }
            tokio::time::sleep(REPEAT_AFTER).await;
        }
    }

    fn publish(&mut self, bytes: &[u8], reason: PublishReason, is_ephemeral: bool) {
        let is_sync = reason == PublishReason::Sync;
        if is_sync {
            if self.pending_sync != PendingSync::None {
                return;
            }
            self.pending_sync = PendingSync::Offered;
        }
        let repair_share = matches!(reason, PublishReason::Repair(_))
            .then(|| (self.node.clone(), self.services.sender().repairs.clone()));
        let id = match reason {
            // A resent message has another hash; the first one is reported to others.
            PublishReason::Message(id) => Some(id),
            PublishReason::Resend(_)
            | PublishReason::Ephemeral(_)
            | PublishReason::Repair(_)
            | PublishReason::Sync => None,
        };
        let mut message = WakuMessage::new(bytes.to_vec(), self.options.content_topic.clone());
        message.version = Some(0);
        message.ephemeral = Some(is_ephemeral);
        let topic = self.options.pubsub_topic.clone();
        let (sender, done) = (self.services.sender().clone(), self.done.clone());
        tokio::spawn(async move {
            if let Some((node, share)) = repair_share {
                let pubsub_topics = Vec::new();
                let question = |reply| SenderQuestion::Conditions {
                    pubsub_topics,
                    reply,
                };
                let Ok(conditions) = node.sender(question).await else {
                    return; // The node has stopped.
                };
                if !share.take(conditions.budget) {
                    tracing::debug!(
                        "a repair request of a channel was not answered: the share of the epoch's messages is used up"
                    );
                    return;
                }
            }
            let sent = sender.send(Some(topic), message).await;
            if let Err(error) = &sent {
                log_refusal(error);
            }
            // The driver may have ended.
            let _ = match (id, sent) {
                (Some(id), Ok(send)) => done.send(ChannelDone::Accepted { id, send }),
                (None, sent) if is_sync => done.send(ChannelDone::SyncAccepted(sent.ok())),
                _ => Ok(()),
            };
        });
    }

    /// Asks a store for messages by the hashes given by other members.
    fn retrieve(&self, entries: Vec<CausalHistoryEntry>) {
        let hints = entries.into_iter().filter_map(|entry| entry.retrieval_hint);
        let hash = |hint: Vec<u8>| <[u8; 32]>::try_from(hint).ok().map(MessageHash);
        let hashes: Vec<MessageHash> = hints.filter_map(hash).collect();
        let Ok(limit) = u32::try_from(hashes.len()) else {
            return;
        };
        if limit == 0 {
            return;
        }
        let query = HistoryQuery {
            include_data: true,
            criteria: HistoryCriteria::Hashes(hashes),
            cursor: None,
            direction: PageDirection::Forward,
            limit,
        };
        let (services, done) = (self.services.clone(), self.done.clone());
        tokio::spawn(async move {
            // Without a store, the other members repair missing messages.
            if let Ok(answer) = services.query_store(None, query).await {
                // The driver may have ended.
                let _ = done.send(ChannelDone::Retrieved(answer.page.entries));
            }
        });
    }
}

/// Logs the refusal of a message. It is sent again later, because nobody acknowledges it.
fn log_refusal(error: &SendFailure) {
    tracing::warn!(%error, "a message of a channel was not accepted for sending");
}
