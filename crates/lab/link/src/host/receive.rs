//! Receiving: turns bursts into frames, and sends the acknowledgements that senders wait for.

use undertone_compact::prefetch;

use crate::connection::{Burst, Progress};
use crate::flow::UPDATE_BYTES;
use crate::host::{Arrival, ConnIx, Host, Output, Segment, Timer};

/// A burst that is flowing into the downlink.
#[derive(Debug)]
pub(crate) struct IncomingBurst<P> {
    pub(crate) id: u32,
    pub(crate) conn: u32,
    pub(crate) from_ns: u64,
    pub(crate) acked: u32,
    /// Time of the next partial acknowledgement.
    pub(crate) next_ack_ns: u64,
    pub(crate) burst: Box<Burst<P>>,
}

impl<P> Host<P> {
    /// Prefetches the memory that [`Input::Arrival`](super::Input::Arrival) with this transmission will need: that of
    /// the connection and of the burst. Useful for drivers with more hosts than fit into the processor's caches.
    pub fn prefetch(&self, arrival: &Arrival<P>) {
        if let Some(connection) = self.get(arrival.conn.0) {
            prefetch(connection);
        }
        if let Segment::Burst(burst) = &arrival.segment {
            prefetch(&**burst);
        }
    }

    pub(crate) fn burst_begins(&mut self, conn: u32, burst: Box<Burst<P>>) {
        if self.get(conn).is_none() {
            self.totals.orphaned_packets += u64::from(burst.packets - burst.missing);
            return;
        }
        self.queued_packets += u64::from(burst.packets - burst.missing);
        if burst.begins_bytes > self.config.begun_over_bytes {
            let (conn, bytes) = (ConnIx(conn), burst.begins_bytes);
            self.outputs.push_back(Output::Begun { conn, bytes });
        }
        if self.now < self.config.unlimited_until_ns {
            if burst.ack_wanted {
                let delay = self.ack_delay(conn, &burst);
                let packets = burst.packets;
                self.timers
                    .at(self.now + delay, Timer::Ack { conn, packets });
            }
            return self.passed(conn, *burst);
        }
        let here = burst.wire_bytes
            - burst.wire_bytes * u64::from(burst.missing) / u64::from(burst.packets);
        if burst.lasts_ns == 0 && !burst.ack_wanted {
            let passed = self.downlink.at_once(self.now, here);
            return self.pass(passed, conn, 0, 0, burst);
        }
        self.arrivals = self.arrivals.wrapping_add(1).max(1);
        let id = self.arrivals;
        self.downlink.begin(self.now, id, here, burst.lasts_ns);
        self.timers
            .at(self.now + burst.lasts_ns, Timer::BurstEnds { burst: id });
        let step_ns = self.ack_delay(conn, &burst).max(1);
        let next_ack_ns = self.now + self.downlink.wait_ns() + step_ns;
        if burst.ack_wanted {
            let burst = id;
            self.timers
                .at(next_ack_ns, Timer::AckSome { burst, step_ns });
        }
        self.arriving.push(IncomingBurst {
            id,
            conn,
            from_ns: self.now,
            acked: 0,
            next_ack_ns,
            burst,
        });
    }

    /// Delay from a packet to its acknowledgement, nanoseconds.
    fn ack_delay(&self, conn: u32, burst: &Burst<P>) -> u64 {
        let profile = &self.config.profile;
        let every = profile.ack_every_packets;
        if every > 0 && burst.packets >= every {
            return self.downlink.time_ns(u64::from(every) * 1500);
        }
        self.get(conn)
            .map_or(0, |c| profile.ack_delay_after(c.acks, burst.window))
    }

    /// Acknowledges the packets of an arriving burst that have passed by now, and repeats this with an interval that
    /// doubles. The sender thus learns of room for more packets before it has used up its window.
    pub(crate) fn ack_some(&mut self, id: u32, step_ns: u64) {
        let waits = self.downlink.wait_ns();
        let Some(arriving) = self.arriving.iter_mut().find(|a| a.id == id) else {
            return;
        };
        let burst = &arriving.burst;
        let here = burst.packets - burst.missing;
        let passed_for = self.now.saturating_sub(arriving.from_ns + waits);
        let share = passed_for as f64 / burst.lasts_ns.max(1) as f64;
        let passed = ((f64::from(here) * share) as u32).min(here);
        let fresh = passed.saturating_sub(arriving.acked);
        let conn = arriving.conn;
        arriving.acked += fresh;
        let step_ns = step_ns * 2;
        arriving.next_ack_ns = self.now + step_ns;
        let next_ack_ns = arriving.next_ack_ns;
        let burst = id;
        self.timers
            .at(next_ack_ns, Timer::AckSome { burst, step_ns });
        if fresh > 0 {
            self.send_ack(conn, fresh);
        }
    }

    pub(crate) fn burst_ends(&mut self, id: u32) {
        let (passed, dropped) = self.downlink.end(self.now, id);
        let Some(at) = self.arriving.iter().position(|a| a.id == id) else {
            return;
        };
        let IncomingBurst {
            conn,
            mut burst,
            acked,
            next_ack_ns,
            ..
        } = self.arriving.remove(at);
        let dropped = dropped.min(burst.packets - burst.missing);
        self.totals.lost_packets += u64::from(dropped);
        self.queued_packets -= u64::from(dropped);
        burst.missing += dropped;
        burst.dropped = dropped;
        let packets = match burst.ack_wanted {
            true => (burst.packets - burst.missing.min(burst.packets)).saturating_sub(acked),
            false => 0,
        };
        // Joins the next partial acknowledgement if the burst has passed by then.
        let delayed = passed + self.ack_delay(conn, &burst);
        let at = if passed <= next_ack_ns {
            next_ack_ns.min(delayed)
        } else {
            delayed
        };
        // Set before the acknowledgement, which leaves out what the queue drops until the burst has passed.
        self.pass(passed, conn, id, packets, burst);
        if packets > 0 {
            self.timers.at(at, Timer::Ack { conn, packets });
        }
    }

