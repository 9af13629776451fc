//! Arbitrary inputs, including hostile ones, to one router with tiny limits. After each input every limit
//! must hold, and the outputs must be consistent for a driver.
//!
//! A failure prints the shortest list of operations found and stores its seed (see the parent module).

use std::collections::{BTreeSet, VecDeque};
use std::time::Duration;

use bytes::Bytes;
use proptest::prelude::*;

use super::raw;
use super::solo::peer;
use crate::types::{MessageId, RequestId};
use crate::wire::{STEM_FIELD, decode};
use crate::{
    Config, Direction, Input, Limits, NewPeer, Output, PROTOCOLS, PeerIx, Progress, Router,
    SendHandle, StrategyKind, Time, Topic, Verdict,
};

const PEERS: u32 = 8;
const NAMES: [&str; 5] = ["a", "b", "c", "d", "e"];
const D_HIGH: usize = 3;

#[derive(Clone, Debug)]
enum Op {
    Connect {
        n: u32,
        outbound: bool,
        protocol: usize,
        explicit: bool,
    },
    Disconnect(u32),
    /// Moves a peer to another stream, with another protocol and address perhaps.
    Renew(u32, usize),
    Frame(u32, Vec<Vec<u8>>),
    /// Gives a verdict on one of the waiting messages.
    Judge(usize, Verdict),
    Publish(usize, u8, usize),
    Subscribe(usize),
    Unsubscribe(usize),
    /// Reports progress of one of the recent frames.
    Sent(usize, Progress),
    Application(u32, f64),
    /// Reports that a long frame started or ended.
    Transfer(u32, bool),
    Wait(u64),
}

/// Few names, so that operations concern the same topics; some long ones, to reach the limit.
fn name() -> impl Strategy<Value = String> {
    prop_oneof![
        6 => (0..NAMES.len()).prop_map(|i| NAMES[i].to_owned()),
        2 => "[f-p]{1,2}",
        1 => "z{9,20}",
    ]
}

/// Data of one of the few messages, in three sizes.
fn data(i: u8) -> Vec<u8> {
    vec![i; [3, 40, 300][usize::from(i % 3)]]
}

fn ids() -> impl Strategy<Value = Vec<MessageId>> {
    let real = prop::collection::vec(0u8..12, 1..6)
        .prop_map(|all| all.iter().map(|i| MessageId::of(&data(*i))).collect());
    let made_up = (0u32..500, 1usize..40).prop_map(|(n, count)| raw::made_up_ids(n, count));
    prop_oneof![real, made_up]
}

fn entry() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        4 => (any::<bool>(), name()).prop_map(|(on, t)| raw::subscription(on, &t)),
        6 => (name(), 0u8..12).prop_map(|(t, i)| raw::publish(&t, &data(i))),
        2 => Just(raw::number(STEM_FIELD.into(), 1)),
        4 => name().prop_map(|t| raw::graft(&t)),
        3 => (name(), any::<Option<u64>>(), any::<bool>()).prop_map(|(t, backoff, px)| {
            let offered: [(&[u8], &[u8]); 1] = [(b"id", b"record")];
            raw::prune(&t, backoff, if px { &offered } else { &[] })
        }),
        3 => (name(), Just(Some(0u64))).prop_map(|(t, backoff)| raw::prune(&t, backoff, &[])),
        3 => (name(), ids()).prop_map(|(t, ids)| raw::ihave(&t, &ids)),
        3 => ids().prop_map(|ids| raw::iwant(&ids)),
        3 => ids().prop_map(|ids| raw::idontwant(&ids)),
        1 => prop::collection::vec(any::<u8>(), 0..30),
        1 => (name(), 0u8..12).prop_map(|(t, i)| {
            let signed = [raw::bytes(2, &data(i)), raw::bytes(4, t.as_bytes()), raw::bytes(5, b"s")];
            raw::bytes(2, &signed.concat())
        }),
    ]
}

