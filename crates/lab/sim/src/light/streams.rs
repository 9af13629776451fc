//! Streams of a light client: its open requests and their answers.

use bytes::Bytes;
use undertone_link::{self as link, ConnIx, Priority};
use undertone_services::RequestNo;
use undertone_services::lightpush::PushVersion;

use crate::light::LightEvent;
use crate::light::connections::SlotState;
use crate::light::node::LightNode;
use crate::node::check::violated;
use crate::node::event::{Event, Step};
use crate::services::frames::{StreamFrame, StreamService};

/// Longest time that clients wait for an answer, nanoseconds.
pub(super) const ANSWER_NS: u64 = 20_000_000_000;

/// Origin of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Asker {
    /// The light client asks a filter peer.
    Filter(RequestNo),
    /// The light client asks a store.
    History(RequestNo),
    /// The sender publishes.
    Push(PushVersion, RequestNo),
    /// The sender asks a store which messages it has.
    Confirmation(RequestNo),
    /// The application reads the whole history.
    Reading,
    /// The client asks a service node for its metadata.
    Metadata(ConnIx),
    /// The client asks for other service nodes.
    PeerExchange,
    /// A member of a channel asks for missing messages.
    Retrieval,
    /// An attacker, which does not wait for answers.
    Flood,
}

/// Stream with an unanswered request.
#[derive(Debug)]
pub(super) struct OpenStream {
    pub(super) conn: ConnIx,
    pub(super) peer: usize,
    pub(super) asker: Asker,
    pub(super) service: StreamService,
    sent_ns: u64,
    /// The request, until the stream is negotiated.
    body: Option<Bytes>,
    /// Whether the stream breaks before the answer has arrived.
    breaks: bool,
}

impl LightNode {
    /// Sends a request to a peer on a stream of its own. Without a connection, or if the stream breaks, there is no
    /// answer.
    pub(super) fn ask(
        &mut self,
        step: &mut Step<'_>,
        peer: usize,
        asker: Asker,
        service: StreamService,
        body: Bytes,
    ) {
        if let Some(at) = service.counted() {
            self.counters.requests[at] += 1;
        }
        let slot = self.peers.get(peer);
        let Some((SlotState::Up { conn, .. }, node)) = slot.map(|slot| (slot.state, slot.node))
        else {
            return;
        };
        let loss = step.world.stream_loss(step.now_ns);
        let drawn = if loss > 0.0 { self.rng.unit() } else { 1.0 };
        if drawn < loss / 2.0 {
            self.counters.streams_broken += 1;
            return;
        }
        let stream = self.next_stream;
        self.next_stream += 1;
        let open = OpenStream {
            conn,
            peer,
            asker,
            service,
            sent_ns: step.now_ns,
            body: Some(body),
            breaks: drawn < loss,
        };
        self.streams.insert(stream, open);
        let round_trip_ns = step.world.delay_ns(self.id, node) + step.world.delay_ns(node, self.id);
        let at_ns = step.now_ns + round_trip_ns;
        self.schedule_own(step, at_ns, Event::Light(LightEvent::StreamOpen(stream)));
    }

    pub(super) fn stream_open(&mut self, step: &mut Step<'_>, stream: u32) {
        let Some(open) = self.streams.get_mut(&stream) else {
            return;
        };
        let (Some(body), conn, service) = (open.body.take(), open.conn, open.service) else {
            return;
        };
        let mux_bytes = step.world.scenario.network.mux_overhead_bytes;
        let write = link::Input::Write {
            conn,
            bytes: service.stream_bytes(body.len(), mux_bytes),
            frame: StreamFrame::Request {
                stream,
                service,
                body,
            }
            .encode(),
            priority: Priority::Normal,
        };
        if self.host.is_open(conn) {
            self.host_input(step, write);
        }
    }

    /// Removes an answered stream; `None` if it broke or its connection was lost.
    pub(super) fn take_stream(&mut self, stream: u32) -> Option<OpenStream> {
        let open = self.streams.remove(&stream)?;
        if open.breaks {
            self.counters.streams_broken += 1;
            return None;
        }
        Some(open)
    }

    /// Counts an answer as given or refused, and checks that honest clients are served during a flood.
    pub(super) fn count_answer(&mut self, step: &mut Step<'_>, open: &OpenStream, refused: bool) {
        let Some(at) = open.service.counted() else {
            return;
        };
        match refused {
            true => self.counters.refused[at] += 1,
            false => self.counters.answered[at] += 1,
        }
        let late = step.now_ns > open.sent_ns + ANSWER_NS;
        if !self.floods && (refused || late) && self.is_flooded(step, open.sent_ns) {
            self.unserved(step);
        }
    }

    /// Checks at the end of the run that requests sent during a flood were answered.
    pub(crate) fn check_answered(&mut self, step: &mut Step<'_>) {
        let overdue = |open: &OpenStream| !open.breaks && open.sent_ns + ANSWER_NS < step.now_ns;
        let overdue: Vec<_> = self.streams.values().filter(|open| overdue(open)).collect();
        let sent_ns: Vec<_> = overdue.iter().map(|open| open.sent_ns).collect();
        for sent_ns in sent_ns {
            if !self.floods && self.is_flooded(step, sent_ns) {
                self.unserved(step);
            }
        }
    }

    fn unserved(&mut self, step: &mut Step<'_>) {
        let rule = "honest clients are served during a flood";
        violated(step.scratch, step.now_ns, self.id, rule);
    }

    /// Whether there was a flood at a time, and no trouble of a service node to excuse missing answers.
    fn is_flooded(&self, step: &Step<'_>, at_ns: u64) -> bool {
        let Some(setup) = &step.world.scenario.services else {
            return false;
        };
        let during = setup.flood.is_some_and(|flood| {
            (flood.at_ns..flood.at_ns.saturating_add(flood.for_ns)).contains(&at_ns)
        });
        during && setup.troubles.is_empty()
    }
}
