//! One chat from start to end: takes deliveries of the node and inputs of the user, and emits events.

use std::collections::{BTreeSet, VecDeque};
use std::io;
use std::ops::ControlFlow;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rand_core::CryptoRng;
use tokio::sync::mpsc;
use tokio::time::{Instant, MissedTickBehavior};
use undertone_message::{MessageHash, PubsubTopic, WakuMessage, message_hash};
use undertone_node::command::{Connectedness, PeerSnapshot};
use undertone_node::handle::{Delivery, NodeHandle, Stopped};
use undertone_node::services::{
    SendFailure, SendId, SendNewsStream, SenderHandle, ServicesHandle, WaitingMessage,
};

use crate::chat_status::{ChatStatus, MessageBudget};
use crate::error::ChatError;
use crate::events::{ChatEvent, ChatMessage, ChatStart};
use crate::history::{HistoryQuestion, RoomPlace, StoreReply};
use crate::own_messages::{OwnMessages, OwnState};
use crate::room::ChatRoom;
use crate::text;
use crate::typed::{COMMANDS, Input, Typed};

mod sending;
#[cfg(test)]
#[path = "tests/session.rs"]
mod tests;

const NS_PER_MS: u64 = 1_000_000;
const NS_PER_S: u64 = 1_000_000_000;

/// Interval at which the node's status is checked.
const LOOK_EVERY: Duration = Duration::from_millis(500);

/// Maximum number of own messages that nobody else has yet.
const OPEN_MAX: usize = 64;

/// Deliveries shown before the screen is redrawn.
const BATCH_MAX: usize = 256;

/// Hashes of messages that are remembered, so that no message is shown twice.
const SEEN_MAX: usize = 4096;

/// Maximum number of characters shown of a peer's description of itself.
const AGENT_CHARS_MAX: usize = 60;

/// A front end, which shows a chat to its user.
pub(crate) trait Front {
    /// Shows an event.
    fn show(&mut self, event: &ChatEvent) -> io::Result<()>;

    /// Makes all events visible.
    fn flush(&mut self) -> io::Result<()>;

    /// Processes an input of the user; returns the request once it is complete.
    fn typed(&mut self, input: Input) -> io::Result<Option<Typed>>;

    /// Whether further input can wait until earlier messages have reached somebody.
    fn waits(&self) -> bool;
}

/// Receiving ends of the channels into a session.
pub(crate) struct Wires {
    /// Valid messages of all rooms of the shard.
    pub(crate) deliveries: mpsc::Receiver<Delivery>,
    /// Inputs of the user.
    pub(crate) inputs: mpsc::Receiver<Input>,
    /// Answers of the queue to own messages.
    pub(crate) outcomes: mpsc::UnboundedReceiver<QueueAnswer>,
    /// Reports on sent messages.
    pub(crate) news: SendNewsStream,
    /// Answers of the store, if there is one.
    pub(crate) answers: Option<mpsc::Receiver<StoreReply>>,
}

/// The queue's answer to an own message.
#[derive(Debug)]
pub(crate) struct QueueAnswer {
    number: u64,
    answer: Result<SendId, SendFailure>,
}

/// A chat in one room.
pub(crate) struct ChatSession<F, R> {
    /// Front end that shows the chat.
    pub(crate) front: F,
    /// Generator of the encryption's random numbers.
    pub(crate) rng: R,
    /// Room of the chat.
    pub(crate) room: ChatRoom,
    /// Name of this user.
    pub(crate) nick: String,
    /// The running node.
    pub(crate) node: NodeHandle,
    /// Queue of own messages.
    pub(crate) sender: SenderHandle,
    /// Services, on a node that does not relay.
    pub(crate) light: Option<ServicesHandle>,
    /// Message budget of the epoch; `None` without a rate limit.
    pub(crate) budget: Option<MessageBudget>,
    /// Offset of the node's clock from the system's, nanoseconds.
    pub(crate) clock_ahead_ns: i64,
    /// Whether peers to connect to are configured.
    pub(crate) has_peers_to_dial: bool,
    /// Maximum time from the end of the input to the end of the chat.
    pub(crate) end_wait: Duration,
    /// Sender of [`Wires::outcomes`].
    pub(crate) outcomes: mpsc::UnboundedSender<QueueAnswer>,
    /// Queries to the store, if there is one.
    pub(crate) questions: Option<mpsc::Sender<HistoryQuestion>>,
    /// Messages of this user.
    pub(crate) own: OwnMessages,
    /// Messages written by this user, hashed without their timestamps.
    pub(crate) written: ShownMessages,
    /// Messages that were shown.
    pub(crate) seen: ShownMessages,
}

