//! `undertone chat`: a messenger in the terminal, on a node of its own.

mod body;
mod events;
mod history;
mod lines;
mod options;
mod own;
mod room;
mod screen;
mod session;
mod standing;
mod text;
mod typed;

use std::io::{self, IsTerminal as _};
use std::time::Duration;

use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::mpsc;
use undertone_node::assemble::{Assembled, assemble};
use undertone_node::config::NodeConfig;
use undertone_node::logging;

use self::events::ChatStart;
use self::lines::LineFront;
pub(crate) use self::options::Args;
use self::own::OwnMessages;
use self::room::ChatRoom;
use self::screen::Screen;
use self::session::{ChatSession, Front, ShownMessages, Wires};
use self::standing::MessageBudget;
use self::typed::Input;
use super::Failure;

/// Messages of the shard that may wait to be shown; further ones are dropped.
const DELIVERIES: usize = 1024;

const NS_PER_MS: i64 = 1_000_000;

/// Chats until the user ends it.
pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let (config, room) = args.resolve()?;
    let mut rng = undertone_rln::prover::os_rng()
        .map_err(|error| Failure::new(format!("cannot start: {error}")))?;
    let nick = args.own_nick(&mut rng)?;
    let filter = std::env::var(logging::VARIABLE).ok();
    logging::init(config.log, filter.as_deref())
        .map_err(|error| Failure::usage(error.to_string()))?;
    let cannot_start = |error: io::Error| Failure::new(format!("cannot start: {error}"));
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(cannot_start)?;
    runtime.block_on(async {
        let stop = stop_signals().map_err(cannot_start)?;
        let node = assemble(&config)
            .await
            .map_err(|error| Failure::new(error.to_string()))?;
        let chat = Chat {
            config: &config,
            node: &node,
            room,
            nick,
            rng,
            end_wait: Duration::from_secs(args.end_wait_s.into()),
        };
        let has_screen =
            !args.json && !args.lines && io::stdout().is_terminal() && io::stdin().is_terminal();
        let ended = if has_screen {
            let log = config.data_dir.join("chat.log");
            match screen::read_terminal()
                .and_then(|inputs| Ok((Screen::open(&log, &chat.nick)?, inputs)))
            {
                Ok((front, inputs)) => chat.run(front, inputs, stop).await,
                Err(error) => Err(Failure::new(format!("the terminal: {error}"))
                    .with_help("use --lines for one line per event")),
            }
        } else {
            let front = LineFront::new(io::stdout(), args.json, args.listen);
            chat.run(front, typed::read_lines(), stop).await
        };
        node.stop().await;
        ended
    })
}

/// A node and a room to chat in.
struct Chat<'a, R> {
    config: &'a NodeConfig,
    node: &'a Assembled,
    room: ChatRoom,
    nick: String,
    rng: R,
    end_wait: Duration,
}

impl<R: rand_core::CryptoRng> Chat<'_, R> {
    async fn run(
        self,
        front: impl Front,
        inputs: mpsc::Receiver<Input>,
        stop: impl Future<Output = ()>,
    ) -> Result<(), Failure> {
        let (config, node) = (self.config, &self.node.node);
        let clock_ahead_ns = config.clock_ahead_ms.saturating_mul(NS_PER_MS);
        let (outcomes, settled) = mpsc::unbounded_channel();
        let services = &self.node.services.handle;
        let sender = services.sender().clone();
        // Before the list of what waits, so that no step is missed.
        let news = sender.news();
        let resumed = sender.messages().await;
        let resumed = resumed.map_err(|error| Failure::new(error.to_string()))?;
        let (light, deliveries) = if config.relay {
            (None, node.handle.messages(DELIVERIES))
        } else {
            let deliveries = services.messages(DELIVERIES);
            let (topic, content_topic) = (&self.room.pubsub_topic, &self.room.content_topic);
            let kept =
                services.keep_subscribed(Some(topic.clone()), vec![content_topic.clone()], None);
            kept.await
                .map_err(|error| Failure::new(error.to_string()))?;
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
        let budget = |rln: &undertone_node::config::RlnConfig| {
            MessageBudget::new(rln.message_limit, rln.params.epoch_size_s)
        };
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

/// Waits for a signal that ends the program.
fn stop_signals() -> io::Result<impl Future<Output = ()>> {
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut hangup = signal(SignalKind::hangup())?;
    Ok(async move {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
            _ = hangup.recv() => {}
        }
    })
}
