//! The same measurement in virtual time, by [`undertone_link`].

use clap::ValueEnum;
use undertone_link::{BufferTuning, Profile, SendBuffer, StackConfig};

use super::socket::pause;
use super::{FanCase, FanTime, FanTimes, RECEIVER_MBIT_PER_S};
use crate::kernel::Moment;
use crate::simulated_pair::SimulatedPair;

/// Bytes per second of a megabit per second.
const MBIT: u64 = 125_000;

/// TCP stack to simulate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum FanStack {
    /// A Linux kernel whose device is as fast as the uplink.
    Linux,
    /// The simulator Shadow, with its default stack.
    Shadow,
}

impl FanStack {
    /// Returns the profile of the stack.
    pub fn profile(self) -> Profile {
        match self {
            Self::Linux => Profile::LINUX_DEVICE,
            Self::Shadow => {
                let mut profile = Profile::SHADOW;
                profile.send_buffer = SendBuffer::Tuned(BufferTuning::SHADOW);
                profile
            }
        }
    }
}

/// Simulates a case; returns the times of each message on each connection.
///
/// # Panics
/// If the simulated hosts are driven against their contract, which is a fault of this function.
pub fn simulated(case: &FanCase, profile: Profile) -> FanTimes {
    let wide = RECEIVER_MBIT_PER_S * MBIT;
    let config = |up| StackConfig::new(profile, up, wide);
    let configs = [config(case.mbit_per_s * MBIT), config(wide)];
    let delay_ns = case.one_way_ms.saturating_mul(1_000_000);
    let pair = SimulatedPair::new(configs, delay_ns, case.connections);
    let mut pair = pair.expect("two new hosts take connections");
    let mut reported_ns = 0;
    Moment::ALL.map(|moment| {
        let pause_ns = u64::try_from(pause(moment, case).as_nanos()).unwrap_or(u64::MAX);
        let write_ns = reported_ns + pause_ns;
        let arrivals = pair.message(write_ns, case.size_bytes);
        let arrivals = arrivals.expect("the pair drives its hosts as their contract says");
        let last_ns = arrivals.iter().map(|arrival| arrival.done_ns).max();
        reported_ns = last_ns.unwrap_or(0) + delay_ns;
        let since_us = |ns: u64| (ns - write_ns) / 1_000;
        let times = arrivals.iter().map(|arrival| FanTime {
            begun_us: since_us(arrival.begun_ns),
            done_us: since_us(arrival.done_ns),
        });
        times.collect()
    })
}
