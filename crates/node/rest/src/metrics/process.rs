//! Metrics of the process, under the names used by Prometheus' own client libraries.

use std::fmt;
use std::fs;

use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, NoLabelSet};
use prometheus_client::metrics::MetricType;
use rustix::process::{Resource, getrlimit};
use rustix::time::{ClockId, clock_gettime};

use super::MetricsPage;

/// Clock ticks per second in Linux process times, on every architecture that Rust supports.
const TICKS_PER_S: f64 = 100.0;

/// Collector of process metrics. Those that need `/proc` are omitted on systems without it.
#[derive(Debug)]
pub(super) struct ProcessNames;

impl Collector for ProcessNames {
    fn encode(&self, encoder: DescriptorEncoder<'_>) -> Result<(), fmt::Error> {
        let mut page = MetricsPage(encoder);
        let (name, help) = ("process_cpu_seconds", "Processor time, seconds");
        let worked = clock_gettime(ClockId::ProcessCPUTime);
        let worked_s = worked.tv_sec as f64 + worked.tv_nsec as f64 / 1e9;
        let mut metric = page.metric(name, help, None, MetricType::Counter)?;
        metric.encode_counter::<NoLabelSet, _, u64>(&worked_s, None)?;
        let limit = getrlimit(Resource::Nofile).current;
        let limit = limit.and_then(|limit| usize::try_from(limit).ok());
        for (name, help, value) in [
            (
                "process_virtual_memory_bytes",
                "Address space, bytes",
                memory_bytes("VmSize:"),
            ),
            (
                "process_resident_memory_bytes",
                "Memory in RAM, bytes",
                memory_bytes("VmRSS:"),
            ),
            (
                "process_open_fds",
                "Open files, sockets among them",
                fs::read_dir("/proc/self/fd").ok().map(Iterator::count),
            ),
            ("process_max_fds", "Most files that may be open", limit),
        ] {
            if let Some(value) = value {
                page.gauge(name, help, value)?;
            }
        }
        let Some(started_unix_s) = started_unix_s() else {
            return Ok(());
        };
        let (name, help) = (
            "process_start_time_seconds",
            "Start of the process, seconds since 1970",
        );
        page.share(name, help, started_unix_s)
    }
}

/// Returns the value of a line of `/proc/self/status`, which is in kB, in bytes.
fn memory_bytes(line: &str) -> Option<usize> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let value = status.lines().find_map(|text| text.strip_prefix(line))?;
    let kb: usize = value.split_whitespace().next()?.parse().ok()?;
    Some(kb * 1024)
}

/// Returns the start time of the process: boot time plus the ticks since boot.
fn started_unix_s() -> Option<f64> {
    let stat = fs::read_to_string("/proc/self/stat").ok()?;
    // The program name, in parentheses, may contain anything; the start time is the twentieth field after it.
    let (_, fields) = stat.rsplit_once(')')?;
    let ticks: f64 = fields.split_whitespace().nth(19)?.parse().ok()?;
    let machine = fs::read_to_string("/proc/stat").ok()?;
    let booted = machine
        .lines()
        .find_map(|line| line.strip_prefix("btime "))?;
    let booted_s: f64 = booted.trim().parse().ok()?;
    Some(booted_s + ticks / TICKS_PER_S)
}
