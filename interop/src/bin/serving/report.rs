//! ServingFigures of one measurement.

use std::fmt;

use undertone_interop::hostile::ProcessLook;

/// ServingFigures of one measurement.
#[derive(Debug)]
pub(crate) struct ServingFigures {
    /// Description of what was measured.
    pub(crate) about: String,
    /// Number of arrivals or answers that were to be.
    pub(crate) expected: usize,
    /// Number of these that came, each once.
    pub(crate) arrived: usize,
    /// Number of arrivals of something that had arrived before.
    pub(crate) repeated: usize,
    /// Named times, milliseconds.
    pub(crate) times: Vec<(&'static str, Vec<f64>)>,
    /// Resources of the measured node at the end.
    pub(crate) node: ProcessLook,
}

impl ServingFigures {
    /// Whether everything came, once.
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
            node,
        } = self;
        writeln!(f, "{about}")?;
        writeln!(
            f,
            "{arrived} of {expected} arrived, {repeated} of them again"
        )?;
        for (name, times_ms) in times {
            let mut sorted = times_ms.clone();
            sorted.sort_by(f64::total_cmp);
            let percentile = |percent: usize| {
                let rank = (sorted.len() * percent).div_ceil(100).max(1);
                sorted.get(rank - 1).copied().unwrap_or(f64::NAN)
            };
            writeln!(
                f,
                "{name}: p50 {:.2} ms, p95 {:.2} ms, greatest {:.2} ms",
                percentile(50),
                percentile(95),
                percentile(100)
            )?;
        }
        write!(
            f,
            "the node: {:.1} MiB resident, {} open files",
            node.memory_mib, node.handles
        )
    }
}
