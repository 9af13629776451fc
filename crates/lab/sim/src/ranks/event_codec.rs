//! Binary encoding of the events that one node causes at another, for nodes on different ranks.
//!
//! A section holds the events for one thread: first the frames, each once, then the events, which refer to frames by
//! number. All numbers are varints.

use bytes::Bytes;
use undertone_link::{Arrival, Burst, ConnIx, Segment};
use undertone_wire::put_varint;

use crate::events::{EventKey, Scheduled};
use crate::light::LightEvent;
use crate::node::event::{Event, ServiceEvent};
use crate::ranks::frames::{FrameTable, HeldFrames};
use crate::ranks::reader::{MessageReader, Unreadable};

/// Kinds of events.
mod kind {
    pub(super) const BURST: u64 = 0;
    pub(super) const ACK: u64 = 1;
    pub(super) const WINDOW_UPDATE: u64 = 2;
    pub(super) const LOSS: u64 = 3;
    pub(super) const CLOSED: u64 = 4;
    pub(super) const DIAL: u64 = 5;
    pub(super) const ACCEPTED: u64 = 6;
    pub(super) const REFUSED: u64 = 7;
}

/// Bits of a burst's flags.
mod flag {
    pub(super) const ACK_WANTED: u64 = 1;
    pub(super) const REPAIR: u64 = 2;
    pub(super) const ENDS_MUX_FRAME: u64 = 4;
    pub(super) const HAS_FRAME: u64 = 8;
    pub(super) const WHOLE: u64 = 16;
    pub(super) const ALL: u64 = 31;
}

/// Writes a section with these events; writes nothing if there are none.
pub(crate) fn write(out: &mut Vec<u8>, events: &[Scheduled<Event>]) {
    if events.is_empty() {
        return;
    }
    let mut frames = FrameTable::default();
    let mut body = Vec::with_capacity(events.len() * 32);
    put_varint(&mut body, events.len() as u64);
    for scheduled in events {
        let EventKey { at_ns, scheduler } = scheduled.key;
        let head = [
            at_ns,
            scheduler >> 32,
            scheduler & u64::from(u32::MAX),
            scheduled.node.into(),
        ];
        put(&mut body, &head);
        write_event(&mut body, &mut frames, &scheduled.event);
    }
    frames.write(out);
    out.append(&mut body);
}

fn put(out: &mut Vec<u8>, numbers: &[u64]) {
    for number in numbers {
        put_varint(out, *number);
    }
}

fn write_event(out: &mut Vec<u8>, frames: &mut FrameTable, event: &Event) {
    match event {
        Event::Arrival(Arrival { conn, segment }) => {
            let conn = u64::from(conn.0);
            match segment {
                Segment::Burst(burst) => {
                    put(out, &[kind::BURST, conn]);
                    write_burst(out, frames, burst);
                }
                Segment::Ack(packets) => put(out, &[kind::ACK, conn, (*packets).into()]),
                Segment::WindowUpdate(bytes) => put(out, &[kind::WINDOW_UPDATE, conn, *bytes]),
                Segment::Loss {
                    seq,
                    dropped,
                    ack_wanted,
                    later,
                } => {
                    let [seq, dropped, later] = [*seq, *dropped, *later].map(u64::from);
                    let ack_wanted = u64::from(*ack_wanted);
                    put(out, &[kind::LOSS, conn, seq, dropped, ack_wanted, later]);
                }
            }
        }
        Event::Closed(conn) => put(out, &[kind::CLOSED, conn.0.into()]),
        Event::Service(ServiceEvent::Dial { client, conn }) => {
            put(out, &[kind::DIAL, (*client).into(), conn.0.into()]);
        }
        Event::Light(LightEvent::Accepted {
            node,
            conn,
            remote_conn,
        }) => {
            let [node, conn, remote] = [*node, conn.0, remote_conn.0].map(u64::from);
            put(out, &[kind::ACCEPTED, node, conn, remote]);
        }
        Event::Light(LightEvent::Refused { conn }) => put(out, &[kind::REFUSED, conn.0.into()]),
        Event::Start
        | Event::Connect
        | Event::Wake
        | Event::Frame { .. }
        | Event::Proved { .. }
        | Event::Verified(_)
        | Event::VerifierDone(_)
        | Event::Publish(_)
        | Event::Spam { .. }
        | Event::Fault(_)
        | Event::Service(_)
        | Event::Light(_)
        | Event::Find(_)
        | Event::Adversary(_)
        | Event::Watch
        | Event::Root(_) => unreachable!("a node causes this event only at itself: {event:?}"),
    }
}