/// Hashes of the most recent messages.
#[derive(Debug, Default)]
pub(crate) struct ShownMessages {
    order: VecDeque<MessageHash>,
    hashes: BTreeSet<MessageHash>,
}

impl ShownMessages {
    /// Adds a message; returns whether it is new.
    fn insert(&mut self, hash: MessageHash) -> bool {
        if !self.hashes.insert(hash) {
            return false;
        }
        self.order.push_back(hash);
        if self.order.len() > SEEN_MAX
            && let Some(oldest) = self.order.pop_front()
        {
            self.hashes.remove(&oldest);
        }
        true
    }
}

/// Reason why a session ends without its user's request.
enum SessionFault {
    Node(Stopped),
    Front(io::Error),
    /// The time limit after the end of the input has passed, and these messages have not reached anybody.
    Unsent(Vec<u64>),
}

impl From<Stopped> for SessionFault {
    fn from(stopped: Stopped) -> Self {
        Self::Node(stopped)
    }
}

impl From<io::Error> for SessionFault {
    fn from(error: io::Error) -> Self {
        Self::Front(error)
    }
}

impl<F: Front, R: CryptoRng> ChatSession<F, R> {
    /// Runs the chat until its user ends it or `stop` completes.
    pub(crate) async fn run(
        mut self,
        ready: ChatStart,
        resumed: Vec<WaitingMessage>,
        wires: Wires,
        stop: impl Future<Output = ()>,
    ) -> Result<(), ChatError> {
        let ended = tokio::select! {
            ended = self.follow(ready, resumed, wires) => ended,
            () = stop => Ok(()),
        };
        match ended {
            Ok(()) => Ok(()),
            Err(SessionFault::Node(stopped)) => Err(stopped.into()),
            // A closed pipe is not a failure: the reader stopped early on purpose, as `head` does.
            Err(SessionFault::Front(error)) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
            Err(SessionFault::Front(error)) => Err(ChatError::Terminal(error)),
            Err(SessionFault::Unsent(numbers)) => Err(ChatError::Unsent {
                numbers,
                waited: self.end_wait,
            }),
        }
    }

    async fn follow(
        &mut self,
        ready: ChatStart,
        resumed: Vec<WaitingMessage>,
        wires: Wires,
    ) -> Result<(), SessionFault> {
        let Wires {
            mut deliveries,
            mut inputs,
            mut outcomes,
            mut news,
            mut answers,
        } = wires;
        self.front.show(&ChatEvent::Ready(ready))?;
        self.resume(&resumed)?;
        self.ask(HistoryQuestion::Recent(RoomPlace {
            pubsub_topic: self.room.pubsub_topic.clone(),
            content_topic: self.room.content_topic.clone(),
        }));
        let mut tick = tokio::time::interval(LOOK_EVERY);
        tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let (mut has_input, mut is_ending) = (true, false);
        let time_is_up = tokio::time::sleep(self.end_wait);
        tokio::pin!(time_is_up);
        loop {
            let takes_input = !self.front.waits() || self.own.open() < OPEN_MAX;
            tokio::select! {
                delivery = deliveries.recv() => {
                    self.heard(&delivery.ok_or(Stopped)?)?;
                    for _ in 1..BATCH_MAX {
                        let Ok(delivery) = deliveries.try_recv() else { break };
                        self.heard(&delivery)?;
                    }
                }
                input = inputs.recv(), if has_input && takes_input => match input {
                    None => has_input = false,
                    Some(input) => match self.typed(input).await? {
                        ControlFlow::Break(()) => return Ok(()),
                        ControlFlow::Continue(true) if !is_ending => {
                            is_ending = true;
                            time_is_up.as_mut().reset(Instant::now() + self.end_wait);
                        }
                        ControlFlow::Continue(_) => {}
                    },
                },
                Some(outcome) = outcomes.recv() => self.answered(outcome)?,
                Some(news) = news.next() => self.learn(news).await?,
                Some(answer) = next(&mut answers) => self.told(answer)?,
                _ = tick.tick() => self.look().await?,
                () = &mut time_is_up, if is_ending => {
                    return match self.own.open_numbers() {
                        none if none.is_empty() => Ok(()),
                        numbers => Err(SessionFault::Unsent(numbers)),
                    };
                }
            }
            self.front.flush()?;
            if is_ending && self.own.open() == 0 {
                return Ok(());
            }
        }
    }

