//! Binary encoding of numeric records: each lists its fields once, for both writing and reading.

use undertone_wire::put_varint;

use crate::outcome::{
    ClientCounters, Counters, FirstCopy, HistoryReading, KindCounter, LightArrival, ServiceCounters,
};
use crate::ranks::reader::{MessageReader, Unreadable};

/// Visitor of a record's fields, in a fixed order.
type Visit<'a> = &'a mut dyn FnMut(&mut u64);

/// Record that consists of numbers.
pub(crate) trait Numbers: Copy {
    /// A record of zeros.
    const ZERO: Self;

    /// Passes every field to `visit`, and stores the value that `visit` leaves.
    fn visit(&mut self, visit: Visit<'_>);
}

/// Writes a list of records.
pub(crate) fn write_all<T: Numbers>(out: &mut Vec<u8>, records: &[T]) {
    put_varint(out, records.len() as u64);
    for record in records {
        let mut record = *record;
        record.visit(&mut |number| put_varint(out, *number));
    }
}

/// Reads a list of records.
pub(crate) fn read_all<T: Numbers>(
    reader: &mut MessageReader<'_>,
    what: &'static str,
) -> Result<Vec<T>, Unreadable> {
    let count = reader.entries(what)?;
    let mut records = Vec::new();
    for _ in 0..count {
        let mut record = T::ZERO;
        let mut failed = None;
        record.visit(&mut |number| match reader.number(what) {
            Ok(read) => *number = read,
            Err(error) => failed = Some(error),
        });
        match failed {
            Some(error) => return Err(error),
            None => records.push(record),
        }
    }
    Ok(records)
}

fn short(value: &mut u32, visit: Visit<'_>) {
    let mut wide = u64::from(*value);
    visit(&mut wide);
    *value = u32::try_from(wide).unwrap_or(u32::MAX);
}

fn flag(value: &mut bool, visit: Visit<'_>) {
    let mut wide = u64::from(*value);
    visit(&mut wide);
    *value = wide != 0;
}

impl Numbers for u64 {
    const ZERO: Self = 0;

    fn visit(&mut self, visit: Visit<'_>) {
        visit(self);
    }
}

impl Numbers for u32 {
    const ZERO: Self = 0;

    fn visit(&mut self, visit: Visit<'_>) {
        short(self, visit);
    }
}

const NO_KIND: KindCounter = KindCounter { count: 0, bytes: 0 };

impl Numbers for Counters {
    const ZERO: Self = Self {
        messages: NO_KIND,
        subscriptions: NO_KIND,
        graft: NO_KIND,
        prune: NO_KIND,
        ihave: NO_KIND,
        iwant: NO_KIND,
        idontwant: NO_KIND,
        wire_sent_bytes: 0,
        wire_received_bytes: 0,
        packets_dropped: 0,
        duplicates: 0,
        first_copies: 0,
        accepted: 0,
    };

    fn visit(&mut self, visit: Visit<'_>) {
        let Self {
            messages,
            subscriptions,
            graft,
            prune,
            ihave,
            iwant,
            idontwant,
            wire_sent_bytes,
            wire_received_bytes,
            packets_dropped,
            duplicates,
            first_copies,
            accepted,
        } = self;
        for kind in [
            messages,
            subscriptions,
            graft,
            prune,
            ihave,
            iwant,
            idontwant,
        ] {
            visit(&mut kind.count);
            visit(&mut kind.bytes);
        }
        for number in [
            wire_sent_bytes,
            wire_received_bytes,
            packets_dropped,
            duplicates,
            first_copies,
            accepted,
        ] {
            visit(number);
        }
    }
}

impl Numbers for FirstCopy {
    const ZERO: Self = Self {
        message: 0,
        receiver: 0,
        from: 0,
        received_ns: 0,
    };

    fn visit(&mut self, visit: Visit<'_>) {
        for number in [&mut self.message, &mut self.receiver, &mut self.from] {
            short(number, visit);
        }
        visit(&mut self.received_ns);
    }
}

impl Numbers for LightArrival {
    const ZERO: Self = Self {
        message: 0,
        receiver: 0,
        received_ns: 0,
        from_store: false,
    };

    fn visit(&mut self, visit: Visit<'_>) {
        short(&mut self.message, visit);
        short(&mut self.receiver, visit);
        visit(&mut self.received_ns);
        flag(&mut self.from_store, visit);
    }
}

impl Numbers for HistoryReading {
    const ZERO: Self = Self {
        client: 0,
        node: 0,
        started_ns: 0,
        ended_ns: 0,
        pages: 0,
        messages: 0,
    };

    fn visit(&mut self, visit: Visit<'_>) {
        short(&mut self.client, visit);
        short(&mut self.node, visit);
        visit(&mut self.started_ns);
        visit(&mut self.ended_ns);
        short(&mut self.pages, visit);
        short(&mut self.messages, visit);
    }
}

impl Numbers for ServiceCounters {
    const ZERO: Self = Self {
        requests: [0; 3],
        refused: [0; 3],
        pushes: 0,
        archived: 0,
        sync_sessions: 0,
        sync_received: 0,
        sync_sent_bytes: 0,
        metadata_answers: 0,
        peers_given: 0,
        as_other_cluster: 0,
    };

    fn visit(&mut self, visit: Visit<'_>) {
        self.requests.iter_mut().for_each(&mut *visit);
        self.refused.iter_mut().for_each(&mut *visit);
        visit(&mut self.pushes);
        visit(&mut self.archived);
        visit(&mut self.sync_sessions);
        visit(&mut self.sync_received);
        visit(&mut self.sync_sent_bytes);
        visit(&mut self.metadata_answers);
        visit(&mut self.peers_given);
        visit(&mut self.as_other_cluster);
    }
}

impl Numbers for ClientCounters {
    const ZERO: Self = Self {
        floods: false,
        wire_sent_bytes: 0,
        wire_received_bytes: 0,
        requests: [0; 3],
        answered: [0; 3],
        refused: [0; 3],
        pushes: 0,
        streams_broken: 0,
        connections_lost: 0,
        sleeps: 0,
        offences: 0,
        sends: 0,
        sends_stored: 0,
        sends_propagated: 0,
        sends_failed: 0,
        sends_refused: 0,
        other_clusters: 0,
        peers_found: 0,
        channel_acknowledged: 0,
        channel_resent: 0,
        channel_repaired: 0,
        channel_syncs: 0,
        channel_lost: 0,
        channel_gaps: 0,
    };

    fn visit(&mut self, visit: Visit<'_>) {
        flag(&mut self.floods, visit);
        for numbers in [&mut self.requests, &mut self.answered, &mut self.refused] {
            numbers.iter_mut().for_each(&mut *visit);
        }
        for number in [
            &mut self.wire_sent_bytes,
            &mut self.wire_received_bytes,
            &mut self.pushes,
            &mut self.streams_broken,
            &mut self.connections_lost,
            &mut self.sleeps,
            &mut self.offences,
            &mut self.sends,
            &mut self.sends_stored,
            &mut self.sends_propagated,
            &mut self.sends_failed,
            &mut self.sends_refused,
            &mut self.other_clusters,
            &mut self.peers_found,
            &mut self.channel_acknowledged,
            &mut self.channel_resent,
            &mut self.channel_repaired,
            &mut self.channel_syncs,
            &mut self.channel_lost,
            &mut self.channel_gaps,
        ] {
            visit(number);
        }
    }
}

#[cfg(test)]
#[path = "tests/numbers.rs"]
mod tests;
