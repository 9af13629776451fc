//! Undertone's router, called in the same way as by its driver.

use bytes::{Bytes, BytesMut};
use undertone_gossip::{
    Config, Direction, Features, Input, NewPeer, Output, PeerIx, Router, Time, Topic, Verdict,
};

use crate::frames::{TOPIC, hello};
use crate::subject::{PEERS, PushStreams, Subject};

/// Undertone's router: frames in, frames out.
pub(crate) struct Undertone {
    router: Router,
    sent_bytes: u64,
    recording: Option<Vec<BytesMut>>,
}

impl Undertone {
    fn input(&mut self, input: Input) {
        // The time is constant, so no heartbeat runs.
        self.router
            .handle(Time::ZERO, input)
            .expect("the bench keeps the contract");
        let mut validate = None;
        while let Some(output) = self.router.poll() {
            match output {
                Output::Send { peer, frame, .. } => self.send(peer, &frame),
                Output::Validate { id, data, .. } => {
                    divan::black_box(data);
                    validate = Some(id);
                }
                other => {
                    divan::black_box(other);
                }
            }
        }
        if let Some(id) = validate {
            let verdict = Verdict::Accept;
            self.input(Input::Validated { id, verdict });
        }
    }

    fn send(&mut self, peer: PeerIx, frame: &Bytes) {
        self.sent_bytes += frame.len() as u64;
        if let Some(recording) = &mut self.recording {
            recording[peer.0 as usize].extend_from_slice(frame);
        }
        divan::black_box(frame);
    }
}

impl Subject for Undertone {
    type Arriving = Bytes;
    type PushStreams = Self;

    fn new() -> Self {
        let router = Router::new(Config::waku(), [7; 32], Time::ZERO).expect("the preset is valid");
        let mut subject = Self {
            router,
            sent_bytes: 0,
            recording: None,
        };
        let topic = Topic::new(TOPIC);
        subject.input(Input::Subscribe(topic.clone()));
        let features = Features::of("/meshsub/1.2.0").expect("the id is in the table");
        for peer in (0..).map(PeerIx).take(PEERS) {
            let connected = NewPeer::new(peer, features, Direction::Outbound);
            subject.input(Input::Connected(connected));
            let frame = hello();
            subject.input(Input::Frame {
                peer,
                frame: frame.into(),
            });
        }
        assert_eq!(subject.router.mesh(&topic).len(), PEERS);
        subject
    }

    fn arriving(&mut self, frame: &Bytes) -> Bytes {
        frame.clone()
    }

    fn first_copy(&mut self, frame: Bytes) {
        let peer = PeerIx(0);
        self.input(Input::Frame {
            peer,
            frame: frame.into(),
        });
    }

    fn further_copy(&mut self, frame: Bytes) {
        let peer = PeerIx(1);
        self.input(Input::Frame {
            peer,
            frame: frame.into(),
        });
    }

    fn outlet(&mut self) -> &mut Self {
        self
    }
}

impl PushStreams for Undertone {
    /// Outputs are taken at once, so nothing is queued.
    fn settle(&mut self) {}

    fn sent_bytes(&self) -> u64 {
        self.sent_bytes
    }

    fn record(&mut self) {
        self.recording = Some(vec![BytesMut::new(); PEERS]);
    }

    fn recorded(&mut self) -> Vec<Bytes> {
        let recorded = self.recording.take().unwrap_or_default();
        recorded.into_iter().map(BytesMut::freeze).collect()
    }
}
