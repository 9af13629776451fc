//! Reader of the witness calculator's file, `graph.bin`.
//!
//! ```text
//! "wtns.graph.001"
//! u64      number of nodes, little-endian
//! nodes    protobuf messages, each after its length as a varint
//! metadata a protobuf message after its length: 1 wires (packed), 2 inputs (name, offset, length)
//! u64      where the metadata starts
//! ```

use ark_ff::{BigInt, PrimeField};
use undertone_wire::{VarintError, read_varint};

use super::{GraphNode, Inputs, Program, WitnessGraph};
use crate::arkzkey::{Defect, MalformedArtefact};
use crate::field::Fr;
use crate::tree::DEPTH;

const MAGIC: &[u8] = b"wtns.graph.001";
/// Bound on the input positions that a graph may name; the circuit has 46 inputs.
const MAX_INPUTS: u64 = 1 << 16;

/// Longest encoding of a number, bytes: none in this file needs more than 35 bits.
const NUMBER_BYTES_MAX: usize = 5;

/// Field number of an input inside a node.
const INPUT: u64 = 1;
/// Field number of a constant inside a node.
const CONSTANT: u64 = 2;
/// Field number of an operation with two operands inside a node.
const TWO_OPERANDS: u64 = 4;

/// Parses the witness calculator's file.
pub(crate) fn parse(bytes: &[u8]) -> Result<WitnessGraph, MalformedArtefact> {
    let mut reader = GraphReader { bytes, at: 0 };
    if !bytes.starts_with(MAGIC) {
        return Err(reader.malformed(Defect::Magic));
    }
    reader.at = MAGIC.len();
    let count = reader.u64()?;
    // A node takes at least two bytes.
    if count > bytes.len() as u64 / 2 {
        return Err(reader.malformed(Defect::Count(count)));
    }
    let mut nodes = Vec::with_capacity(count as usize);
    for _ in 0..count {
        let mut message = reader.message()?;
        nodes.push(node(&mut message, nodes.len() as u64)?);
    }
    let metadata_at = reader.at as u64;
    let mut metadata = reader.message()?;
    let (wires, inputs) = describe(&mut metadata, count)?;
    if reader.u64()? != metadata_at || reader.at != bytes.len() {
        return Err(reader.malformed(Defect::Trailing));
    }
    let unknown = nodes.iter().find_map(|node| match node {
        GraphNode::Input(input) if *input as usize >= inputs.count => Some(u64::from(*input)),
        _ => None,
    });
    match unknown {
        Some(input) => Err(reader.malformed(Defect::Index(input))),
        None => Ok(WitnessGraph {
            program: Program { nodes },
            wires,
            inputs,
        }),
    }
}

/// Parses one node, whose operands must be less than `earlier`, the number of nodes before.
fn node(message: &mut GraphReader<'_>, earlier: u64) -> Result<GraphNode, MalformedArtefact> {
    let (kind, mut body) = message.submessage()?;
    let mut numbers = [0; 4];
    if kind == CONSTANT {
        let (1, mut number) = body.submessage()? else {
            return Err(body.malformed(Defect::Tag(CONSTANT)));
        };
        let (1, digits) = number.submessage()? else {
            return Err(number.malformed(Defect::Tag(CONSTANT)));
        };
        return digits.constant();
    }
    while let Some((tag, value)) = body.number()? {
        match numbers.get_mut(tag as usize) {
            Some(slot) if tag > 0 => *slot = value,
            _ => return Err(body.malformed(Defect::Tag(tag))),
        }
    }
    let [_, first, a, b] = numbers;
    match kind {
        INPUT if first < MAX_INPUTS => Ok(GraphNode::Input(first as u32)),
        INPUT => Err(body.malformed(Defect::Index(first))),
        TWO_OPERANDS => {
            if let Some(operand) = [a, b].into_iter().find(|operand| *operand >= earlier) {
                return Err(body.malformed(Defect::Index(operand)));
            }
            let (a, b) = (a as u32, b as u32);
            match first {
                0 => Ok(GraphNode::Mul(a, b)),
                2 => Ok(GraphNode::Add(a, b)),
                3 => Ok(GraphNode::Sub(a, b)),
                16 => Ok(GraphNode::ShiftRight(a, b)),
                18 => Ok(GraphNode::BitAnd(a, b)),
                operation => Err(body.malformed(Defect::Operation(operation))),
            }
        }
        kind => Err(body.malformed(Defect::Tag(kind))),
    }
}

