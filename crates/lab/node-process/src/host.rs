//! Resource usage of this process, and the clock that all processes of one machine share.

use rustix::time::{ClockId, clock_gettime};

#[cfg(test)]
#[path = "tests/host.rs"]
mod tests;

/// Returns `CLOCK_MONOTONIC` in nanoseconds. All processes of this machine share this clock;
/// Node.js exposes it as `process.hrtime`.
#[must_use]
pub fn monotonic_ns() -> u64 {
    nanoseconds(ClockId::Monotonic)
}

/// Returns the user and system time of this process so far, in microseconds.
#[must_use]
pub fn cpu_us() -> u64 {
    nanoseconds(ClockId::ProcessCPUTime) / 1_000
}

/// Returns the resident memory of this process in KiB; 0 where the system has no `/proc`.
#[must_use]
pub fn rss_kib() -> u64 {
    std::fs::read_to_string("/proc/self/status")
        .ok()
        .and_then(|text| vm_rss(&text))
        .unwrap_or(0)
}

/// Parses the resident memory from the text of `/proc/PID/status`, KiB.
#[must_use]
pub fn vm_rss(status: &str) -> Option<u64> {
    kib(status, "VmRSS:")
}

/// Parses the peak resident memory from the text of `/proc/PID/status`, KiB.
#[must_use]
pub fn vm_peak(status: &str) -> Option<u64> {
    kib(status, "VmHWM:")
}

fn kib(status: &str, name: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix(name))?;
    line.trim().strip_suffix("kB")?.trim().parse().ok()
}

fn nanoseconds(clock: ClockId) -> u64 {
    let time = clock_gettime(clock);
    // Both clocks start at zero and the kernel keeps the parts non-negative.
    time.tv_sec.unsigned_abs() * 1_000_000_000 + time.tv_nsec.unsigned_abs()
}
