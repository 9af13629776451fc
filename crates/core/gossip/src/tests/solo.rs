//! One router and the peers around it, played by the test: frames in, outputs out.

use std::time::Duration;

use bytes::Bytes;

use super::raw;
use crate::types::RequestId;
use crate::wire::{self, Rpc};
use crate::{
    Config, Direction, Features, Input, Limits, MessageId, NewPeer, Output, PeerIx, PeerMisbehaved,
    Progress, Report, Router, SendHandle, Time, Topic, Verdict,
};

/// The topic of nearly every test.
pub(crate) const TOPIC: &str = "t";

pub(crate) fn topic() -> Topic {
    Topic::new(TOPIC)
}

pub(crate) fn features(id: &str) -> Features {
    Features::of(id).unwrap()
}

/// An inbound peer that speaks v1.2.
pub(crate) fn peer(n: u32) -> NewPeer {
    NewPeer {
        peer: PeerIx(n),
        identity: Bytes::copy_from_slice(format!("peer {n}").as_bytes()),
        record: Bytes::new(),
        direction: Direction::Inbound,
        features: features("/meshsub/1.2.0"),
        ip: None,
        explicit: false,
    }
}

pub(crate) fn outbound(n: u32) -> NewPeer {
    NewPeer {
        direction: Direction::Outbound,
        ..peer(n)
    }
}

/// Waku's parameters with weight 1 for the application's score.
pub(crate) fn scored() -> Config {
    let mut config = Config::waku();
    config.score.as_mut().unwrap().application_weight = 1.0;
    config
}

/// Waku's parameters without free offences, for tests of the cost of one.
pub(crate) fn strict() -> Config {
    let mut config = Config::waku();
    config.score.as_mut().unwrap().behaviour_threshold = 0.0;
    config
}

pub(crate) struct Solo {
    pub(crate) router: Router,
    pub(crate) now: Time,
}

impl Solo {
    pub(crate) fn new(config: Config) -> Self {
        let router = Router::new(config, [7; 32], Time::ZERO).unwrap();
        let now = Time::ZERO;
        Self { router, now }
    }

    /// A router subscribed to [`TOPIC`].
    pub(crate) fn joined(config: Config) -> Self {
        let mut solo = Self::new(config);
        solo.input(Input::Subscribe(topic()));
        solo
    }

    pub(crate) fn input(&mut self, input: Input) -> Vec<Output> {
        self.router.handle(self.now, input).unwrap();
        std::iter::from_fn(|| self.router.poll()).collect()
    }

    pub(crate) fn frame(&mut self, n: u32, rpc: impl AsRef<[u8]>) -> Vec<Output> {
        let (peer, frame) = (PeerIx(n), raw::framed(rpc.as_ref()));
        self.input(Input::Frame {
            peer,
            frame: frame.into(),
        })
    }

    pub(crate) fn connect(&mut self, peer: NewPeer) -> Vec<Output> {
        self.input(Input::Connected(peer))
    }

    /// Connects a peer and lets it subscribe to [`TOPIC`].
    pub(crate) fn subscriber(&mut self, peer: NewPeer) -> Vec<Output> {
        let n = peer.peer.0;
        let mut outputs = self.connect(peer);
        outputs.extend(self.frame(n, raw::subscribe(TOPIC)));
        outputs
    }

    /// Connects a peer and lets it into the mesh of [`TOPIC`].
    pub(crate) fn mesh_peer(&mut self, peer: NewPeer) {
        let n = peer.peer.0;
        self.subscriber(peer);
        self.frame(n, raw::graft(TOPIC));
        assert!(self.mesh().contains(&n), "peer {n} was not let in");
    }

    pub(crate) fn disconnect(&mut self, n: u32) -> Vec<Output> {
        self.input(Input::Disconnected(PeerIx(n)))
    }

    pub(crate) fn publish(&mut self, data: &[u8]) -> Vec<Output> {
        let data = Bytes::copy_from_slice(data);
        let request = RequestId(0);
        self.input(Input::Publish {
            topic: topic(),
            data,
            request,
        })
    }

    pub(crate) fn verdict(&mut self, data: &[u8], verdict: Verdict) -> Vec<Output> {
        let id = MessageId::of(data);
        self.input(Input::Validated { id, verdict })
    }