fn op() -> impl Strategy<Value = Op> {
    let n = 0..PEERS;
    let verdict = prop_oneof![
        3 => Just(Verdict::Accept), 1 => Just(Verdict::Ignore), 1 => Just(Verdict::Reject),
        1 => Just(Verdict::Forget)
    ];
    let progress = prop_oneof![Just(Progress::Started), Just(Progress::Dropped)];
    prop_oneof![
        6 => (n.clone(), any::<bool>(), 0..PROTOCOLS.len(), prop::bool::weighted(0.1)).prop_map(
            |(n, outbound, protocol, explicit)| Op::Connect { n, outbound, protocol, explicit }
        ),
        1 => n.clone().prop_map(Op::Disconnect),
        1 => (n.clone(), 0..PROTOCOLS.len()).prop_map(|(n, protocol)| Op::Renew(n, protocol)),
        20 => (n.clone(), prop::collection::vec(entry(), 1..6)).prop_map(|(n, e)| Op::Frame(n, e)),
        6 => (0usize..10, verdict).prop_map(|(i, v)| Op::Judge(i, v)),
        2 => (0..NAMES.len(), 0u8..12, 0usize..900).prop_map(|(t, i, len)| Op::Publish(t, i, len)),
        3 => (0..NAMES.len()).prop_map(Op::Subscribe),
        1 => (0..NAMES.len()).prop_map(Op::Unsubscribe),
        4 => (0usize..20, progress).prop_map(|(i, p)| Op::Sent(i, p)),
        1 => (n.clone(), -2_000.0..100.0).prop_map(|(n, score)| Op::Application(n, score)),
        3 => (n, any::<bool>()).prop_map(|(n, is_started)| Op::Transfer(n, is_started)),
        4 => (0u64..3_000).prop_map(Op::Wait),
    ]
}

fn config(px: bool) -> Config {
    let mut config = super::solo::scored();
    let degrees = &mut config.degrees;
    (degrees.d_low, degrees.d, degrees.d_high) = (2, 2, D_HIGH);
    (degrees.d_score, degrees.d_out, degrees.d_lazy) = (1, 1, 2);
    config.idontwant_threshold_bytes = 100;
    config.prune_backoff = Duration::from_secs(4);
    config.seen_ttl = Duration::from_secs(6);
    config.thresholds.opportunistic_graft = 1.0;
    config.opportunistic_graft_heartbeats = 2;
    config.peer_exchange = px;
    config.score.as_mut().unwrap().retain_score = Duration::from_secs(8);
    config.score.as_mut().unwrap().decay_interval = Duration::from_secs(2);
    config.limits = Limits {
        frame_bytes_max: 1_500,
        topic_bytes_max: 8,
        subscriptions_per_rpc_max: 3,
        subscriptions_per_peer_max: 4,
        topics_max: 9,
        messages_per_rpc_max: 3,
        control_entries_per_rpc_max: 3,
        ids_per_rpc_max: 30,
        seen_max: 6,
        cache_bytes_max: 1_000,
        pending_max: 3,
        pending_bytes_max: 400,
        idontwant_ids_per_heartbeat_max: 5,
        ihave_messages_per_heartbeat_max: 3,
        iwant_ids_per_heartbeat_max: 20,
        cancellable_per_peer_max: 4,
        delayed_messages_max: 2,
        stem_messages_max: 2,
        stem_bytes_max: 400,
        promises_max: 25,
        retained_peers_max: 3,
        backoffs_max: 6,
        control_frame_bytes_max: 400,
        ..Limits::default()
    };
    config
}

/// A driver that checks the outputs for consistency.
struct Driver {
    router: Router,
    now: Time,
    connected: BTreeSet<u32>,
    /// Connected peers that understand stem messages.
    stem: BTreeSet<u32>,
    inbound: BTreeSet<u32>,
    waiting: VecDeque<MessageId>,
    handles: VecDeque<(PeerIx, SendHandle)>,
    transfers: BTreeSet<u32>,
    /// Whether the transfer wait is so long that no deadline passes.
    patient: bool,
    must_not_ask: bool,
}

impl Driver {
    fn new(px: bool, patient: bool, in_stem: bool) -> Self {
        let mut config = config(px);
        if in_stem {
            config.strategy = StrategyKind::Dandelion.into();
            config.dandelion.epoch = Duration::from_secs(5);
            config.dandelion.embargo_mean = Duration::from_secs(3);
        }
        if patient {
            config.large.transfer_wait = Duration::from_hours(1);
        }
        Self {
            router: Router::new(config, [1; 32], Time::ZERO).unwrap(),
            now: Time::ZERO,
            connected: BTreeSet::new(),
            stem: BTreeSet::new(),
            inbound: BTreeSet::new(),
            waiting: VecDeque::new(),
            handles: VecDeque::new(),
            transfers: BTreeSet::new(),
            patient,
            must_not_ask: false,
        }
    }

