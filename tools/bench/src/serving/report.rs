//! Results of one measurement.

use std::fmt;

use undertone_attacks::ProcessLook;
use undertone_bench::figures::percentile;

/// Results of one measurement.
#[derive(Debug)]
pub(crate) struct ServingFigures {
    /// Description of what was measured.
    pub(crate) about: String,
    /// Expected number of arrivals or answers.
    pub(crate) expected: usize,
    /// Number of these that arrived, each counted once.
    pub(crate) arrived: usize,
    /// Number of arrivals that were duplicates.
    pub(crate) repeated: usize,
    /// Named times, milliseconds.
    pub(crate) times: Vec<(&'static str, Vec<f64>)>,
    /// Resources of the measured node before the first message and after the last.
    pub(crate) node: [ProcessLook; 2],
    /// Number of messages between the two.
    pub(crate) messages: u32,
}

impl ServingFigures {
    /// Whether everything arrived exactly once.
    pub(crate) fn is_complete(&self) -> bool {
        self.arrived == self.expected && self.repeated == 0
    }
}

impl fmt::Display for ServingFigures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            about,
            expected,
            arrived,
            repeated,
            times,
            node: [before, after],
            messages,
        } = self;
        writeln!(f, "{about}")?;
        writeln!(
            f,
            "{arrived} of {expected} arrived, {repeated} of them again"
        )?;
        for (name, times_ms) in times {
            let mut sorted = times_ms.clone();
            sorted.sort_by(f64::total_cmp);
            let percentile = |percent| percentile(&sorted, percent).unwrap_or(f64::NAN);
            writeln!(
                f,
                "{name}: least {:.2} ms, p50 {:.2} ms, p95 {:.2} ms, greatest {:.2} ms",
                percentile(0),
                percentile(50),
                percentile(95),
                percentile(100)
            )?;
        }
        let cpu_ms = (after.cpu_s - before.cpu_s) * 1e3 / f64::from((*messages).max(1));
        write!(
            f,
            "the node: {cpu_ms:.1} ms of processor time for each message, {:.1} MiB resident, {} open files",
            after.memory_mib, after.handles
        )
    }
}
