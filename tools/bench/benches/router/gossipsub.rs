//! The router of `libp2p-gossipsub`: its behaviour alone, and with its codec and handlers.

mod config;
mod node;

use bytes::{Bytes, BytesMut};

use crate::subject::{PushStreams, Subject};
use node::{Event, Node};

/// The behaviour of `libp2p-gossipsub`: decoded RPCs in, queued RPCs out.
pub(crate) struct Behaviour(Node);

/// The same with its codec and handlers: frames in, frames out.
pub(crate) struct WithCodec(Node);

impl Subject for Behaviour {
    type Arriving = Event;
    type PushStreams = Node;

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

    fn outlet(&mut self) -> &mut Node {
        &mut self.0
    }
}

impl Subject for WithCodec {
    /// The buffer type of a stream's reader once a frame is complete.
    type Arriving = BytesMut;
    type PushStreams = Node;

    fn new() -> Self {
        Self(Node::new())
    }

    fn arriving(&mut self, frame: &Bytes) -> BytesMut {
        BytesMut::from(&frame[..])
    }

    fn first_copy(&mut self, mut frame: BytesMut) {
        let event = self.0.decode(&mut frame);
        self.0.receive(0, event);
        self.0.settle();
    }

    /// A duplicate causes no output, and a handler whose queue stays empty is not woken.
    fn further_copy(&mut self, mut frame: BytesMut) {
        let event = self.0.decode(&mut frame);
        self.0.receive(1, event);
    }

    fn outlet(&mut self) -> &mut Node {
        &mut self.0
    }
}
