//! Task that drives the state machine of accountable sending.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use rand_chacha::ChaCha8Rng;
use tokio::sync::{broadcast, mpsc};
use tokio::task::JoinHandle;
use undertone_gossip::Time;
use undertone_message::PubsubTopic;
use undertone_services::PeerNo;
use undertone_services::history::CLOCK_TOLERANCE_NS;
use undertone_services::light::{ServicePeer, Services};
use undertone_services::sending::{
    Input, MessageSender, Output, ProveFailure, SendId, SenderConfig,
};
use undertone_services::trust::Standing;

use super::conditions::ToldConditions;
use super::handle::{AcceptReply, SenderCall, SenderEndpoint};
use super::queue::{KeptQueue, QueueWrite, SendQueueError, SenderQueue};
use super::report::{SendReport, SendReports, SendStep};
use super::seen::seen_sink;
use super::state::SendQueueWatch;
use super::step::SenderStep;
use super::work::{SenderDone, SenderWork};
use crate::services::service_peers::{ServicePeerEvent, ServicePeers};
use crate::services::{SenderSettings, ServicesHandle};
use undertone_network::command::{ProofRefusal, SenderQuestion};
use undertone_network::driver::Clock;
use undertone_network::handle::{Deliveries, Delivery};

/// Number of this node's own archive among the stores; service peers are numbered from 0.
pub(super) const OWN_ARCHIVE: PeerNo = PeerNo(u64::MAX);

/// Interval at which the sender checks which topics the relay reaches, while messages are in the queue.
const REFRESHING: Duration = Duration::from_millis(500);

/// Interval at which the offset between wall clock and virtual time is updated.
const CLOCK_SYNC: Duration = Duration::from_secs(10);

/// Time for which a node without a membership waits to become a member before its messages fail.
const MEMBERSHIP_GRACE: Duration = Duration::from_secs(30);

/// Maximum number of calls taken before their changes are written: one write serves them all.
const CALLS_PER_TURN: usize = 64;

/// Maximum sleep between two checks of the machine's timers.
const IDLE: Duration = Duration::from_secs(3_600);

/// Parts of the node that the sender uses.
pub(in crate::services) struct SenderParts {
    pub(in crate::services) work: SenderWork,
    pub(in crate::services) peers: ServicePeers,
    pub(in crate::services) services: ServicesHandle,
    pub(in crate::services) endpoint: SenderEndpoint,
}

/// An opened queue, for a sender that is not running yet.
pub(in crate::services) struct OpenedSender {
    settings: SenderSettings,
    queue: SenderQueue,
    kept: KeptQueue,
}

/// Opens the queue of a sender.
///
/// # Errors
/// [`SendQueueError`] names the file and the remedy.
pub(in crate::services) fn open(settings: SenderSettings) -> Result<OpenedSender, SendQueueError> {
    let (queue, kept) = match &settings.queue {
        Some(path) => SenderQueue::open(path)?,
        None => {
            tracing::warn!("the queue of messages to send is in memory: a restart forgets them");
            (SenderQueue::in_memory(), KeptQueue::empty())
        }
    };
    Ok(OpenedSender {
        settings,
        queue,
        kept,
    })
}

impl OpenedSender {
    /// Enables reassembly of deliveries if this node sends in fragments.
    pub(in crate::services) fn reassemble(&self, deliveries: &Deliveries) {
        if self.settings.fragment_bytes.is_some() {
            let rate_limit = self.settings.rate_limit;
            deliveries.reassemble(rate_limit.map(|limit| limit.epoch_s));
        }
    }
}

/// Driver of the state machine of accountable sending.
pub(super) struct SenderDriver {
    pub(super) settings: SenderSettings,
    pub(super) clock: Clock,
    pub(super) machine: MessageSender,
    pub(super) work: SenderWork,
    pub(super) peers: ServicePeers,
    /// Shared with the writing thread.
    pub(super) queue: Arc<Mutex<SenderQueue>>,
    pub(super) state: SendQueueWatch,
    pub(super) reports: SendReports,
    news: broadcast::Sender<SendReport>,
    told: ToldConditions,
    /// Changes to be written together with those of the machine.
    pub(super) writes: Vec<QueueWrite>,
    pub(super) accepted: Vec<(AcceptReply, SendId)>,
    not_member_since: Option<Instant>,
    /// Whether deliveries from other nodes are wanted, to recognise own messages.
    wants_seen: Arc<AtomicBool>,
    pub(super) done: mpsc::UnboundedSender<SenderDone>,
}

