//! Errors of the laboratory as exceptions of Python.

use pyo3::exceptions::{PyOSError, PyValueError};
use pyo3::{PyErr, create_exception};
use undertone_lab::scenario;
use undertone_lab::sweep::SweepError;

create_exception!(
    undertone,
    ScenarioError,
    PyValueError,
    "A scenario, a sweep or an override that is wrong: where, what was expected, and the nearest key."
);
create_exception!(
    undertone,
    WriteError,
    PyOSError,
    "A file of results that cannot be written."
);

/// The text of an error in the words of Python: overrides are no flags here.
pub(crate) fn of_scenario(error: &scenario::ScenarioError) -> PyErr {
    if let scenario::ScenarioError::NoSuchScenario {
        name,
        nearest: None,
    } = error
    {
        return ScenarioError::new_err(format!(
            "no scenario is called {name:?}; undertone.scenarios() lists those built in, a path names a file"
        ));
    }
    ScenarioError::new_err(error.to_string().replace("--set ", ""))
}

pub(crate) fn of_sweep(error: &SweepError) -> PyErr {
    match error {
        SweepError::Scenario(error) => of_scenario(error),
        other => ScenarioError::new_err(other.to_string()),
    }
}

/// An error about a scenario that can be read, and not be run.
pub(crate) fn wrong(error: impl ToString) -> PyErr {
    ScenarioError::new_err(error.to_string())
}

pub(crate) fn unwritten(error: impl ToString) -> PyErr {
    WriteError::new_err(error.to_string())
}
