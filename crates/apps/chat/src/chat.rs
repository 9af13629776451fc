//! A chat on a running node: its channels to the node, and its front ends.

use std::io;
use std::path::Path;
use std::time::Duration;

use rand_core::CryptoRng;
use tokio::sync::mpsc;
use undertone_node::assemble::Assembled;
use undertone_node::config::{NodeConfig, RlnConfig};

use crate::chat_status::MessageBudget;
use crate::error::ChatError;
use crate::events::ChatStart;
use crate::history;
use crate::lines::LineFront;
use crate::own_messages::OwnMessages;
use crate::room::ChatRoom;
use crate::screen::{self, Screen};
use crate::session::{self, ChatSession, Front, ShownMessages, Wires};
use crate::typed::{self, Input};

/// Messages of the shard that may be queued for display; further ones are dropped.
const DELIVERIES: usize = 1024;

const NS_PER_MS: i64 = 1_000_000;

/// A node and a room to chat in.
pub struct Chat<'a, R> {
    /// Configuration of the node.
    pub config: &'a NodeConfig,
    /// The running node.
    pub node: &'a Assembled,
    /// Room of the chat.
    pub room: ChatRoom,
    /// Name shown to others, as [`crate::nick`] returns it.
    pub nick: String,
    /// Generator of the encryption's random numbers.
    pub rng: R,
    /// Maximum time to wait for other nodes after the end of the input.
    pub end_wait: Duration,
}

/// Style of a chat that writes one line per event.
#[derive(Debug, Clone, Copy)]
pub struct LineStyle {
    /// Whether each line is a JSON object, and every line of the input a message.
    pub json: bool,
    /// Whether the chat goes on after the end of the input.
    pub listen: bool,
}

impl<R: CryptoRng> Chat<'_, R> {
    /// Chats on the terminal's screen until the user ends it or `stop` completes. Log lines go to the file `log`.
    ///
    /// # Errors
    /// [`ChatError`] if the terminal fails, the node stops, or messages reach nobody.
    pub async fn run_on_screen(
        self,
        log: &Path,
        stop: impl Future<Output = ()>,
    ) -> Result<(), ChatError> {
        let inputs = screen::read_terminal().map_err(ChatError::Screen)?;
        let front = Screen::open(log, &self.nick).map_err(ChatError::Screen)?;
        self.run(front, inputs, stop).await
    }

    /// Chats over standard input, writing one line per event to standard output, until the user ends it or `stop`
    /// completes.
    ///
    /// # Errors
    /// [`ChatError`] if the output fails, the node stops, or messages reach nobody.
    pub async fn run_in_lines(
        self,
        style: LineStyle,
        stop: impl Future<Output = ()>,
    ) -> Result<(), ChatError> {
        let front = LineFront::new(io::stdout(), style.json, style.listen);
        self.run(front, typed::read_lines(), stop).await
    }

    async fn run(
        self,
        front: impl Front,
        inputs: mpsc::Receiver<Input>,
        stop: impl Future<Output = ()>,
    ) -> Result<(), ChatError> {
        let (config, node) = (self.config, &self.node.node);
        let clock_ahead_ns = config.clock_ahead_ms.saturating_mul(NS_PER_MS);
        let (outcomes, settled) = mpsc::unbounded_channel();
        let services = &self.node.services.handle;
        let sender = services.sender().clone();
        // Subscribes before listing the queued messages, so that no state change is missed.
        let news = sender.news();
        let resumed = sender.messages().await?;
        let (light, deliveries) = if config.relay {
            (None, node.handle.messages(DELIVERIES))
        } else {
            let deliveries = services.messages(DELIVERIES);
            let (topic, content_topic) = (&self.room.pubsub_topic, &self.room.content_topic);
            let kept =
                services.keep_subscribed(Some(topic.clone()), vec![content_topic.clone()], None);
            kept.await?;
            (Some(services.clone()), deliveries)
        };
        let history = history::open(services.clone());
        let (questions, answers) = history::start(history);
        let (questions, answers) = (Some(questions), Some(answers));
        // Nanoseconds to milliseconds.
        let at_ms = session::now_ns(clock_ahead_ns) / NS_PER_MS.unsigned_abs();
        let ready = ChatStart {
            at_ms,
            peer_id: node.peer_id.to_string(),
            listen_addresses: node.addresses.iter().map(ToString::to_string).collect(),
            content_topic: self.room.content_topic.clone(),
            pubsub_topic: self.room.pubsub_topic.to_string(),
            nick: self.nick.clone(),
            encrypted: self.room.key.is_some(),
            history: questions.is_some(),
        };
        let wires = Wires {
            deliveries,
            inputs,
            outcomes: settled,
            news,
            answers,
        };
        let budget =
            |rln: &RlnConfig| MessageBudget::new(rln.message_limit, rln.params.epoch_size_s);
        let session = ChatSession {
            front,
            rng: self.rng,
            room: self.room,
            nick: self.nick,
            node: node.handle.clone(),
            sender,
            light,
            budget: config.rln.as_ref().map(budget),
            clock_ahead_ns,
            has_peers_to_dial: has_peers_to_dial(config),
            end_wait: self.end_wait,
            outcomes,
            questions,
            own: OwnMessages::default(),
            written: ShownMessages::default(),
            seen: ShownMessages::default(),
        };
        session.run(ready, resumed, wires, stop).await
    }
}

/// Whether peers to connect to are configured.
fn has_peers_to_dial(config: &NodeConfig) -> bool {
    let services = &config.services;
    let lists = [
        &config.static_peers,
        &services.filter_peers,
        &services.lightpush_peers,
        &services.store_peers,
    ];
    lists.iter().any(|peers| !peers.is_empty())
}