    /// Lets peer `n` send the first copy of `data` and accepts it.
    pub(crate) fn deliver(&mut self, n: u32, data: &[u8]) -> Vec<Output> {
        let mut outputs = self.frame(n, raw::publish(TOPIC, data));
        outputs.extend(self.verdict(data, Verdict::Accept));
        outputs
    }

    pub(crate) fn set_score(&mut self, n: u32, score: f64) {
        let peer = PeerIx(n);
        self.input(Input::ApplicationScore { peer, score });
    }

    pub(crate) fn started(&mut self, n: u32, handle: SendHandle) {
        self.input(Input::Sent {
            peer: PeerIx(n),
            handle,
            progress: Progress::Started,
        });
    }

    /// Lets time pass, timer by timer.
    pub(crate) fn advance(&mut self, duration: Duration) -> Vec<Output> {
        let end = self.now.after(duration);
        let mut outputs = Vec::new();
        while self.router.next_timeout() <= end {
            self.now = self.router.next_timeout();
            outputs.extend(self.input(Input::Tick));
        }
        self.now = end;
        outputs
    }

    pub(crate) fn advance_ms(&mut self, ms: u64) -> Vec<Output> {
        self.advance(Duration::from_millis(ms))
    }

    /// Runs the next heartbeat.
    pub(crate) fn heartbeat(&mut self) -> Vec<Output> {
        self.now = self.router.next_heartbeat;
        self.input(Input::Tick)
    }

    pub(crate) fn mesh(&self) -> Vec<u32> {
        self.router.mesh(&topic()).iter().map(|p| p.0).collect()
    }

    pub(crate) fn score(&self, n: u32) -> f64 {
        self.router.score(PeerIx(n))
    }
}

/// All frames that `outputs` send to a peer, as one RPC.
pub(crate) fn said(outputs: &[Output], n: u32) -> Rpc {
    let mut all = Rpc::default();
    for (peer, _, frame) in sends(outputs) {
        if peer == n {
            let rpc = wire::decode(&raw::strip_prefix(&frame), &Limits::default()).unwrap();
            all.subscriptions.extend(rpc.subscriptions);
            all.messages.extend(rpc.messages);
            all.ihave.extend(rpc.ihave);
            all.iwant.extend(rpc.iwant);
            all.graft.extend(rpc.graft);
            all.prune.extend(rpc.prune);
            all.idontwant.extend(rpc.idontwant);
        }
    }
    all
}

pub(crate) fn sends(outputs: &[Output]) -> Vec<(u32, SendHandle, Bytes)> {
    let sends = outputs.iter().filter_map(|output| match output {
        Output::Send {
            peer,
            handle,
            frame,
            ..
        } => Some((peer.0, *handle, frame.clone())),
        _ => None,
    });
    sends.collect()
}

/// Peers that get a message from `outputs`, sorted.
pub(crate) fn receivers(outputs: &[Output]) -> Vec<u32> {
    let mut peers: Vec<_> = sends(outputs).into_iter().map(|(peer, ..)| peer).collect();
    peers.sort_unstable();
    peers.dedup();
    peers.retain(|n| !said(outputs, *n).messages.is_empty());
    peers
}

/// Peers that get a GRAFT from `outputs`, sorted.
pub(crate) fn grafted(outputs: &[Output]) -> Vec<u32> {
    let mut peers: Vec<_> = sends(outputs).into_iter().map(|(peer, ..)| peer).collect();
    peers.sort_unstable();
    peers.dedup();
    peers.retain(|n| !said(outputs, *n).graft.is_empty());
    peers
}

pub(crate) fn cancels(outputs: &[Output]) -> Vec<(u32, SendHandle)> {
    let cancels = outputs.iter().filter_map(|output| match output {
        Output::Cancel { peer, handle } => Some((peer.0, *handle)),
        _ => None,
    });
    cancels.collect()
}

pub(crate) fn misdeeds(outputs: &[Output]) -> Vec<(u32, PeerMisbehaved)> {
    let reports = outputs.iter().filter_map(|output| match output {
        Output::Report(Report::Misbehaved { peer, what }) => Some((peer.0, *what)),
        _ => None,
    });
    reports.collect()
}

pub(crate) fn delivered(outputs: &[Output]) -> Vec<Bytes> {
    let delivered = outputs.iter().filter_map(|output| match output {
        Output::Deliver { data, .. } => Some(data.clone()),
        _ => None,
    });
    delivered.collect()
}
