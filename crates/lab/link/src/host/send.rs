//! Sending: cuts written frames into bursts and puts the bursts on the uplink.

use rand_core::RngCore;

use crate::connection::{Burst, Retransmission, UnsentFrame};
use crate::flow::UPDATE_BYTES;
use crate::host::{Arrival, ConnIx, Host, Misuse, Output, Priority, Segment, Timer};
use crate::profile::{Profile, Sharing};

impl<P> Host<P> {
    pub(crate) fn write(
        &mut self,
        conn: ConnIx,
        frame: P,
        bytes: u64,
        priority: Priority,
    ) -> Result<(), Misuse> {
        let (now, profile, order) = (self.now, self.config.profile, self.written);
        let piece_bytes = u64::from(self.config.piece_bytes);
        let connection = self.get_mut(conn.0).ok_or(Misuse::NotOpen(conn))?;
        connection.window.advance(now, &profile);
        let rto_ns = connection.rto_ns(&profile);
        connection.window.resume(now, rto_ns, &profile);
        let room = match connection.is_all_sent() {
            true => connection.window.room(),
            false => 0,
        };
        let unsent = UnsentFrame {
            frame,
            bytes_left: bytes,
            packets_left: packets(&profile, bytes, piece_bytes, room),
            order,
            started: false,
        };
        connection.push(unsent, priority == Priority::Urgent);
        connection.fill_buffer(&profile, order, false);
        connection.writer_waits |= !connection.is_writable(&profile);
        self.written += 1;
        self.make_ready(conn.0);
        self.serve();
        Ok(())
    }

    /// Marks a connection that can send as ready for the uplink. For one held back by its window alone,
    /// sets a timer for the next acknowledgement.
    pub(crate) fn make_ready(&mut self, conn: u32) {
        let Some(connection) = self.get_mut(conn) else {
            return;
        };
        let Some(order) = connection.first_order() else {
            return;
        };
        let has_room = connection.window.room() > 0;
        // Without credit, the next window update makes it ready.
        let waits_for_ack = !has_room || connection.is_writer_held();
        if has_room && connection.burst_bytes() > 0 {
            if !std::mem::replace(&mut connection.ready, true) {
                self.ready.push(order, conn);
            }
        } else if waits_for_ack
            && let Some(at) = connection.window.next_ack_ns()
            && !std::mem::replace(&mut connection.watched, true)
        {
            self.timers.at(at, Timer::WindowOpens { conn });
        }
    }

    pub(crate) fn window_opens(&mut self, conn: u32) {
        let (now, profile) = (self.now, self.config.profile);
        if let Some(connection) = self.get_mut(conn) {
            connection.watched = false;
            connection.window.advance(now, &profile);
            self.buffer_drains(conn);
            self.make_ready(conn);
            self.serve();
        }
    }

    /// Refills the send buffer after an acknowledgement, and tells the writer when all its data is in it.
    pub(crate) fn buffer_drains(&mut self, conn: u32) {
        let (profile, order) = (self.config.profile, self.written);
        let Some(connection) = self.get_mut(conn) else {
            return;
        };
        if !connection.is_writer_held() {
            return;
        }
        connection.fill_buffer(&profile, order, true);
        self.written += 1;
        self.notify_writable(conn);
    }

    /// Tells a waiting writer if the socket accepts frames again.
    fn notify_writable(&mut self, conn: u32) {
        let profile = self.config.profile;
        let Some(connection) = self.get_mut(conn) else {
            return;
        };
        if connection.writer_waits && connection.is_writable(&profile) {
            connection.writer_waits = false;
            self.outputs.push_back(Output::Writable(ConnIx(conn)));
        }
    }

    /// Handles a window update. A message that waited for it enters the socket only now, and so comes after the writes
    /// on other connections during the wait.
    pub(crate) fn granted(&mut self, conn: u32, bytes: u64) {
        let (now, profile, order) = (self.now, self.config.profile, self.written);
        self.totals.received_bytes += u64::from(profile.header_bytes) + UPDATE_BYTES;
        if let Some(connection) = self.get_mut(conn) {
            connection.grant(bytes, order);
            connection.window.advance(now, &profile);
            connection.fill_buffer(&profile, order, false);
            self.written += 1;
            self.make_ready(conn);
            self.serve();
        }
    }

    /// Sends bursts until the uplink is busy. The uplink counts as busy only when it is occupied for longer than one
    /// packet, because the order cannot change in a shorter time.
    pub(crate) fn serve(&mut self) {
        let ahead = self.uplink.time_ns(1500);
        while !self.ready.is_empty() {
            let free = self.uplink.free_ns();
            if self.is_limited() && free > self.now + ahead {
                if !std::mem::replace(&mut self.uplink_watched, true) {
                    self.timers.at(free, Timer::UplinkFree);
                }
                return;
            }
            if let Some(conn) = self.ready.pop() {
                self.send_burst(conn);
            }
        }
    }