    /// Completes a burst when it has passed the downlink. Its last `planned` packets are acknowledged later.
    fn pass(&mut self, passed_ns: u64, conn: u32, id: u32, planned: u32, burst: Box<Burst<P>>) {
        if passed_ns <= self.now {
            self.passed(conn, *burst);
        } else {
            let passed = Timer::Passed {
                conn,
                id,
                planned,
                burst,
            };
            self.timers.at(passed_ns, passed);
        }
    }

    /// Ends the wait of a burst before the downlink, during which the queue may have dropped packets of it.
    pub(crate) fn waited(&mut self, conn: u32, id: u32, planned: u32, mut burst: Burst<P>) {
        let dropped = self.downlink.passed(self.now, id);
        let dropped = dropped.min(burst.packets - burst.missing);
        if dropped > 0 {
            self.totals.lost_packets += u64::from(dropped);
            self.queued_packets -= u64::from(dropped);
            burst.missing += dropped;
            burst.dropped += dropped;
            // Packets that were acknowledged while they arrived cannot be left out any more.
            let owed = dropped.min(planned);
            if owed > 0
                && let Some(connection) = self.get_mut(conn)
            {
                connection.owe_acks(owed);
            }
        }
        self.passed(conn, burst);
    }

    /// Completes a burst whose last packet has passed the downlink.
    pub(crate) fn passed(&mut self, conn: u32, burst: Burst<P>) {
        let header = u64::from(self.config.profile.header_bytes);
        let here = burst.packets - burst.missing.min(burst.packets);
        self.queued_packets -= u64::from(here);
        if self.get(conn).is_none() {
            self.totals.orphaned_packets += u64::from(here);
            return;
        }
        let (missing, dropped, ack_wanted) = (burst.missing, burst.dropped, burst.ack_wanted);
        self.totals.received_packets += u64::from(here);
        self.totals.received_bytes +=
            burst.wire_bytes - burst.wire_bytes * u64::from(missing) / u64::from(burst.packets);
        if !burst.ack_wanted {
            // Acknowledged like any other burst, but without an event, as the sender does not wait for
            // it.
            self.totals.sent_bytes += header * u64::from(here.div_ceil(2));
        }
        let seq = burst.seq;
        let mut frames = Vec::new();
        let profile = self.config.profile;
        let Progress {
            gaps,
            data_bytes,
            ends_mux_frame,
        } = match self.get_mut(conn) {
            Some(connection) => connection.arrived(burst, &profile, |frame| frames.push(frame)),
            None => Progress::default(),
        };
        self.update_window(conn, (data_bytes, ends_mux_frame));
        for frame in frames {
            let conn = ConnIx(conn);
            self.outputs.push_back(Output::Received { conn, frame });
        }
        for seq in gaps {
            self.report_loss(conn, seq, 0, false, here);
        }
        if missing > 0 {
            self.report_loss(conn, seq, dropped, ack_wanted, here);
        }
    }

    /// Sends an acknowledgement planned while its packets waited, less those that the queue has dropped in the
    /// meantime.
    pub(crate) fn send_late_ack(&mut self, conn: u32, packets: u32) {
        let owed = self.get_mut(conn);
        let packets = owed.map_or(packets, |connection| connection.less_owed(packets));
        if packets > 0 {
            self.send_ack(conn, packets);
        }
    }

    pub(crate) fn send_ack(&mut self, conn: u32, packets: u32) {
        self.totals.sent_bytes += u64::from(self.config.profile.header_bytes);
        self.tell(conn, Segment::Ack(packets));
    }

    /// Sends a window update if the bytes read make one due.
    fn update_window(&mut self, conn: u32, read: (u64, bool)) {
        let now = self.now;
        let Some(connection) = self.get_mut(conn) else {
            return;
        };
        let round_trip_ns = connection.delay_ns + connection.reverse_delay_ns;
        let flow = connection.flow.as_mut();
        if let Some(granted) = flow.and_then(|flow| flow.read(now, read, round_trip_ns)) {
            self.totals.sent_bytes += u64::from(self.config.profile.header_bytes) + UPDATE_BYTES;
            self.tell(conn, Segment::WindowUpdate(granted));
        }
    }

    fn report_loss(&mut self, conn: u32, seq: u32, dropped: u32, ack_wanted: bool, later: u32) {
        self.tell(
            conn,
            Segment::Loss {
                seq,
                dropped,
                ack_wanted,
                later,
            },
        );
    }

    /// Sends an acknowledgement, a window update or a loss report, which do not queue behind data.
    fn tell(&mut self, conn: u32, segment: Segment<P>) {
        let Some(connection) = self.get(conn) else {
            return;
        };
        let (to, remote_conn) = (connection.remote, ConnIx(connection.remote_conn));
        let at_ns = self.now + connection.delay_ns;
        self.outputs.push_back(Output::Send {
            to,
            at_ns,
            arrival: Arrival {
                conn: remote_conn,
                segment,
            },
        });
    }
}
