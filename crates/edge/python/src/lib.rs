//! The laboratory as the module `undertone._native` of Python. The package `undertone` in `python/` is what people use; this
//! module has only what needs Rust: scenarios, runs, sweeps, and tables that other libraries read without a copy.

mod errors;
mod formulas;
mod run;
mod scenario;
mod sweep;
mod table;
mod watch;

use pyo3::prelude::*;

/// Commit that this module was built from.
const COMMIT: &str = env!("UNDERTONE_COMMIT");

/// Names of the module.
#[pymodule]
mod _native {
    use super::{Bound, PyModule, PyModuleMethods, PyResult};

    #[pymodule_export]
    use super::errors::{ScenarioError, WriteError};
    #[pymodule_export]
    use super::formulas::{formulas, prediction};
    #[pymodule_export]
    use super::run::{NativeRun, html, run};
    #[pymodule_export]
    use super::scenario::{NativeScenario, built_in};
    #[pymodule_export]
    use super::sweep::{NativeSweep, SweepOutcome};
    #[pymodule_export]
    use super::table::ArrowTable;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))?;
        module.add("COMMIT", super::COMMIT)
    }
}
