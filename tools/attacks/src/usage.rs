use std::fs;
use std::time::{Duration, Instant};

use serde::Serialize;

/// Interval at which a process is sampled.
pub(super) const SAMPLE_INTERVAL: Duration = Duration::from_millis(250);

/// `USER_HZ`, the unit of `/proc/PID/stat`, which Linux keeps at 100 regardless of the kernel's tick rate.
const TICKS_PER_S: f64 = 100.0;

/// Processor time, memory and file descriptors of one process, as `/proc` shows them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Usage {
    /// Processor time in percent of one core.
    pub cpu_percent: f64,
    /// Largest resident memory seen, MiB.
    pub memory_mib: f64,
    /// Largest number of open file descriptors seen.
    pub handles: usize,
}

/// Resources that a process has used or holds at one moment, as `/proc` shows them.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ProcessLook {
    /// User and system time so far, seconds; 0 if the process has ended.
    pub cpu_s: f64,
    /// Resident memory, MiB.
    pub memory_mib: f64,
    /// Number of open file descriptors.
    pub handles: usize,
    /// Number of threads; 0 if the process has ended.
    pub threads: usize,
}

impl ProcessLook {
    /// Samples a process.
    #[must_use]
    pub fn at(pid: u32) -> Self {
        Self {
            cpu_s: cpu_s(pid).unwrap_or(0.0),
            memory_mib: memory_mib(pid).unwrap_or(0.0),
            handles: handles(pid),
            threads: threads(pid),
        }
    }
}

/// Running measurement of a process.
#[derive(Debug)]
pub(super) struct Meter {
    pid: u32,
    began: Instant,
    cpu_before_s: Option<f64>,
    largest: Usage,
}

impl Meter {
    pub(super) fn start(pid: u32) -> Self {
        let mut meter = Self {
            pid,
            began: Instant::now(),
            cpu_before_s: cpu_s(pid),
            largest: Usage::default(),
        };
        meter.sample();
        meter
    }

    /// Samples memory and file descriptors; call it every [`SAMPLE_INTERVAL`].
    pub(super) fn sample(&mut self) {
        let memory_mib = memory_mib(self.pid).unwrap_or(0.0);
        self.largest.memory_mib = self.largest.memory_mib.max(memory_mib);
        self.largest.handles = self.largest.handles.max(handles(self.pid));
    }

    pub(super) fn finish(mut self) -> Usage {
        self.sample();
        let elapsed_s = self.began.elapsed().as_secs_f64().max(0.001);
        // If the process has ended, its processor time is unknown and counts as 0.
        let after_s = cpu_s(self.pid).unwrap_or(0.0);
        let spent_s = (after_s - self.cpu_before_s.unwrap_or(0.0)).max(0.0);
        Usage {
            cpu_percent: 100.0 * spent_s / elapsed_s,
            ..self.largest
        }
    }
}

/// Returns the processor time of a process so far, seconds.
fn cpu_s(pid: u32) -> Option<f64> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    ticks(&stat).map(|ticks| ticks as f64 / TICKS_PER_S)
}

/// Parses user and system time from a line of `/proc/PID/stat`, in ticks. The process name before them may
/// contain any character and ends at the last parenthesis.
fn ticks(stat: &str) -> Option<u64> {
    let (_, after_name) = stat.rsplit_once(')')?;
    let mut fields = after_name.split_whitespace().skip(11);
    let user: u64 = fields.next()?.parse().ok()?;
    let system: u64 = fields.next()?.parse().ok()?;
    Some(user + system)
}

/// Returns the resident memory of a process, MiB.
pub(super) fn memory_mib(pid: u32) -> Option<f64> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    Some(undertone_node_process::host::vm_rss(&status)? as f64 / 1024.0)
}

/// Returns the largest resident memory that a process ever had, MiB.
pub(super) fn peak_mib(pid: u32) -> Option<f64> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    Some(undertone_node_process::host::vm_peak(&status)? as f64 / 1024.0)
}

/// Returns the number of open file descriptors of a process.
fn handles(pid: u32) -> usize {
    fs::read_dir(format!("/proc/{pid}/fd")).map_or(0, Iterator::count)
}

/// Returns the number of threads of a process.
fn threads(pid: u32) -> usize {
    fs::read_dir(format!("/proc/{pid}/task")).map_or(0, Iterator::count)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_with_parentheses_and_spaces_is_no_field() {
        let line = "42 (a) b (c) S 1 2 3 4 5 6 7 8 9 10 30 12 0 0 20";
        assert_eq!(ticks(line), Some(42));
        assert_eq!(ticks("42 (cut short"), None);
    }

    #[test]
    fn this_process_has_memory_and_descriptors() {
        let meter = Meter::start(std::process::id());
        let usage = meter.finish();
        assert!(usage.memory_mib > 1.0 && usage.handles > 2, "{usage:?}");
    }
}
