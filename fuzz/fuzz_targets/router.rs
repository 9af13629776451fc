//! The router among six peers, all of whose frames, and the moments of everything else, follow from the input.
#![no_main]

use std::collections::{BTreeSet, VecDeque};

use libfuzzer_sys::fuzz_target;
use undertone_fuzz::{Reader, framed, until};
use undertone_gossip::{
    Config, Direction, Input, Limits, MessageId, NewPeer, Output, PROTOCOLS, PeerIx, Progress,
    RequestId, Router, ScoreParams, SendHandle, Time, Topic, Verdict, wire,
};

const PEERS: u8 = 6;
const TOPICS: [&str; 3] = ["a", "b", "c"];
const VERDICTS: [Verdict; 5] = [
    Verdict::Accept,
    Verdict::Ignore,
    Verdict::Forget,
    Verdict::Reject,
    Verdict::RejectFirstSender,
];

fuzz_target!(|input: &[u8]| {
    let mut reader = Reader::new(input);
    let mut machine = Machine::new(reader.byte());
    while !reader.is_empty() {
        if let Some(input) = machine.next(&mut reader) {
            machine.give(input);
        }
    }
});

struct Machine {
    router: Router,
    now: Time,
    connected: BTreeSet<PeerIx>,
    waiting: VecDeque<MessageId>,
    sent: VecDeque<(PeerIx, SendHandle)>,
}

impl Machine {
    fn new(options: u8) -> Self {
        let mut config = Config::waku();
        config.peer_exchange = options & 1 != 0;
        config.score = (options & 2 != 0).then(ScoreParams::default);
        config.disconnect_graylisted = options & 4 != 0;
        small(&mut config.limits);
        Self {
            router: Router::new(config, [1; 32], Time::ZERO).expect("the configuration is valid"),
            now: Time::ZERO,
            connected: BTreeSet::new(),
            waiting: VecDeque::new(),
            sent: VecDeque::new(),
        }
    }

    fn next(&mut self, reader: &mut Reader<'_>) -> Option<Input> {
        let kind = reader.byte();
        let peer = PeerIx(u32::from(reader.byte() % PEERS));
        let is_here = self.connected.contains(&peer);
        let topic = Topic::new(reader.one_of(&TOPICS));
        Some(match kind % 14 {
            0 => {
                self.connected.insert(peer);
                let new = new_peer(peer, reader);
                match is_here {
                    true => Input::Renewed(new),
                    false => Input::Connected(new),
                }
            }
            1 if is_here => {
                self.connected.remove(&peer);
                Input::Disconnected(peer)
            }
            2..=5 if is_here => Input::Frame {
                peer,
                frame: framed(reader.piece()).into(),
            },
            6 => Input::Validated {
                id: self.waiting.pop_front()?,
                verdict: reader.one_of(&VERDICTS),
            },
            7 => Input::Publish {
                topic,
                data: reader.bytes(),
                request: RequestId(0),
            },
            8 => Input::Republish {
                topic,
                data: reader.bytes(),
                request: RequestId(0),
            },
            9 => Input::Subscribe(topic),
            10 => Input::Unsubscribe(topic),
            11 => {
                let (peer, handle) = self.sent.pop_front()?;
                let progress = reader.one_of(&[Progress::Started, Progress::Dropped]);
                Input::Sent {
                    peer,
                    handle,
                    progress,
                }
            }
            12 => match reader.byte() % 2 {
                0 => Input::TransferStarted(peer),
                _ => Input::TransferEnded(peer),
            },
            _ => {
                let end = self.now.after(reader.time());
                let mut now = self.now;
                until(
                    self,
                    &mut now,
                    end,
                    |machine| Some(machine.router.next_timeout()),
                    |machine, now| {
                        machine.now = now;
                        machine.give(Input::Tick);
                    },
                );
                return None;
            }
        })
    }

    fn give(&mut self, input: Input) {
        // Topics of its own above the limit are the only mistake that this driver makes.
        let is_own = matches!(
            input,
            Input::Subscribe(_) | Input::Publish { .. } | Input::Republish { .. }
        );
        if let Err(error) = self.router.handle(self.now, input) {
            assert!(is_own, "{error}");
        }
        assert!(self.router.next_timeout() > self.now);
        while let Some(output) = self.router.poll() {
            match output {
                Output::Send {
                    peer,
                    handle,
                    frame,
                    ..
                } => {
                    assert!(self.connected.contains(&peer));
                    let rpc = wire::unframe(&frame).expect("the router writes whole frames");
                    wire::decode(&rpc, &Limits::default()).expect("peers can read the frame");
                    self.sent.push_back((peer, handle));
                    self.sent.truncate(40);
                }
                Output::Validate { id, .. } => self.waiting.push_back(id),
                Output::Forgotten(peer) => assert!(!self.connected.contains(&peer)),
                Output::Deliver { id, data, .. } => assert_eq!(MessageId::of(&data), id),
                _ => {}
            }
        }
        let (usage, limits) = (self.router.usage(), &self.router.config().limits);
        assert!(usage.topics <= limits.topics_max);
        assert!(usage.seen <= limits.seen_max);
        assert!(usage.pending <= limits.pending_max);
        assert!(usage.pending_bytes <= limits.pending_bytes_max);
        // One message is kept even if it is larger than the whole cache.
        assert!(usage.cache_bytes <= limits.cache_bytes_max.max(limits.frame_bytes_max));
        assert!(usage.iwant_requests <= limits.promises_max);
        assert!(usage.iwant_waiting <= limits.promises_max);
        assert!(usage.backoffs <= limits.backoffs_max);
        assert!(usage.departed <= limits.retained_peers_max);
        assert!(usage.subscriptions_of_a_peer <= limits.subscriptions_per_peer_max);
        assert!(usage.cancellable_of_a_peer <= limits.cancellable_per_peer_max);
    }
}

fn new_peer(peer: PeerIx, reader: &mut Reader<'_>) -> NewPeer {
    let features = reader.one_of(PROTOCOLS).features;
    NewPeer::new(
        peer,
        features,
        reader.one_of(&[Direction::Inbound, Direction::Outbound]),
    )
}

/// Bounds that an input of a few kilobytes can reach.
fn small(limits: &mut Limits) {
    limits.topics_max = 6;
    limits.subscriptions_per_peer_max = 4;
    limits.ids_per_rpc_max = 30;
    limits.seen_max = 6;
    limits.cache_bytes_max = 1_000;
    limits.pending_max = 3;
    limits.pending_bytes_max = 400;
    limits.cancellable_per_peer_max = 4;
    limits.delayed_messages_max = 2;
    limits.promises_max = 25;
    limits.retained_peers_max = 3;
    limits.backoffs_max = 6;
}
