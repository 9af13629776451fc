//! Scenarios, with their overrides.

use std::path::{Path, PathBuf};

use pyo3::prelude::*;
use serde_json::Value;
use undertone_lab::report::estimated_bytes;
use undertone_lab::scenario::{BUILT_IN, Loaded, ResolvedScenario, ScenarioSource};

use crate::errors::{of_scenario, wrong};

/// Scenario whose keys were all read and found right.
#[pyclass(frozen, module = "undertone._native")]
pub(crate) struct NativeScenario {
    pub(crate) source: ScenarioSource,
    pub(crate) overrides: Vec<String>,
    pub(crate) loaded: Loaded,
}

impl NativeScenario {
    pub(crate) fn load(source: ScenarioSource, overrides: Vec<String>) -> PyResult<Self> {
        let loaded = source
            .load(&overrides)
            .map_err(|error| of_scenario(&error))?;
        Ok(Self {
            source,
            overrides,
            loaded,
        })
    }
}

#[pymethods]
impl NativeScenario {
    /// The built-in scenario of a name, or the file at a path.
    #[staticmethod]
    fn named(reference: &str, overrides: Vec<String>) -> PyResult<Self> {
        let source = ScenarioSource::named(reference).map_err(|error| of_scenario(&error))?;
        Self::load(source, overrides)
    }

    /// A scenario from its tables and keys as JSON.
    #[staticmethod]
    fn given(content: &str, name: &str, folder: PathBuf, overrides: Vec<String>) -> PyResult<Self> {
        let content: Value = serde_json::from_str(content).map_err(wrong)?;
        let source = ScenarioSource::given(&content, name, &folder);
        Self::load(source.map_err(|error| of_scenario(&error))?, overrides)
    }

    /// A scenario as another process resolved it.
    #[staticmethod]
    fn from_resolved(resolved: &str, name: &str, overrides: Vec<String>) -> PyResult<Self> {
        let resolved: ResolvedScenario = serde_json::from_str(resolved).map_err(wrong)?;
        let source = ScenarioSource::resolved(resolved, name);
        Self::load(source.map_err(|error| of_scenario(&error))?, overrides)
    }

    /// The scenario with more overrides.
    fn with_overrides(&self, more: Vec<String>) -> PyResult<Self> {
        let overrides = self.overrides.iter().cloned().chain(more);
        Self::load(self.source.clone(), overrides.collect())
    }

    /// Content with which another process has the scenario, less its overrides: whether it was resolved, its content, its name,
    /// and the folder of file names in it.
    fn state(&self) -> PyResult<(bool, String, String, PathBuf)> {
        let (is_resolved, content) = match self.source.content() {
            Ok(resolved) => (true, serde_json::to_string(resolved)),
            Err(content) => (false, serde_json::to_string(&content)),
        };
        let folder = self.source.folder().unwrap_or(Path::new("."));
        Ok((
            is_resolved,
            content.expect("scenarios have string keys"),
            self.source.name().to_owned(),
            std::path::absolute(folder)?,
        ))
    }

    #[getter]
    fn name(&self) -> &str {
        &self.loaded.scenario.name
    }

    #[getter]
    fn description(&self) -> &str {
        &self.loaded.description
    }

    #[getter]
    fn hash(&self) -> &str {
        &self.loaded.resolved.hash
    }

    #[getter]
    fn overrides(&self) -> Vec<String> {
        self.overrides.clone()
    }

    /// Memory that a run will take at least, bytes.
    #[getter]
    fn estimated_bytes(&self) -> u64 {
        estimated_bytes(&self.loaded.scenario)
    }

    /// Every parameter with its origin, and the hash, as JSON.
    fn resolved(&self) -> String {
        serde_json::to_string(&self.loaded.resolved).expect("resolved scenarios have string keys")
    }
}

/// Names and texts of the built-in scenarios.
#[pyfunction]
pub(crate) fn built_in() -> Vec<(&'static str, &'static str)> {
    let scenarios = BUILT_IN.iter();
    scenarios.map(|known| (known.name, known.text)).collect()
}