fn write_burst(out: &mut Vec<u8>, frames: &mut FrameTable, burst: &Burst<Bytes>) {
    let bit = |holds: bool, bit: u64| u64::from(holds) * bit;
    let flags = bit(burst.ack_wanted, flag::ACK_WANTED)
        | bit(burst.repair, flag::REPAIR)
        | bit(burst.whole, flag::WHOLE)
        | bit(burst.ends_mux_frame, flag::ENDS_MUX_FRAME)
        | bit(burst.frame.is_some(), flag::HAS_FRAME);
    put(
        out,
        &[
            flags,
            burst.seq.into(),
            burst.packets.into(),
            burst.window.into(),
            burst.wire_bytes,
            burst.lasts_ns,
            burst.missing.into(),
            burst.dropped.into(),
            burst.begins_bytes,
        ],
    );
    if let Some(frame) = &burst.frame {
        put_varint(out, frames.number(frame));
    }
}

/// Reads a section, and passes each event to `each`.
pub(crate) fn read(
    section: &[u8],
    held: &HeldFrames,
    mut each: impl FnMut(Scheduled<Event>) -> Result<(), Unreadable>,
) -> Result<(), Unreadable> {
    if section.is_empty() {
        return Ok(());
    }
    let reader = &mut MessageReader::new(section);
    let frames = held.read(reader)?;
    for _ in 0..reader.entries("number of events")? {
        let at_ns = reader.number("time of an event")?;
        let scheduler = reader.short("cause of an event")?;
        let count = reader.short("number of an event")?;
        let node = reader.short("node of an event")?;
        let event = read_event(reader, &frames)?;
        let key = EventKey::new(at_ns, scheduler, count);
        each(Scheduled { key, node, event })?;
    }
    match reader.is_empty() {
        true => Ok(()),
        false => Err(Unreadable("bytes after the events")),
    }
}

fn read_event(reader: &mut MessageReader<'_>, frames: &[Bytes]) -> Result<Event, Unreadable> {
    let kind = reader.number("kind of an event")?;
    let conn = |reader: &mut MessageReader<'_>| reader.short("connection").map(ConnIx);
    let arrival = |conn, segment| Event::Arrival(Arrival { conn, segment });
    Ok(match kind {
        kind::BURST => arrival(
            conn(reader)?,
            Segment::Burst(Box::new(read_burst(reader, frames)?)),
        ),
        kind::ACK => arrival(conn(reader)?, Segment::Ack(reader.short("packets")?)),
        kind::WINDOW_UPDATE => {
            let conn = conn(reader)?;
            arrival(conn, Segment::WindowUpdate(reader.number("window")?))
        }
        kind::LOSS => {
            let conn = conn(reader)?;
            let loss = Segment::Loss {
                seq: reader.short("sequence number")?,
                dropped: reader.short("dropped packets")?,
                ack_wanted: reader.short("whether an acknowledgement is wanted")? != 0,
                later: reader.short("later packets")?,
            };
            arrival(conn, loss)
        }
        kind::CLOSED => Event::Closed(conn(reader)?),
        kind::DIAL => Event::Service(ServiceEvent::Dial {
            client: reader.short("client")?,
            conn: conn(reader)?,
        }),
        kind::ACCEPTED => Event::Light(LightEvent::Accepted {
            node: reader.short("node")?,
            conn: conn(reader)?,
            remote_conn: conn(reader)?,
        }),
        kind::REFUSED => Event::Light(LightEvent::Refused {
            conn: conn(reader)?,
        }),
        _ => return Err(Unreadable("kind of an event")),
    })
}

fn read_burst(
    reader: &mut MessageReader<'_>,
    frames: &[Bytes],
) -> Result<Burst<Bytes>, Unreadable> {
    let flags = reader.number("flags of a burst")?;
    if flags & !flag::ALL != 0 {
        return Err(Unreadable("flags of a burst"));
    }
    let mut burst = Burst {
        seq: reader.short("sequence number")?,
        packets: reader.short("packets")?,
        window: reader.short("window")?,
        wire_bytes: reader.number("bytes of a burst")?,
        lasts_ns: reader.number("duration of a burst")?,
        missing: reader.short("missing packets")?,
        dropped: reader.short("dropped packets")?,
        begins_bytes: reader.number("length of a frame")?,
        ack_wanted: flags & flag::ACK_WANTED != 0,
        repair: flags & flag::REPAIR != 0,
        whole: flags & flag::WHOLE != 0,
        ends_mux_frame: flags & flag::ENDS_MUX_FRAME != 0,
        frame: None,
    };
    if burst.missing > burst.packets {
        return Err(Unreadable("missing packets"));
    }
    if flags & flag::HAS_FRAME != 0 {
        let number = reader.number("number of a frame")? as usize;
        let frame = frames.get(number).ok_or(Unreadable("number of a frame"))?;
        burst.frame = Some(frame.clone());
    }
    Ok(burst)
}

#[cfg(test)]
#[path = "tests/event_codec.rs"]
mod tests;
