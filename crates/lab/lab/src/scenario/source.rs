//! Scenarios before overrides: read once, then loaded with any number of sets of overrides.

use std::path::Path;

use serde_json::Value;
use undertone_settings::Origin;

use super::document::Document;
use super::resolved::{ResolvedScenario, from_json};
use super::{Loaded, ScenarioError, read_document};

/// A scenario before overrides.
#[derive(Clone, Debug)]
pub struct ScenarioSource {
    document: Document,
    earlier: Option<ResolvedScenario>,
}

impl ScenarioSource {
    /// The built-in scenario of a name, or the file at a path, together with its bases.
    ///
    /// # Errors
    /// Fails if there is no such scenario, or its text is not TOML.
    pub fn named(reference: &str) -> Result<Self, ScenarioError> {
        Ok(Self {
            document: Document::load(reference)?,
            earlier: None,
        })
    }

    /// A scenario with this name, from tables and keys as in a scenario file, including `base`. File names in it are
    /// relative to `folder`.
    ///
    /// # Errors
    /// Fails if a value is null, or a base cannot be read.
    pub fn given(content: &Value, name: &str, folder: &Path) -> Result<Self, ScenarioError> {
        let root = from_json(content, &Origin::Program).ok_or(ScenarioError::Null)?;
        Ok(Self {
            document: Document::complete(root, name, folder)?,
            earlier: None,
        })
    }

    /// A scenario with this name that was already resolved, by another process for example. It needs no files, and its
    /// parameters keep their origins.
    ///
    /// # Errors
    /// Fails if a parameter is null.
    pub fn resolved(resolved: ResolvedScenario, name: &str) -> Result<Self, ScenarioError> {
        Ok(Self {
            document: Document {
                root: resolved.document(name).ok_or(ScenarioError::Null)?,
                name: name.to_owned(),
                folder: None,
            },
            earlier: Some(resolved),
        })
    }

    /// Content from which another process can build the same scenario: `Ok` is for [`ScenarioSource::resolved`], `Err`
    /// for [`ScenarioSource::given`].
    pub fn content(&self) -> Result<&ResolvedScenario, Value> {
        let root = &self.document.root.value;
        let content = || serde_json::to_value(root).expect("TOML has string keys only");
        self.earlier.as_ref().ok_or_else(content)
    }

    /// Folder to which file names in the scenario are relative, if it has one.
    pub fn folder(&self) -> Option<&Path> {
        self.document.folder.as_deref()
    }

    /// Name of the scenario.
    pub fn name(&self) -> &str {
        &self.document.name
    }

    /// Applies overrides of the form `key.path=value`, and reads every key.
    ///
    /// # Errors
    /// Returns the first mistake found.
    pub fn load(&self, overrides: &[String]) -> Result<Loaded, ScenarioError> {
        read_document(&self.document, overrides, self.earlier.as_ref())
    }
}