    fn run(&mut self, op: &Op) -> Result<(), TestCaseError> {
        let topic = |i: usize| Topic::new(NAMES[i]);
        let input = match op {
            Op::Connect {
                n,
                outbound,
                protocol,
                explicit,
            } => {
                if !self.connected.insert(*n) {
                    return Ok(());
                }
                self.inbound.remove(n);
                self.negotiate(*n, *protocol);
                let direction = if *outbound {
                    Direction::Outbound
                } else {
                    self.inbound.insert(*n);
                    Direction::Inbound
                };
                let ip = Some(std::net::Ipv4Addr::new(10, 0, 0, (*n % 3) as u8).into());
                Input::Connected(NewPeer {
                    direction,
                    features: PROTOCOLS[*protocol].features,
                    explicit: *explicit,
                    ip,
                    ..peer(*n)
                })
            }
            Op::Disconnect(n) => {
                if !self.connected.remove(n) {
                    return Ok(());
                }
                self.transfers.remove(n);
                Input::Disconnected(PeerIx(*n))
            }
            Op::Renew(n, _) if !self.connected.contains(n) => return Ok(()),
            Op::Renew(n, protocol) => {
                self.negotiate(*n, *protocol);
                let inbound = self.inbound.contains(n);
                let ip = Some(std::net::Ipv4Addr::new(10, 0, 1, (*n % 3) as u8).into());
                Input::Renewed(NewPeer {
                    direction: [Direction::Outbound, Direction::Inbound][usize::from(inbound)],
                    features: PROTOCOLS[*protocol].features,
                    ip,
                    ..peer(*n)
                })
            }
            Op::Frame(n, _) if !self.connected.contains(n) => return Ok(()),
            Op::Frame(n, entries) => {
                let frame = raw::framed(&entries.concat());
                Input::Frame {
                    peer: PeerIx(*n),
                    frame: frame.into(),
                }
            }
            Op::Judge(i, verdict) => {
                let at = i % self.waiting.len().max(1);
                let Some(id) = self.waiting.remove(at) else {
                    return Ok(());
                };
                Input::Validated {
                    id,
                    verdict: *verdict,
                }
            }
            Op::Publish(t, i, len) => {
                let data = Bytes::from([data(*i), vec![0; *len]].concat());
                Input::Publish {
                    topic: topic(*t),
                    data,
                    request: RequestId(0),
                }
            }
            Op::Subscribe(t) => Input::Subscribe(topic(*t)),
            Op::Unsubscribe(t) => Input::Unsubscribe(topic(*t)),
            Op::Sent(i, progress) => {
                let at = i % self.handles.len().max(1);
                let Some((peer, handle)) = self.handles.remove(at) else {
                    return Ok(());
                };
                Input::Sent {
                    peer,
                    handle,
                    progress: *progress,
                }
            }
            Op::Application(n, score) => Input::ApplicationScore {
                peer: PeerIx(*n),
                score: *score,
            },
            Op::Transfer(n, is_started) => {
                match *is_started && self.connected.contains(n) {
                    true => self.transfers.insert(*n),
                    false => self.transfers.remove(n),
                };
                match *is_started {
                    true => Input::TransferStarted(PeerIx(*n)),
                    false => Input::TransferEnded(PeerIx(*n)),
                }
            }
            Op::Wait(ms) => {
                let end = self.now.after(Duration::from_millis(*ms));
                while self.router.next_timeout() <= end {
                    self.now = self.router.next_timeout();
                    self.take(Input::Tick)?;
                }
                self.now = end;
                Input::Tick
            }
        };
        self.take(input)
    }

    fn negotiate(&mut self, n: u32, protocol: usize) {
        match PROTOCOLS[protocol].features.stem {
            true => self.stem.insert(n),
            false => self.stem.remove(&n),
        };
    }

    fn take(&mut self, input: Input) -> Result<(), TestCaseError> {
        // Topics of this node may exceed the limit; this driver makes no other mistake.
        let own = matches!(input, Input::Subscribe(_) | Input::Publish { .. });
        let transfer_before = self.is_transfer_in_progress();
        if let Err(error) = self.router.handle(self.now, input) {
            prop_assert!(own, "{error}");
        }
        self.must_not_ask = self.patient && transfer_before && self.is_transfer_in_progress();
        prop_assert!(self.router.next_timeout() > self.now);
        while let Some(output) = self.router.poll() {
            self.check(output)?;
        }
        self.check_bounds()?;
        self.check_meshes()
    }

    /// Whether a long frame is in transit from a peer above the gossip threshold.
    fn is_transfer_in_progress(&self) -> bool {
        let gossip = self.router.config().thresholds.gossip;
        let heard = |n: &u32| self.router.score(PeerIx(*n)) >= gossip;
        self.transfers.iter().any(heard)
    }