/// Starts a sender; it ends when the node stops.
pub(in crate::services) fn start(
    opened: OpenedSender,
    parts: SenderParts,
    rng: ChaCha8Rng,
) -> JoinHandle<()> {
    let OpenedSender {
        settings,
        queue,
        kept,
    } = opened;
    let SenderParts {
        work,
        peers,
        services,
        endpoint,
    } = parts;
    let clock = Clock::start(settings.clock_ahead_ns);
    let machine = MessageSender::new(config(&settings), clock.unix_ns_at_zero(), rng);
    let (sink, wants_seen, seen) = seen_sink();
    work.node.add_sink(sink.clone());
    services.add_sink(sink);
    let (done, results) = mpsc::unbounded_channel();
    let events = peers.watch();
    let mut driver = SenderDriver {
        told: ToldConditions::new(settings.rate_limit.map(|limit| limit.epoch_s)),
        settings,
        clock,
        machine,
        work,
        peers,
        queue: Arc::new(Mutex::new(queue)),
        reports: SendReports::restored(kept.events),
        news: endpoint.news,
        state: endpoint.state,
        writes: Vec::new(),
        accepted: Vec::new(),
        not_member_since: None,
        wants_seen,
        done,
    };
    driver.restore(&kept.records, kept.last_id);
    driver.state.set_waiting(&driver.machine);
    tokio::spawn(driver.run(endpoint.calls, events, results, seen))
}

fn config(settings: &SenderSettings) -> SenderConfig {
    let stored_for = Duration::from_nanos(CLOCK_TOLERANCE_NS);
    let limit = settings.rate_limit.as_ref();
    let tolerance = limit.map_or(stored_for, |limit| limit.max_clock_gap.min(stored_for));
    let mut config = SenderConfig::for_network(limit.is_some(), tolerance);
    config.limits.max_message_bytes = settings.max_message_bytes;
    config
}

impl SenderDriver {
    fn restore(&mut self, records: &[bytes::Bytes], last_id: SendId) {
        let now = self.clock.now();
        self.machine.skip_ids(last_id);
        for record in records {
            if let Err(error) = self.machine.restore(now, record) {
                tracing::error!(%error, "a message of the send queue cannot be read and is lost");
            }
        }
        if !self.machine.is_empty() {
            let messages = self.machine.len();
            tracing::info!(messages, "sending goes on with messages of the run before");
        }
        if self.work.archive.is_some() {
            let services = Services {
                store: true,
                ..Services::default()
            };
            let own = ServicePeer {
                peer: OWN_ARCHIVE,
                services,
                pubsub_topics: None,
                filters_all: false,
                standing: Standing::Named,
                network: None,
            };
            self.machine.handle(now, Input::PeerFound(own));
            self.machine.handle(now, Input::Connected(OWN_ARCHIVE));
        }
    }

    async fn run(
        mut self,
        mut calls: mpsc::Receiver<SenderCall>,
        mut events: mpsc::UnboundedReceiver<ServicePeerEvent>,
        mut results: mpsc::UnboundedReceiver<SenderDone>,
        mut seen: mpsc::Receiver<Delivery>,
    ) {
        let mut refreshing = tokio::time::interval(REFRESHING);
        refreshing.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        let mut clock_sync = tokio::time::interval(CLOCK_SYNC);
        clock_sync.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        loop {
            self.carry_out(&mut calls).await;
            let is_busy = !self.machine.is_empty();
            self.wants_seen.store(is_busy, Ordering::Relaxed);
            let wake = self.wake();
            tokio::select! {
                call = calls.recv() => match call {
                    Some(call) => {
                        self.on_call(call).await;
                        for _ in 1..CALLS_PER_TURN {
                            let Ok(call) = calls.try_recv() else { break };
                            self.on_call(call).await;
                        }
                    }
                    None => break,
                },
                event = events.recv() => match event {
                    Some(event) => self.input(event.into()),
                    // The node has stopped.
                    None => break,
                },
                Some(done) = results.recv() => self.on_done(done),
                Some(delivery) = seen.recv() => self.input(Input::Seen(delivery.hash())),
                _ = refreshing.tick(), if is_busy => self.refresh(BTreeSet::new()).await,
                _ = clock_sync.tick() => {
                    let unix_ns_at_zero = self.clock.unix_ns_at_zero();
                    self.input(Input::ClockSet { unix_ns_at_zero });
                }
                () = tokio::time::sleep_until(wake.into()) => self.input(Input::Tick),
            }
        }
        let waiting = self.machine.peer_waits();
        if waiting > 0 {
            tracing::warn!(
                waiting,
                "messages that waited for a peer were not sent; the send queue (/messaging) keeps its messages"
            );
        }
    }

    pub(super) fn input(&mut self, input: Input) {
        self.machine.handle(self.clock.now(), input);
    }