/// Parses the metadata: the wires' values and the positions of the inputs.
fn describe(
    metadata: &mut GraphReader<'_>,
    nodes: u64,
) -> Result<(Vec<u32>, Inputs), MalformedArtefact> {
    let mut wires = Vec::new();
    let mut named = Vec::new();
    while metadata.at < metadata.bytes.len() {
        let (tag, mut body) = metadata.submessage()?;
        match tag {
            1 => {
                while body.at < body.bytes.len() {
                    let wire = body.varint()?;
                    if wire >= nodes {
                        return Err(body.malformed(Defect::Index(wire)));
                    }
                    wires.push(wire as u32);
                }
            }
            2 => named.push(input(&mut body)?),
            // Fields that later versions of the format add are not needed here.
            _ => {}
        }
    }
    let find = |name: &str, length: u64| {
        named
            .iter()
            .find(|(found, _, found_length)| *found == name.as_bytes() && *found_length == length)
            .map(|(_, offset, _)| *offset as u32)
            .ok_or(metadata.malformed(Defect::Shape))
    };
    let depth = DEPTH as u64;
    let path = named.iter().find(|(name, ..)| *name == b"pathElements");
    if let Some((_, _, found)) = path.filter(|(_, _, length)| *length != depth) {
        let (found, expected) = (*found, depth);
        return Err(metadata.malformed(Defect::Depth { found, expected }));
    }
    let inputs = Inputs {
        x: find("x", 1)?,
        external_nullifier: find("externalNullifier", 1)?,
        message_id: find("messageId", 1)?,
        identity_secret: find("identitySecret", 1)?,
        limit: find("userMessageLimit", 1)?,
        path_elements: find("pathElements", depth)?,
        path_bits: find("identityPathIndex", depth)?,
        count: 1 + named
            .iter()
            .map(|(_, _, length)| *length as usize)
            .sum::<usize>(),
    };
    // If every input lies below the count, the inputs fill the range, as none is named twice.
    let inside = |(_, offset, length): &(&[u8], u64, u64)| offset + length <= inputs.count as u64;
    match named.len() == 7 && named.iter().all(inside) {
        true => Ok((wires, inputs)),
        false => Err(metadata.malformed(Defect::Shape)),
    }
}

/// Parses the name, offset and length of one input.
fn input<'a>(entry: &mut GraphReader<'a>) -> Result<(&'a [u8], u64, u64), MalformedArtefact> {
    let (1, name) = entry.submessage()? else {
        return Err(entry.malformed(Defect::Tag(0)));
    };
    let (2, mut place) = entry.submessage()? else {
        return Err(entry.malformed(Defect::Tag(0)));
    };
    let (mut offset, mut length) = (0, 0);
    while let Some((tag, value)) = place.number()? {
        if value > MAX_INPUTS {
            return Err(place.malformed(Defect::Count(value)));
        }
        match tag {
            1 => offset = value,
            2 => length = value,
            tag => return Err(place.malformed(Defect::Tag(tag))),
        }
    }
    Ok((&name.bytes[name.at..], offset, length))
}

/// Reading position in `bytes`. An embedded message is read by a reader that ends with the message but
/// begins with the file, so that positions are always those of the file.
struct GraphReader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> GraphReader<'a> {
    fn u64(&mut self) -> Result<u64, MalformedArtefact> {
        let found = self.bytes.get(self.at..).and_then(<[u8]>::first_chunk);
        let found = found.ok_or(self.malformed(Defect::Truncated))?;
        self.at += 8;
        Ok(u64::from_le_bytes(*found))
    }

    fn varint(&mut self) -> Result<u64, MalformedArtefact> {
        match read_varint(&self.bytes[self.at..]) {
            Ok((value, len)) if len <= NUMBER_BYTES_MAX => {
                self.at += len;
                Ok(value)
            }
            Ok((value, _)) => Err(self.malformed(Defect::Count(value))),
            Err(VarintError::Incomplete) => Err(self.malformed(Defect::Truncated)),
            Err(VarintError::Overflow) => Err(self.malformed(Defect::Count(u64::MAX))),
        }
    }

    /// Reads a length and returns a reader of the message of that length.
    fn message(&mut self) -> Result<Self, MalformedArtefact> {
        let length = self.varint()?;
        let room = self.bytes.len() - self.at;
        if length > room as u64 {
            return Err(self.malformed(Defect::Truncated));
        }
        let start = self.at;
        self.at += length as usize;
        Ok(Self {
            bytes: &self.bytes[..self.at],
            at: start,
        })
    }

    /// Reads a length-delimited field: returns the field number and a reader of the content.
    fn submessage(&mut self) -> Result<(u64, Self), MalformedArtefact> {
        match self.varint()? {
            tag if tag & 7 == 2 => Ok((tag >> 3, self.message()?)),
            tag => Err(self.malformed(Defect::Tag(tag))),
        }
    }

    /// Reads a varint field: returns the field number and the value; `None` at the end.
    fn number(&mut self) -> Result<Option<(u64, u64)>, MalformedArtefact> {
        if self.at == self.bytes.len() {
            return Ok(None);
        }
        match self.varint()? {
            tag if tag & 7 == 0 => Ok(Some((tag >> 3, self.varint()?))),
            tag => Err(self.malformed(Defect::Tag(tag))),
        }
    }

    /// Reads the remaining bytes as a little-endian constant, padded with zeros.
    fn constant(&self) -> Result<GraphNode, MalformedArtefact> {
        let bytes = &self.bytes[self.at..];
        if bytes.len() > 32 {
            return Err(self.malformed(Defect::NonCanonical));
        }
        let mut limbs = [0; 4];
        for (at, byte) in bytes.iter().enumerate() {
            limbs[at / 8] |= u64::from(*byte) << (at % 8 * 8);
        }
        Fr::from_bigint(BigInt::new(limbs))
            .map(GraphNode::Constant)
            .ok_or(self.malformed(Defect::NonCanonical))
    }

    fn malformed(&self, what: Defect) -> MalformedArtefact {
        MalformedArtefact {
            at_byte: self.at,
            what,
        }
    }
}
