//! The relay of a network with rate limits: frames of four peers that hold messages whose proofs pass all checks but the last,
//! or anything else.
#![no_main]

use std::collections::VecDeque;

use libfuzzer_sys::fuzz_target;
use undertone_fuzz::{Reader, framed, until};
use undertone_gossip::{Direction, Features, NewPeer, PeerIx, RequestId, Time, Topic, wire};
use undertone_message::{NetworkPreset, PubsubTopic, WakuMessage};
use undertone_relay::{Input, Output, ProofTicket, Relay, RelayConfig};
use undertone_rln::{Epoch, Fr, RateLimitProof, RlnIdentifier, RootWindow, fr_to_le, signal_hash};

const TOPIC: &str = "/waku/2/rs/1/0";
const PEERS: u8 = 4;
const EPOCH_S: u64 = 600;
const START_NS: u64 = 1_700_000_000_000_000_000;
const ROOTS: [u64; 2] = [5, 6];

fuzz_target!(|input: &[u8]| {
    let mut reader = Reader::new(input);
    let mut machine = Machine::new();
    while !reader.is_empty() {
        if let Some(input) = machine.next(&mut reader) {
            machine.give(input);
        }
    }
});

struct Machine {
    relay: Relay,
    now: Time,
    connected: [bool; PEERS as usize],
    checking: VecDeque<ProofTicket>,
    proving: VecDeque<RequestId>,
}

impl Machine {
    fn new() -> Self {
        let network = NetworkPreset::by_name("twn").expect("the network is in the table");
        let mut config = RelayConfig::for_network(&network);
        config.num_shards = None;
        if let Some(rln) = &mut config.rln {
            assert_eq!(rln.policy.epoch_size_s, EPOCH_S);
            rln.unknown_root_timeout_ns = 5_000_000_000;
            rln.checks_max = 4;
        }
        let relay = Relay::new(config, [1; 32], Time::ZERO).expect("the configuration is valid");
        let mut machine = Self {
            relay,
            now: Time::ZERO,
            connected: [false; PEERS as usize],
            checking: VecDeque::new(),
            proving: VecDeque::new(),
        };
        machine.give(Input::ClockSet {
            unix_ns_at_zero: START_NS,
        });
        machine.give(Input::Roots(roots(&ROOTS[..1])));
        machine.give(Input::Subscribe(topic()));
        for peer in 0..PEERS / 2 {
            let input = machine.connect(peer);
            machine.give(input);
        }
        machine
    }

    fn connect(&mut self, peer: u8) -> Input {
        let features = Features::of("/vac/waku/relay/2.0.0").expect("the protocol is in the table");
        let new = NewPeer::new(PeerIx(peer.into()), features, Direction::Inbound);
        match std::mem::replace(&mut self.connected[usize::from(peer)], true) {
            true => Input::Renewed(new),
            false => Input::Connected(new),
        }
    }

    fn next(&mut self, reader: &mut Reader<'_>) -> Option<Input> {
        let kind = reader.byte();
        let number = reader.byte() % PEERS;
        let (peer, is_here) = (PeerIx(number.into()), self.connected[usize::from(number)]);
        Some(match kind % 12 {
            0 => self.connect(number),
            1 if is_here => {
                self.connected[usize::from(number)] = false;
                Input::Disconnected(peer)
            }
            2 if is_here => Input::Frame {
                peer,
                frame: framed(reader.piece()).into(),
            },
            3..=6 if is_here => {
                let message = self.message(reader).encode();
                let frame = wire::message_frame(&Topic::new(TOPIC), &message);
                Input::Frame {
                    peer,
                    frame: frame.into(),
                }
            }
            7 => Input::ProofVerified {
                ticket: self.checking.pop_front()?,
                valid: reader.byte() % 4 != 0,
            },
            8 => {
                let mut message = self.message(reader);
                message.rate_limit_proof =
                    message.rate_limit_proof.filter(|_| reader.byte() % 2 == 0);
                let request = RequestId(0);
                match reader.byte() % 2 {
                    0 => Input::Publish {
                        topic: topic(),
                        message,
                        request,
                    },
                    _ => Input::Republish {
                        topic: topic(),
                        message,
                        request,
                    },
                }
            }
            9 => Input::Proved {
                request: self.proving.pop_front()?,
                result: Ok(self.proof(&self.message(reader), reader)),
            },
            10 => Input::Roots(roots(&ROOTS[..usize::from(reader.byte() % 3)])),
            11 if reader.byte() % 4 == 0 => match reader.byte() % 2 {
                0 => Input::Unsubscribe(topic()),
                _ => Input::Subscribe(topic()),
            },
            _ => {
                let end = self.now.after(reader.time());
                let mut now = self.now;
                until(
                    self,
                    &mut now,
                    end,
                    |machine| Some(machine.relay.next_timeout()),
                    |machine, now| {
                        machine.now = now;
                        machine.give(Input::Tick);
                    },
                );
                return None;
            }
        })
    }

    /// Message of about now, with a proof that is right but for what the input changes in it.
    fn message(&self, reader: &mut Reader<'_>) -> WakuMessage {
        let mut message = WakuMessage::new(reader.bytes(), "/a/1/b/proto");
        let off_ns = u64::from(reader.byte()) << 28;
        message.timestamp = Some((START_NS + self.now.as_nanos() - off_ns).cast_signed());
        let mut proof = self.proof(&message, reader).encode();
        if reader.byte() % 8 == 0 {
            let place = usize::from(reader.number()) % proof.len();
            proof[place] ^= reader.byte();
        }
        message.rate_limit_proof = Some(proof.into());
        message
    }

    fn proof(&self, message: &WakuMessage, reader: &mut Reader<'_>) -> RateLimitProof {
        let timestamp = message.timestamp_ns();
        let x = signal_hash(&message.payload, &message.content_topic, timestamp);
        let nullifier = u64::from(reader.byte() % 4);
        RateLimitProof {
            proof: [9; 128],
            merkle_root: fr_to_le(&Fr::from(reader.one_of(&[5, 5, 6, 7]))),
            epoch: Epoch::at(timestamp.cast_unsigned(), EPOCH_S).to_bytes(),
            share_x: fr_to_le(&x),
            share_y: fr_to_le(&(Fr::from(77) + Fr::from(nullifier) * x)),
            nullifier: fr_to_le(&Fr::from(nullifier)),
            rln_identifier: RlnIdentifier::WAKU.0,
        }
    }

    fn give(&mut self, input: Input) {
        self.relay
            .handle(self.now, input)
            .expect("the driver keeps the contract");
        while let Some(output) = self.relay.poll() {
            match output {
                Output::Send { peer, .. } => assert!(self.connected[peer.0 as usize]),
                Output::VerifyProof { ticket, .. } => self.checking.push_back(ticket),
                Output::DropProof { ticket } => self.checking.retain(|other| *other != ticket),
                Output::Prove { request, .. } => self.proving.push_back(request),
                Output::Forgotten(peer) => assert!(!self.connected[peer.0 as usize]),
                _ => {}
            }
        }
        assert_eq!(self.relay.checks_waiting(), self.checking.len());
        assert!(self.relay.next_timeout() > self.now);
    }
}

fn topic() -> PubsubTopic {
    PubsubTopic::parse(TOPIC).expect("the topic is that of a shard")
}

fn roots(values: &[u64]) -> RootWindow {
    let mut window = RootWindow::new(values.len());
    for root in values {
        window.push(Fr::from(*root));
    }
    window
}