    /// Shows a delivered message, unless it is the user's own or of another room.
    fn heard(&mut self, delivery: &Delivery) -> io::Result<()> {
        let message = &delivery.message;
        // Messages from this node are not necessarily the user's: the node also publishes for lightpush
        // clients.
        if !self.room.carries(&delivery.pubsub_topic, message) {
            return Ok(());
        }
        // The delivery may have waited in the channel.
        let waited_ns = u64::try_from(delivery.received.elapsed().as_nanos()).unwrap_or(u64::MAX);
        let received_ns = self.now_ns().saturating_sub(waited_ns);
        self.show_message(&delivery.pubsub_topic, message, Some(received_ns))
    }

    /// Shows a message; `received_ns` is `None` for a message from a store.
    fn show_message(
        &mut self,
        topic: &PubsubTopic,
        message: &WakuMessage,
        received_ns: Option<u64>,
    ) -> io::Result<()> {
        let hash = message_hash(&topic.to_string(), message);
        // The relay and filter peers also deliver own messages, and stores return them.
        let is_own = self.written.hashes.contains(&timeless(topic, message));
        if is_own || !self.seen.insert(hash) {
            return Ok(());
        }
        let event = match self.room.read(message) {
            Ok(read) => {
                let at_ns = received_ns.or(read.sent_ns).unwrap_or(0);
                let latency_ms = |sent_ns: u64| {
                    let ns = i128::from(at_ns) - i128::from(sent_ns);
                    i64::try_from(ns / i128::from(NS_PER_MS)).unwrap_or(i64::MAX)
                };
                ChatEvent::Message(ChatMessage {
                    at_ms: at_ns / NS_PER_MS,
                    nick: String::from_utf8_lossy(&read.nick).into_owned(),
                    text: String::from_utf8_lossy(&read.text).into_owned(),
                    latency_ms: received_ns.and(read.sent_ns).map(latency_ms),
                    encrypted: read.is_encrypted,
                    is_exposed: self.room.key.is_some() && !read.is_encrypted,
                    signed_by: read.signed_by.map(|key| hex::encode(key.to_bytes())),
                    past: received_ns.is_none(),
                    hash: hash.to_string(),
                })
            }
            Err(reason) => ChatEvent::Unreadable {
                at_ms: received_ns.map_or_else(|| self.now_ms(), |ns| ns / NS_PER_MS),
                reason: reason.to_string(),
            },
        };
        self.front.show(&event)
    }

    /// Executes the user's request. Continues with whether the chat should end once all messages have reached
    /// somebody.
    async fn typed(&mut self, input: Input) -> Result<ControlFlow<(), bool>, SessionFault> {
        let Some(typed) = self.front.typed(input)? else {
            return Ok(ControlFlow::Continue(false));
        };
        match typed {
            Typed::Text(text) => self.send(&text)?,
            Typed::Help => {
                for (command, purpose) in COMMANDS {
                    self.note(format!("{command}: {purpose}"))?;
                }
            }
            Typed::Peers => {
                let peers = self.node.peers().await?;
                let is_connected =
                    |peer: &&PeerSnapshot| peer.connected == Connectedness::Connected;
                let lines: Vec<_> = peers.iter().filter(is_connected).map(peer_line).collect();
                if lines.is_empty() {
                    self.note("no peers".to_owned())?;
                }
                for line in lines {
                    self.note(line)?;
                }
            }
            Typed::Status => {
                let status = self.status().await?;
                self.note(status.connection())?;
                self.note(status.publishing())?;
            }
            Typed::Refused(reason) => self.note(reason)?,
            Typed::End => return Ok(ControlFlow::Continue(true)),
            Typed::Quit => return Ok(ControlFlow::Break(())),
        }
        Ok(ControlFlow::Continue(false))
    }