    fn wake(&self) -> Instant {
        let idle = Instant::now() + IDLE;
        let next = self
            .machine
            .next_timeout()
            .filter(|next| *next != Time::MAX);
        next.map_or(idle, |next| idle.min(self.clock.instant(next)))
    }

    /// Tells the machine what can be sent now: for the topics in its queue and for these topics.
    pub(super) async fn refresh(&mut self, mut topics: BTreeSet<PubsubTopic>) {
        let queued = self.machine.pubsub_topics();
        let parsed = |topic: &Arc<str>| PubsubTopic::parse_any(topic).ok();
        topics.extend(queued.iter().filter_map(parsed));
        let pubsub_topics = match self.settings.relays {
            true => topics.into_iter().collect(),
            false => Vec::new(),
        };
        let question = |reply| SenderQuestion::Conditions {
            pubsub_topics,
            reply,
        };
        let Ok(conditions) = self.work.node.sender(question).await else {
            return; // The node has stopped; the end of the peers' events says so, too.
        };
        let unix_ns_at_zero = self.clock.unix_ns_at_zero();
        let changes = self
            .told
            .changes(&conditions, self.now_ns(), unix_ns_at_zero);
        for change in changes {
            self.input(change);
        }
    }

    pub(super) fn now_ns(&self) -> u64 {
        let now = self.clock.now().as_nanos();
        self.clock.unix_ns_at_zero().saturating_add(now)
    }

    fn on_done(&mut self, done: SenderDone) {
        if let SenderDone::Proved { result: Ok(_), .. } = &done {
            self.not_member_since = None;
        }
        let input = match done {
            SenderDone::Proved {
                id,
                attempt,
                result,
            } => Input::Proved {
                id,
                attempt,
                result: result.map_err(|refusal| self.prove_failure(&refusal)),
            },
            SenderDone::ProofChecked { id, is_good: true } => Input::ProofFresh(id),
            SenderDone::ProofChecked { id, is_good: false } => Input::ProofStale(id),
            SenderDone::Relayed { id, result } => Input::Relayed { id, result },
            SenderDone::Pushed { request, answer } => Input::PushAnswer { request, answer },
            SenderDone::History { request, answer } => Input::HistoryAnswer { request, answer },
        };
        self.input(input);
    }

    fn prove_failure(&mut self, refusal: &ProofRefusal) -> ProveFailure {
        tracing::debug!(%refusal, "no proof for a message of the send queue");
        match refusal {
            ProofRefusal::LimitUsedUp => {
                self.told.limit_used_up();
                ProveFailure::LimitUsedUp
            }
            // The node may be about to become a member, for example just after its start.
            ProofRefusal::NotMember => {
                let since = *self.not_member_since.get_or_insert_with(Instant::now);
                match since.elapsed() < MEMBERSHIP_GRACE {
                    true => ProveFailure::NotReady,
                    false => ProveFailure::NotMember,
                }
            }
            ProofRefusal::NotReady { .. } => ProveFailure::NotReady,
        }
    }

    /// Writes the changes that the machine wants kept, then starts its other outputs, until there are none.
    async fn carry_out(&mut self, calls: &mut mpsc::Receiver<SenderCall>) {
        loop {
            let step = self.collect();
            let step = self.write(step, calls).await;
            self.state.set_waiting(&self.machine);
            for (reply, id) in step.accepted {
                // The caller may be gone; the message is sent anyway.
                let _ = reply.send(Ok(id));
            }
            for report in step.reports {
                // Nobody may be listening.
                let _ = self.news.send(report);
            }
            if step.begun.is_empty() {
                return;
            }
            for output in step.begun {
                self.begin(output);
            }
        }
    }

    /// Collects the outputs of the machine and the changes of callers.
    fn collect(&mut self) -> SenderStep {
        let mut step = SenderStep {
            writes: std::mem::take(&mut self.writes),
            accepted: std::mem::take(&mut self.accepted),
            ..SenderStep::default()
        };
        while let Some(output) = self.machine.poll() {
            match output {
                Output::Persist { id, record } => step.writes.push(QueueWrite::Put(id, record)),
                Output::Erase(id) => step.writes.push(QueueWrite::Erase(id)),
                Output::Event(event) => {
                    let (report, old) = self.reports.note(&event, self.now_ns());
                    step.writes.push(QueueWrite::Note(report));
                    if !old.is_empty() {
                        step.writes.push(QueueWrite::Forget(old));
                    }
                    step.reports.push(report);
                }
                Output::GivenUp { id, reason } => {
                    let reason = SendStep::Failed(reason).reason();
                    tracing::warn!(
                        message = id.0,
                        reason,
                        "a message that waited for a peer was given up"
                    );
                }
                output => step.begun.push(output),
            }
        }
        step
    }
}
