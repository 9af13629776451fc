//! Loss recovery: retransmission of lost packets.

use crate::connection::{Burst, Retransmission};
use crate::host::{Host, Timer};

/// Packets that must arrive after a lost one before the sender considers it lost (RFC 5681).
const DUPLICATE_ACKS: u32 = 3;

impl<P> Host<P> {
    /// Handles a loss report: the receiver misses part of burst `seq`. Its queue dropped `dropped`
    /// packets of it, and `later` packets arrived after the missing ones.
    pub(crate) fn loss_reported(
        &mut self,
        conn: u32,
        seq: u32,
        dropped: u32,
        ack_wanted: bool,
        later: u32,
    ) {
        let (now, profile) = (self.now, self.config.profile);
        let Some(connection) = self.get_mut(conn) else {
            return;
        };
        connection.window.dropped(dropped, ack_wanted);
        let data = u64::from(dropped) * u64::from(profile.segment_bytes);
        let wire_bytes = profile.wire_bytes(data, dropped);
        let is_known = connection.repair_of(seq).is_some();
        match connection.repair_of(seq) {
            Some(repair) => {
                repair.packets += dropped;
                repair.wire_bytes += wire_bytes;
            }
            // The burst was retransmitted already.
            None if dropped == 0 => return,
            None => connection.add_repair(Retransmission {
                seq,
                packets: dropped,
                wire_bytes,
                begins_bytes: 0,
                frame: None,
                tries: 0,
                whole: false,
            }),
        }
        if later >= DUPLICATE_ACKS {
            connection.window.lost();
            self.repair(conn, seq);
        } else if !is_known {
            let rto_ns = connection.rto_ns(&profile);
            self.timers.at(now + rto_ns, Timer::TimeOut { conn, seq });
        }
    }

    pub(crate) fn time_out(&mut self, conn: u32, seq: u32) {
        let profile = self.config.profile;
        let Some(connection) = self.get_mut(conn) else {
            return;
        };
        if connection.repair_of(seq).is_some() {
            connection.window.timed_out(&profile);
            self.repair(conn, seq);
        }
    }

    /// Retransmits a lost burst ahead of all unsent data.
    fn repair(&mut self, conn: u32, seq: u32) {
        let Some(connection) = self.get_mut(conn) else {
            return;
        };
        let Some(repair) = connection.take_repair(seq) else {
            return;
        };
        let packets = repair.packets;
        let window = connection.window.packets();
        self.totals.repaired_packets += u64::from(packets);
        self.emit(
            conn,
            Burst {
                seq,
                packets,
                window,
                wire_bytes: repair.wire_bytes,
                lasts_ns: 0,
                missing: 0,
                dropped: 0,
                ack_wanted: false,
                repair: true,
                whole: repair.whole,
                // Unknown for a burst that was lost whole; assumed, so that no credit is held back.
                ends_mux_frame: true,
                begins_bytes: repair.begins_bytes,
                frame: repair.frame,
            },
        );
        // Otherwise, the next acknowledgement makes it ready.
        if self.get(conn).is_some_and(|c| c.window.is_idle()) {
            self.make_ready(conn);
            self.serve();
        }
    }
}