    fn check(&mut self, output: Output) -> Result<(), TestCaseError> {
        match output {
            Output::Send {
                peer,
                handle,
                frame,
                ..
            } => {
                prop_assert!(self.connected.contains(&peer.0), "to a stranger");
                let rpc = decode(&raw::strip_prefix(&frame), &Limits::default());
                let rpc = rpc.map_err(|e| TestCaseError::fail(format!("unreadable: {e}")))?;
                prop_assert!(!rpc.stem || self.stem.contains(&peer.0), "not understood");
                let limits = &self.router.config().limits;
                let max = if rpc.messages.is_empty() {
                    limits.control_frame_bytes_max
                } else {
                    limits.frame_bytes_max + 3
                };
                prop_assert!(frame.len() <= max, "{} bytes: {rpc:?}", frame.len());
                let asks = !rpc.iwant.is_empty();
                prop_assert!(
                    !(asks && self.must_not_ask),
                    "while it may be coming in: {rpc:?}"
                );
                self.handles.push_back((peer, handle));
                self.handles.truncate(40);
            }
            Output::Cancel { peer, .. } | Output::Disconnect(peer) => {
                prop_assert!(self.connected.contains(&peer.0), "of a stranger");
            }
            Output::Validate { id, .. } => self.waiting.push_back(id),
            Output::Forgotten(peer) => {
                prop_assert!(!self.connected.contains(&peer.0), "forgotten while here");
                prop_assert_eq!(self.router.score(peer), 0.0);
            }
            Output::Connect { identity, .. } => {
                prop_assert!(self.router.config().peer_exchange);
                prop_assert_eq!(identity, "id");
            }
            Output::Deliver { id, data, .. } => prop_assert_eq!(MessageId::of(&data), id),
            Output::Copied { .. } | Output::Published { .. } | Output::Report(_) => {}
        }
        Ok(())
    }

    fn check_bounds(&self) -> Result<(), TestCaseError> {
        let (usage, config) = (self.router.usage(), self.router.config());
        let limits = &config.limits;
        let idontwant = limits.idontwant_ids_per_heartbeat_max;
        let bounds = [
            ("topics", usage.topics, limits.topics_max),
            ("seen", usage.seen, limits.seen_max),
            ("pending", usage.pending, limits.pending_max),
            (
                "pending bytes",
                usage.pending_bytes,
                limits.pending_bytes_max,
            ),
            // One message is kept even if it is larger than the whole cache.
            (
                "cache",
                usage.cache_bytes,
                limits.cache_bytes_max.max(limits.frame_bytes_max),
            ),
            ("requests", usage.iwant_requests, limits.promises_max),
            ("waiting", usage.iwant_waiting, limits.promises_max),
            ("transfers", usage.transfers, self.connected.len()),
            (
                "delayed",
                usage.delayed_messages,
                limits.delayed_messages_max,
            ),
            ("stem", usage.stem_messages, limits.stem_messages_max),
            ("stem bytes", usage.stem_bytes, limits.stem_bytes_max),
            ("backoffs", usage.backoffs, limits.backoffs_max),
            ("departed", usage.departed, limits.retained_peers_max),
            (
                "subscriptions",
                usage.subscriptions_of_a_peer,
                limits.subscriptions_per_peer_max,
            ),
            (
                "idontwant",
                usage.idontwant_of_a_peer,
                idontwant * config.idontwant_ttl_heartbeats as usize,
            ),
            (
                "cancellable",
                usage.cancellable_of_a_peer,
                limits.cancellable_per_peer_max,
            ),
        ];
        for (what, used, max) in bounds {
            prop_assert!(used <= max, "{what}: {used} of {max}");
        }
        Ok(())
    }

    fn check_meshes(&self) -> Result<(), TestCaseError> {
        let joined = self.router.joined();
        for name in NAMES {
            let topic = Topic::new(name);
            let mesh = self.router.mesh(&topic);
            prop_assert!(mesh.is_empty() || joined.contains(&topic), "mesh of {name}");
            let subscribers = self.router.subscribers(&topic);
            prop_assert!(mesh.iter().all(|peer| subscribers.contains(peer)));
            prop_assert!(
                subscribers
                    .iter()
                    .all(|peer| self.connected.contains(&peer.0))
            );
            let inbound = mesh
                .iter()
                .filter(|peer| self.inbound.contains(&peer.0))
                .count();
            prop_assert!(
                inbound <= D_HIGH + 2,
                "{inbound} inbound peers in the mesh of {name}"
            );
        }
        Ok(())
    }
}

proptest! {
    #[test]
    fn any_inputs_keep_every_bound(
        px in any::<bool>(),
        patient in any::<bool>(),
        in_stem in any::<bool>(),
        ops in prop::collection::vec(op(), 0..150),
    ) {
        let mut driver = Driver::new(px, patient, in_stem);
        for op in &ops {
            driver.run(op)?;
        }
    }
}
