//! The other side: `libp2p-gossipsub`'s behaviour, alone and between its codec and its handlers.

mod config;
mod node;

use bytes::{Bytes, BytesMut};

use crate::subject::Subject;
use node::{Event, Node};

/// The behaviour of `libp2p-gossipsub`: decoded RPCs in, queued RPCs out.
pub(crate) struct Behaviour(Node);

/// The same with its codec and its handlers: frames in, frames out.
pub(crate) struct WithCodec(Node);

impl Subject for Behaviour {
    type Arriving = Event;

    fn new() -> Self {
        Self(Node::new())
    }

    fn arriving(&mut self, frame: &Bytes) -> Event {
        self.0.decode(&mut BytesMut::from(&frame[..]))
    }

    fn first_copy(&mut self, event: Event) {
        self.0.receive(0, event);
    }

    fn further_copy(&mut self, event: Event) {
        self.0.receive(1, event);
    }

    fn settle(&mut self) {
        self.0.send();
    }

    fn sent_bytes(&self) -> u64 {
        self.0.sent_bytes()
    }

    fn record(&mut self) {
        self.0.record();
    }

    fn recorded(&mut self) -> Vec<Bytes> {
        self.0.recorded()
    }
}

impl Subject for WithCodec {
    /// As a stream's reader has it when a frame is complete.
    type Arriving = BytesMut;

    fn new() -> Self {
        Self(Node::new())
    }

    fn arriving(&mut self, frame: &Bytes) -> BytesMut {
        BytesMut::from(&frame[..])
    }

    fn first_copy(&mut self, mut frame: BytesMut) {
        let event = self.0.decode(&mut frame);
        self.0.receive(0, event);
        self.0.send();
    }

    /// Nothing is sent, and a handler whose queue stays empty is not woken.
    fn further_copy(&mut self, mut frame: BytesMut) {
        let event = self.0.decode(&mut frame);
        self.0.receive(1, event);
    }

    fn settle(&mut self) {
        self.0.send();
    }

    fn sent_bytes(&self) -> u64 {
        self.0.sent_bytes()
    }

    fn record(&mut self) {
        self.0.record();
    }

    fn recorded(&mut self) -> Vec<Bytes> {
        self.0.recorded()
    }
}
