//! Transfer of results to rank 0 and back. The whole result needs the senders of all first copies.

use undertone_wire::put_varint;

use crate::outcome::{Outcome, ServicesOutcome, Violation};
use crate::ranks::numbers::{read_all, write_all};
use crate::ranks::reader::{MessageReader, Unreadable};
use crate::ranks::{RankError, Ranks, messages};
use crate::run::result::part::{MeshSizes, Part};

/// Gathers the parts of all ranks on rank 0.
pub(crate) fn gather(ranks: &mut dyn Ranks, own: Part) -> Result<Vec<Part>, RankError> {
    let none = vec![Vec::new(); ranks.count()];
    let messages = messages::exchange(ranks, none)?;
    let mut parts = vec![own];
    for (rank, message) in messages.into_iter().enumerate().skip(1) {
        let malformed = |Unreadable(what)| RankError::Malformed { rank, what };
        parts.push(read_part(&message).map_err(malformed)?);
    }
    Ok(parts)
}

/// Sends this rank's part to rank 0.
pub(crate) fn give(ranks: &mut dyn Ranks, part: &Part) -> Result<(), RankError> {
    let mut messages = vec![Vec::new(); ranks.count()];
    messages[0] = write_part(part);
    messages::exchange(ranks, messages)?;
    Ok(())
}

/// Sends each rank the trace hash and the hops of the deliveries to its nodes.
pub(crate) fn spread(ranks: &mut dyn Ranks, outcome: &Outcome) -> Result<(), RankError> {
    let count = ranks.count();
    let mut hops = vec![Vec::new(); count];
    for delivery in &outcome.deliveries {
        hops[delivery.receiver as usize % count].push(u32::from(delivery.hops));
    }
    let messages = hops.iter().map(|hops| {
        let mut message = Vec::new();
        let hash = outcome.trace_hash.as_ref().map_or(&[][..], |hash| hash);
        put_varint(&mut message, hash.len() as u64);
        message.extend_from_slice(hash);
        write_all(&mut message, hops);
        message
    });
    messages::exchange(ranks, messages.collect())?;
    Ok(())
}

/// Receives the trace hash, and the hops for this rank's part, from rank 0.
pub(crate) fn take(ranks: &mut dyn Ranks, outcome: &mut Outcome) -> Result<(), RankError> {
    let none = vec![Vec::new(); ranks.count()];
    let messages = messages::exchange(ranks, none)?;
    let malformed = |Unreadable(what)| RankError::Malformed { rank: 0, what };
    let message = messages.first().map_or(&[][..], |message| message);
    read_hops(message, outcome).map_err(malformed)
}

fn read_hops(message: &[u8], outcome: &mut Outcome) -> Result<(), Unreadable> {
    let reader = &mut MessageReader::new(message);
    let hash = reader.bytes("trace hash")?;
    outcome.trace_hash = match hash.len() {
        0 => None,
        _ => Some(hash.try_into().map_err(|_| Unreadable("trace hash"))?),
    };
    let hops: Vec<u32> = read_all(reader, "hops")?;
    if hops.len() != outcome.deliveries.len() {
        return Err(Unreadable("hops"));
    }
    for (delivery, hops) in outcome.deliveries.iter_mut().zip(hops) {
        delivery.hops = u16::try_from(hops).map_err(|_| Unreadable("hops"))?;
    }
    Ok(())
}

fn write_part(part: &Part) -> Vec<u8> {
    let mut out = Vec::new();
    let meshes = part.meshes;
    let [min, max] = [meshes.min, meshes.max].map(u64::from);
    write_all(&mut out, &[part.events, meshes.count, meshes.sum, min, max]);
    write_all(&mut out, &part.traces);
    write_all(&mut out, &part.firsts);
    write_all(&mut out, &part.counters);
    write_all(&mut out, &part.connections);
    put_varint(&mut out, part.violations.len() as u64);
    for violation in &part.violations {
        put_varint(&mut out, violation.at_ns);
        put_varint(&mut out, violation.node.into());
        put_varint(&mut out, violation.rule.len() as u64);
        out.extend_from_slice(violation.rule.as_bytes());
    }
    put_varint(&mut out, u64::from(part.services.is_some()));
    if let Some(services) = &part.services {
        let nodes = [services.service_nodes.start, services.service_nodes.end].map(u64::from);
        write_all(
            &mut out,
            &[nodes[0], nodes[1], services.expected, services.missing],
        );
        write_all(&mut out, &services.deliveries);
        write_all(&mut out, &services.clients);
        write_all(&mut out, &services.served);
        write_all(&mut out, &services.readings);
    }
    out
}

fn read_part(message: &[u8]) -> Result<Part, Unreadable> {
    let reader = &mut MessageReader::new(message);
    let [events, count, sum, min, max] = read_all(reader, "counts")?[..] else {
        return Err(Unreadable("counts"));
    };
    let short = |number: u64| u32::try_from(number).map_err(|_| Unreadable("counts"));
    let meshes = MeshSizes {
        count,
        sum,
        min: short(min)?,
        max: short(max)?,
    };
    let mut part = Part {
        events,
        meshes,
        traces: read_all(reader, "traces")?,
        firsts: read_all(reader, "first copies")?,
        counters: read_all(reader, "counters")?,
        connections: read_all(reader, "connections")?,
        violations: Vec::new(),
        services: None,
    };
    for _ in 0..reader.entries("violations")? {
        let (at_ns, node) = (reader.number("violation")?, reader.short("violation")?);
        let rule = str::from_utf8(reader.bytes("rule")?).map_err(|_| Unreadable("rule"))?;
        // Only the first violations of a thread are kept, so the leak is small; the text is needed until the end.
        let rule = Box::leak(rule.to_owned().into_boxed_str());
        part.violations.push(Violation { at_ns, node, rule });
    }
    if reader.flag("services")? {
        let [start, end, expected, missing] = read_all(reader, "services")?[..] else {
            return Err(Unreadable("services"));
        };
        part.services = Some(ServicesOutcome {
            service_nodes: short(start)?..short(end)?,
            expected,
            missing,
            deliveries: read_all(reader, "deliveries to clients")?,
            clients: read_all(reader, "counters of clients")?,
            served: read_all(reader, "counters of services")?,
            readings: read_all(reader, "readings")?,
        });
    }
    match reader.is_empty() {
        true => Ok(part),
        false => Err(Unreadable("bytes after the result")),
    }
}

#[cfg(test)]
#[path = "tests/results.rs"]
mod tests;
