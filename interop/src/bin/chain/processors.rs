use rustix::io::Errno;
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
use thiserror::Error;

/// The processors that this process may use.
pub(crate) struct Processors {
    all: CpuSet,
    each: Vec<usize>,
}

/// Why peers cannot be kept apart.
#[derive(Debug, Error)]
pub(crate) enum ProcessorsError {
    #[error("--apart needs two processors, and there is one: leave it out")]
    One,
    #[error("--apart: the system refused to choose a processor ({0}): leave it out")]
    Refused(#[from] Errno),
}

impl Processors {
    pub(crate) fn several() -> Result<Self, ProcessorsError> {
        let all = sched_getaffinity(None)?;
        let each: Vec<_> = (0..CpuSet::MAX_CPU)
            .filter(|&cpu| all.is_set(cpu))
            .collect();
        if each.len() < 2 {
            return Err(ProcessorsError::One);
        }
        Ok(Self { all, each })
    }

    /// What this thread starts from now on runs on the processor whose turn it is.
    pub(crate) fn go_to(&self, turn: usize) -> Result<(), ProcessorsError> {
        let mut one = CpuSet::new();
        one.set(self.each[turn % self.each.len()]);
        Ok(sched_setaffinity(None, &one)?)
    }

    /// And from now on wherever the system likes.
    pub(crate) fn go_anywhere(&self) -> Result<(), ProcessorsError> {
        Ok(sched_setaffinity(None, &self.all)?)
    }
}
