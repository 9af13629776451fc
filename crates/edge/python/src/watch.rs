//! Calls of Python during work that holds no lock of Python.

use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use pyo3::call::PyCallArgs;
use pyo3::prelude::*;

/// Time between two looks at Python: short for people, long for a simulation.
const EVERY: Duration = Duration::from_millis(50);

/// Asks Python now and then whether the work goes on: signals such as Ctrl-C are handled, and progress is reported.
pub(crate) struct PythonWatch {
    progress: Option<Py<PyAny>>,
    next: Instant,
    stopped_by: Option<PyErr>,
}

impl PythonWatch {
    pub(crate) fn new(progress: Option<Py<PyAny>>) -> Self {
        Self {
            progress,
            next: Instant::now(),
            stopped_by: None,
        }
    }

    /// Reports how far the work is, if it is time for that. Breaks off when a signal handler or the report raised.
    pub(crate) fn look<A: for<'py> PyCallArgs<'py>>(
        &mut self,
        is_last: bool,
        now: A,
    ) -> ControlFlow<()> {
        if self.stopped_by.is_some() {
            return ControlFlow::Break(());
        }
        if Instant::now() < self.next && !is_last {
            return ControlFlow::Continue(());
        }
        self.next = Instant::now() + EVERY;
        let looked = Python::attach(|py| {
            py.check_signals()?;
            match &self.progress {
                Some(progress) => progress.call1(py, now).map(drop),
                None => Ok(()),
            }
        });
        match looked {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => {
                self.stopped_by = Some(error);
                ControlFlow::Break(())
            }
        }
    }

    /// The exception that stopped the work, if one did.
    pub(crate) fn finish(self) -> PyResult<()> {
        self.stopped_by.map_or(Ok(()), Err)
    }
}
