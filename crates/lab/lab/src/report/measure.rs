//! Costs of a run on this machine.

use std::fs;
use std::time::Instant;

use rustix::time::{ClockId, clock_gettime};
use serde::{Deserialize, Serialize};

/// Costs of a run. They are the only figures of a report that differ between two runs of the same
/// scenario, seed and commit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RunCosts {
    /// Wall time of the run, seconds.
    pub wall_s: f64,
    /// Processor time of all threads of the process, seconds.
    pub cpu_s: f64,
    /// Peak resident memory of the process so far, megabytes (10^6 bytes); `None` where the system
    /// does not report it.
    pub peak_rss_mb: Option<f64>,
}

/// Measures wall time and processor time from its start, and peak memory.
#[derive(Debug)]
pub struct Stopwatch {
    wall: Instant,
    cpu_s: f64,
}

impl Stopwatch {
    /// Starts the measurement of a run's costs.
    pub fn start() -> Self {
        Self {
            wall: Instant::now(),
            cpu_s: cpu_s(),
        }
    }

    /// Returns the costs since the start.
    pub fn read(&self) -> RunCosts {
        RunCosts {
            wall_s: self.wall.elapsed().as_secs_f64(),
            cpu_s: cpu_s() - self.cpu_s,
            peak_rss_mb: peak_rss_mb(),
        }
    }
}

fn cpu_s() -> f64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}

fn peak_rss_mb() -> Option<f64> {
    vm_hwm_mb(&fs::read_to_string("/proc/self/status").ok()?)
}

/// Parses `VmHWM` of a `/proc/…/status` file, megabytes.
pub(super) fn vm_hwm_mb(status: &str) -> Option<f64> {
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kib: f64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib * 1024.0 / 1e6)
}
