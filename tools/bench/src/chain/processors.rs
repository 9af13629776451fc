use rustix::io::Errno;
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
use thiserror::Error;

/// Processors that this process may use.
pub(crate) struct Processors {
    all: CpuSet,
    each: Vec<usize>,
}

/// Errors in running peers on different processors.
#[derive(Debug, Error)]
pub(crate) enum ProcessorsError {
    #[error("--apart needs two processors, but there is only one; omit the flag")]
    One,
    #[error("--apart: the system refused to choose a processor ({0}); omit the flag")]
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

    /// Pins this thread, and the processes that it starts from now on, to the processor for index `turn`.
    pub(crate) fn go_to(&self, turn: usize) -> Result<(), ProcessorsError> {
        let mut one = CpuSet::new();
        one.set(self.each[turn % self.each.len()]);
        Ok(sched_setaffinity(None, &one)?)
    }

    /// Allows this thread, and the processes that it starts from now on, to run on any processor.
    pub(crate) fn go_anywhere(&self) -> Result<(), ProcessorsError> {
        Ok(sched_setaffinity(None, &self.all)?)
    }
}