    /// Sends a text.
    fn send(&mut self, text: &str) -> io::Result<()> {
        if self.own.open() >= OPEN_MAX {
            return self.note(format!(
                "not sent: {OPEN_MAX} messages are under way already"
            ));
        }
        let number = self.own.begin();
        self.show_own(number, Some(text.to_owned()), OwnState::Sending)?;
        let written = self
            .room
            .write(&self.nick, text, self.now_ns(), &mut self.rng);
        let mut message = match written {
            Ok(message) => message,
            Err(error) => return self.refused(number, error.to_string()),
        };
        // The queue sets the timestamp when the message leaves, because relays reject old timestamps.
        message.timestamp = None;
        let topic = self.room.pubsub_topic.clone();
        self.written.insert(timeless(&topic, &message));
        let (sender, outcomes) = (self.sender.clone(), self.outcomes.clone());
        tokio::spawn(async move {
            let answer = sender.send(Some(topic), message).await;
            // The chat may have ended.
            let _ = outcomes.send(QueueAnswer { number, answer });
        });
        Ok(())
    }

    fn show_own(&mut self, number: u64, text: Option<String>, state: OwnState) -> io::Result<()> {
        let at_ms = self.now_ms();
        self.front.show(&ChatEvent::Own {
            at_ms,
            number,
            text,
            state,
        })
    }

    /// Checks the node's status and shows it.
    async fn look(&mut self) -> Result<(), SessionFault> {
        let status = self.status().await?;
        let at_ms = self.now_ms();
        self.front.show(&ChatEvent::Status { at_ms, status })?;
        Ok(())
    }

    async fn status(&mut self) -> Result<ChatStatus, Stopped> {
        let metrics = self.node.metrics().await?;
        let now_s = self.now_ns() / NS_PER_S;
        let allowance = metrics.rln.as_ref().and_then(|rln| rln.allowance);
        let left = self.budget.as_mut().map(|budget| {
            if let Some(allowance) = allowance {
                budget.learn(now_s, allowance);
            }
            budget.left(now_s)
        });
        let topic = self.room.pubsub_topic.to_string();
        let mut status = ChatStatus::of(&metrics, &topic, self.has_peers_to_dial, left);
        if let Some(services) = &self.light {
            status.without_relay(&services.light_status(), &topic);
        }
        Ok(status)
    }

    /// Handles an answer of the store.
    fn told(&mut self, answer: StoreReply) -> io::Result<()> {
        match answer {
            StoreReply::Recent(Ok(messages)) => {
                let topic = self.room.pubsub_topic.clone();
                for message in &messages {
                    if self.room.carries(&topic, message) {
                        self.show_message(&topic, message, None)?;
                    }
                }
                Ok(())
            }
            StoreReply::Recent(Err(failure)) => {
                let reason = text::harmless(&failure.to_string(), text::TEXT_CHARS_MAX);
                self.note(format!("no history: {reason}"))
            }
        }
    }

    fn ask(&self, question: HistoryQuestion) {
        if let Some(questions) = &self.questions {
            // Dropped if the store is slow; another query follows later.
            let _ = questions.try_send(question);
        }
    }

    fn note(&mut self, said: String) -> io::Result<()> {
        let at_ms = self.now_ms();
        self.front.show(&ChatEvent::Note { at_ms, said })
    }

    fn now_ms(&self) -> u64 {
        self.now_ns() / NS_PER_MS
    }

    /// Returns the time of the node's clock, Unix nanoseconds.
    fn now_ns(&self) -> u64 {
        now_ns(self.clock_ahead_ns)
    }
}

/// Returns the time of a clock that is ahead of the system's by `ahead_ns`, Unix nanoseconds.
pub(crate) fn now_ns(ahead_ns: i64) -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    // A system clock before 1970 is too wrong to be worth handling.
    let now_ns = u64::try_from(now.unwrap_or_default().as_nanos()).unwrap_or(u64::MAX);
    now_ns.saturating_add_signed(ahead_ns)
}

/// Hashes a message without its timestamp, which the queue may set more than once.
fn timeless(topic: &PubsubTopic, message: &WakuMessage) -> MessageHash {
    let timeless = WakuMessage {
        timestamp: None,
        ..message.clone()
    };
    message_hash(&topic.to_string(), &timeless)
}

/// Waits for the next answer of the store; forever if there is no store.
async fn next(answers: &mut Option<mpsc::Receiver<StoreReply>>) -> Option<StoreReply> {
    match answers {
        Some(receiver) => {
            let answer = receiver.recv().await;
            if answer.is_none() {
                *answers = None;
            }
            answer
        }
        None => std::future::pending().await,
    }
}

fn peer_line(peer: &PeerSnapshot) -> String {
    let agent = text::harmless(&peer.agent, AGENT_CHARS_MAX);
    match &peer.multiaddr {
        Some(address) => format!("{} at {address} ({agent})", peer.peer_id),
        None => format!("{} ({agent})", peer.peer_id),
    }
}
