//! Closed forms: the tables of the formulas, and the prediction of a scenario.

use pyo3::prelude::*;
use undertone_lab::model::comparison::ModelComparison;
use undertone_lab::model::tables::{FormulaParams, FormulaTables};

use crate::errors::wrong;
use crate::run::NativeRun;
use crate::scenario::NativeScenario;

/// Tables of the formulas as JSON and as text.
#[pyfunction]
pub(crate) fn formulas(
    nodes: u64,
    degree: u32,
    size_bytes: u64,
    mbit_per_s: f64,
    one_way_ms: f64,
    generation_ms: f64,
    verification_ms: f64,
) -> PyResult<(String, String)> {
    let tables = FormulaTables::new(&FormulaParams {
        nodes,
        degree,
        size_bytes,
        mbit_per_s,
        one_way_ms,
        generation_ms,
        verification_ms,
    });
    let tables = tables.map_err(wrong)?;
    let json = serde_json::to_string(&tables).expect("tables have string keys");
    Ok((json, tables.to_string()))
}

/// Prediction of a scenario as JSON and as text, beside a run of it if there is one.
#[pyfunction]
#[pyo3(signature = (scenario, run = None))]
pub(crate) fn prediction(
    scenario: &NativeScenario,
    run: Option<&NativeRun>,
) -> PyResult<(String, String)> {
    let scenario = &scenario.loaded.scenario;
    let beside = ModelComparison::new(scenario, run.map(NativeRun::figures))
        .map_err(|reason| wrong(format!("{} has no closed form: {reason}", scenario.name)))?;
    let json = serde_json::to_string(&beside).expect("predictions have string keys");
    Ok((json, beside.to_string()))
}
