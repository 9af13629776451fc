//! Simulation of the same measurement in virtual time, with the simulator's TCP.

use undertone_link::{Profile, QueueDiscipline, StackConfig};

use super::measure::{QUEUE_MAX_BYTES, pause};
use super::{Case, Moment};
use crate::simulated_pair::SimulatedPair;

/// Simulates the milliseconds from the write to the last byte read, in the order of
/// [`Moment::ALL`], by [`undertone_link`] with the profile [`Profile::LINUX`].
pub fn simulated_ms(case: &Case) -> [f64; 3] {
    let rate = case.rate.as_bytes_per_s();
    let mut config = StackConfig::new(Profile::LINUX, rate, rate);
    config.queue = QueueDiscipline::Fifo {
        max_bytes: QUEUE_MAX_BYTES,
    };
    let delay_ns = case.one_way_ms.saturating_mul(1_000_000);
    let pair = SimulatedPair::new([config; 2], delay_ns, 1);
    let mut pair = pair.expect("two new hosts take a connection");
    let mut last_ns = 0;
    Moment::ALL.map(|moment| {
        let pause_ns = u64::try_from(pause(moment, case).as_nanos()).unwrap_or(u64::MAX);
        let write_ns = last_ns + pause_ns;
        let read = pair.message(write_ns, case.size_bytes as u64);
        let read = read.expect("the pair drives its hosts as their contract says");
        last_ns = read
            .iter()
            .map(|arrival| arrival.done_ns)
            .max()
            .unwrap_or(0);
        (last_ns - write_ns) as f64 / 1e6
    })
}

#[cfg(test)]
#[path = "tests/model.rs"]
mod tests;