    fn is_limited(&self) -> bool {
        self.now >= self.config.unlimited_until_ns
    }

    fn send_burst(&mut self, conn: u32) {
        let (profile, now) = (self.config.profile, self.now);
        let Some(connection) = self.get_mut(conn) else {
            return;
        };
        connection.ready = false;
        connection.window.advance(now, &profile);
        let room = connection.window.room();
        let most = match profile.sharing {
            Sharing::WriteOrder => room,
            Sharing::Turns { packets } => room.min(packets),
        };
        if most == 0 || connection.burst_bytes() == 0 {
            return self.make_ready(conn);
        }
        let Some(mut burst) = connection.cut(most, &profile) else {
            return;
        };
        let is_filled = !connection.is_all_sent() && room == burst.packets;
        let is_blocked = is_filled || connection.is_writer_held();
        burst.ack_wanted = is_blocked || connection.window.awaits();
        self.notify_writable(conn);
        self.emit(conn, burst);
        self.make_ready(conn);
    }

    /// Puts a burst on the wire.
    pub(crate) fn emit(&mut self, conn: u32, mut burst: Burst<P>) {
        let (profile, now) = (self.config.profile, self.now);
        let (start, end) = if self.is_limited() {
            self.uplink.pass(now, burst.wire_bytes)
        } else {
            (now, now)
        };
        self.totals.sent_bytes += burst.wire_bytes;
        self.totals.sent_packets += u64::from(burst.packets);
        let path_loss = self.get(conn).map_or(0.0, |c| c.loss);
        let lost = self.lose(path_loss, burst.packets);
        self.totals.lost_packets += u64::from(lost);
        let jitter = self.jitter();
        let Some(connection) = self.get_mut(conn) else {
            return;
        };
        burst.lasts_ns = end - start;
        burst.missing = lost;
        let delay = profile.ack_delay_after(connection.acks, burst.window);
        connection.acks = connection.acks.saturating_add(1);
        let first = (start + connection.delay_ns + jitter).max(connection.arrives_after_ns);
        connection.arrives_after_ns = first + burst.lasts_ns;
        if !burst.repair && lost < burst.packets {
            let quick = profile.ack_every_packets > 0 && burst.packets >= profile.ack_every_packets;
            let delay = if quick { 0 } else { delay };
            let acked = first + burst.lasts_ns + delay + connection.reverse_delay_ns;
            let acked = if burst.ack_wanted { u64::MAX } else { acked };
            connection.window.sent(now, burst.packets - lost, acked);
        }
        if lost > 0 {
            let rto_ns = connection.rto_ns(&profile);
            let all = lost == burst.packets;
            let tries = match connection.take_repair(burst.seq) {
                Some(earlier) => earlier.tries + 1,
                None => 0,
            };
            connection.add_repair(Retransmission {
                seq: burst.seq,
                packets: lost,
                wire_bytes: burst.wire_bytes * u64::from(lost) / u64::from(burst.packets),
                begins_bytes: if all { burst.begins_bytes } else { 0 },
                frame: if all { burst.frame.take() } else { None },
                tries,
                whole: all && burst.whole,
            });
            let seq = burst.seq;
            let rto_ns = rto_ns.saturating_mul(1 << tries.min(8));
            self.timers.at(end + rto_ns, Timer::TimeOut { conn, seq });
            if all {
                return;
            }
        }
        let Some(connection) = self.get_mut(conn) else {
            return;
        };
        let (to, remote_conn) = (connection.remote, ConnIx(connection.remote_conn));
        self.outputs.push_back(Output::Send {
            to,
            at_ns: first,
            arrival: Arrival {
                conn: remote_conn,
                segment: Segment::Burst(Box::new(burst)),
            },
        });
    }

    fn lose(&mut self, path_loss: f64, packets: u32) -> u32 {
        let loss = 1.0 - (1.0 - self.loss) * (1.0 - path_loss);
        match &mut self.rng {
            Some(rng) if loss > 0.0 => {
                let bound = (loss.min(1.0) * f64::from(u32::MAX)) as u32;
                (0..packets).filter(|_| rng.next_u32() < bound).count() as u32
            }
            _ => 0,
        }
    }

    fn jitter(&mut self) -> u64 {
        let most = self.config.jitter_ns;
        match &mut self.rng {
            Some(rng) if most > 0 => ((u128::from(rng.next_u64()) * u128::from(most)) >> 64) as u64,
            _ => 0,
        }
    }
}

/// Number of packets of a frame. Pieces that fit into the window when written each end with a packet of their own;
/// pieces that have to wait are joined into full packets.
fn packets(profile: &Profile, bytes: u64, piece_bytes: u64, room: u32) -> u32 {
    let (mut left, mut packets) = (bytes, 0);
    while piece_bytes > 0 && left > piece_bytes {
        let piece = profile.packets(piece_bytes);
        if packets + piece > room {
            break;
        }
        packets += piece;
        left -= piece_bytes;
    }
    packets + profile.packets(left)
}
