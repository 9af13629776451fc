//! Packets in flight, in the order in which they were sent.

use std::collections::VecDeque;
use std::num::NonZeroU32;

use crate::boxed_if_used::BoxedIfUsed;

/// Packets that were sent together.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Flight {
    pub(crate) packets: NonZeroU32,
    /// Time at which the acknowledgement arrives; `u64::MAX` if the receiver reports it.
    pub(crate) acked_ns: u64,
}

/// Queue of flights. Most connections have at most one, which needs no heap memory. A flight stays until the next
/// packet is sent.
#[derive(Clone, Debug, Default)]
pub(crate) struct Flights {
    first: Option<Flight>,
    /// Flights after the first; empty if there is no first.
    later: BoxedIfUsed<VecDeque<Flight>>,
}

impl Flights {
    pub(crate) fn first(&self) -> Option<Flight> {
        self.first
    }

    pub(crate) fn last(&self) -> Option<Flight> {
        let later = self.later.get().and_then(VecDeque::back);
        later.copied().or(self.first)
    }

    pub(crate) fn last_mut(&mut self) -> Option<&mut Flight> {
        let later = self.later.get_mut().and_then(VecDeque::back_mut);
        later.or(self.first.as_mut())
    }

    pub(crate) fn push(&mut self, flight: Flight) {
        match self.first {
            None => self.first = Some(flight),
            Some(_) => {
                let later = self.later.fill();
                if later.capacity() == 0 {
                    // There are rarely more than two flights, and a queue would start with room for four.
                    later.reserve_exact(1);
                }
                later.push_back(flight);
            }
        }
    }

    /// Removes the first flight.
    pub(crate) fn pop(&mut self) {
        self.first = self.later.get_mut().and_then(VecDeque::pop_front);
        self.later.release(VecDeque::is_empty);
    }

    /// Removes up to `most` packets from the first flight whose acknowledgement the receiver reports. Returns their
    /// number, or `None` if there is no such flight.
    pub(crate) fn take_reported(&mut self, most: u32) -> Option<u32> {
        let later = self.later.get().into_iter().flatten();
        let at = self
            .first
            .iter()
            .chain(later)
            .position(|flight| flight.acked_ns == u64::MAX)?;
        Some(self.take_at(at, most))
    }

    /// Removes up to `most` packets from the flights, first to last; returns their number.
    pub(crate) fn take_first(&mut self, most: u32) -> u32 {
        let mut left = most;
        while left > 0 && self.first.is_some() {
            left -= self.take_at(0, left);
        }
        most - left
    }

    /// Removes up to `most` packets from the flight at a position; returns their number.
    fn take_at(&mut self, at: usize, most: u32) -> u32 {
        let flight = match at {
            0 => self.first.as_mut(),
            _ => self.later.get_mut().and_then(|later| later.get_mut(at - 1)),
        };
        let Some(flight) = flight else {
            return 0;
        };
        let packets = flight.packets.get();
        match NonZeroU32::new(packets.saturating_sub(most)) {
            Some(left) => {
                flight.packets = left;
                most
            }
            None if at == 0 => {
                self.pop();
                packets
            }
            None => {
                if let Some(later) = self.later.get_mut() {
                    later.remove(at - 1);
                }
                self.later.release(VecDeque::is_empty);
                packets
            }
        }
    }
}
