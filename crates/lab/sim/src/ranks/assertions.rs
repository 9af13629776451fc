//! Assertions that a rank makes at the end of a run about another rank's nodes, and that the other rank
//! checks.

use undertone_wire::put_varint;

use crate::ranks::numbers::{Numbers, read_all, write_all};
use crate::ranks::reader::{MessageReader, Unreadable};
use crate::ranks::{RankError, Ranks, messages};

/// Assertions sent to one rank, and the packet counts of the rank that makes them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Assertions {
    pub(crate) packets: PacketCount,
    pub(crate) meshes: Vec<MeshAssertion>,
    pub(crate) readings: Vec<ReadingAssertion>,
}

/// Packet counts of one rank or of several.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct PacketCount {
    pub(crate) sent: u64,
    /// Packets that were received or lost, or are in flight.
    pub(crate) accounted: u64,
}

impl PacketCount {
    pub(crate) fn and(self, other: Self) -> Self {
        Self {
            sent: self.sent.saturating_add(other.sent),
            accounted: self.accounted.saturating_add(other.accounted),
        }
    }
}

/// Claim that node `remote` has `node`, at the other end of its connection `remote_conn`, in its
/// mesh.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct MeshAssertion {
    pub(crate) node: u32,
    pub(crate) topic: u32,
    pub(crate) remote: u32,
    pub(crate) remote_conn: u32,
}

impl Numbers for MeshAssertion {
    const ZERO: Self = Self {
        node: 0,
        topic: 0,
        remote: 0,
        remote_conn: 0,
    };

    fn visit(&mut self, visit: &mut dyn FnMut(&mut u64)) {
        self.node.visit(visit);
        self.topic.visit(visit);
        self.remote.visit(visit);
        self.remote_conn.visit(visit);
    }
}

/// Claim that a client's reading has every message that the store of `node` had when the reading
/// began.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ReadingAssertion {
    pub(crate) client: u32,
    pub(crate) node: u32,
    pub(crate) started_ns: u64,
    pub(crate) ended_ns: u64,
    /// Numbers of the messages that were read, in ascending order.
    pub(crate) messages: Vec<u64>,
}

impl Assertions {
    fn write(&self) -> Vec<u8> {
        let mut out = Vec::new();
        write_all(&mut out, &[self.packets.sent, self.packets.accounted]);
        write_all(&mut out, &self.meshes);
        put_varint(&mut out, self.readings.len() as u64);
        for reading in &self.readings {
            for number in [
                reading.client.into(),
                reading.node.into(),
                reading.started_ns,
                reading.ended_ns,
            ] {
                put_varint(&mut out, number);
            }
            write_all(&mut out, &reading.messages);
        }
        out
    }

    fn read(message: &[u8]) -> Result<Self, Unreadable> {
        let reader = &mut MessageReader::new(message);
        let [sent, accounted] = read_all(reader, "packets")?[..] else {
            return Err(Unreadable("packets"));
        };
        let meshes = read_all(reader, "assertion of a mesh")?;
        let mut readings = Vec::new();
        for _ in 0..reader.entries("number of readings")? {
            readings.push(ReadingAssertion {
                client: reader.short("client")?,
                node: reader.short("node")?,
                started_ns: reader.number("start of a reading")?,
                ended_ns: reader.number("end of a reading")?,
                messages: read_all(reader, "messages of a reading")?,
            });
        }
        Ok(Self {
            packets: PacketCount { sent, accounted },
            meshes,
            readings,
        })
    }
}

/// Sends each rank its assertions. Returns the assertions that this rank must judge, indexed by the rank that
/// makes them.
pub(crate) fn exchange(
    ranks: &mut dyn Ranks,
    assertions: &[Assertions],
) -> Result<Vec<Assertions>, RankError> {
    let messages = assertions.iter().map(Assertions::write).collect();
    let received = messages::exchange(ranks, messages)?;
    let read = received.iter().enumerate().map(|(rank, message)| {
        Assertions::read(message).map_err(|Unreadable(what)| RankError::Malformed { rank, what })
    });
    read.collect()
}

#[cfg(test)]
#[path = "tests/assertions.rs"]
mod tests;
