//! Documents from which scenarios are read: a file, the files it is based on, and overrides.

use std::path::{Path, PathBuf};

use undertone_settings::{Error, TomlEntry, TomlTable, TomlValue, nearest};

use super::error::ScenarioError;
use super::file::read_bounded;
use super::{BUILT_IN, BuiltIn, interop, set};

/// Maximum number of bases below a file.
const MAX_BASES: usize = 8;

/// One scenario before its keys are read.
#[derive(Clone, Debug)]
pub(super) struct Document {
    /// Tables and keys.
    pub(super) root: TomlEntry,
    /// Name of the scenario.
    pub(super) name: String,
    /// Folder to which file names are relative; `None` for a scenario without a folder.
    pub(super) folder: Option<PathBuf>,
}

impl Document {
    /// Reads the built-in scenario of a name, or the file at a path, together with its bases.
    pub(super) fn load(reference: &str) -> Result<Self, ScenarioError> {
        Self::open(reference, Path::new(""), MAX_BASES)
    }

    /// Reads a document from text, together with its bases.
    pub(super) fn parse(
        text: &str,
        place: &str,
        name: &str,
        folder: Option<&Path>,
    ) -> Result<Self, ScenarioError> {
        Self::based(text, place, name, folder, MAX_BASES)
    }

    /// Opens a document by its name, or by its path relative to `folder`.
    fn open(reference: &str, folder: &Path, bases: usize) -> Result<Self, ScenarioError> {
        if let Some(BuiltIn { name, text }) = BUILT_IN.iter().find(|found| found.name == reference)
        {
            return Self::based(text, &format!("scenarios/{name}.toml"), name, None, bases);
        }
        let path = Path::new(reference);
        let is_path = reference.contains(std::path::is_separator) || path.extension().is_some();
        let path = folder.join(path);
        if !is_path && !path.exists() {
            return Err(ScenarioError::NoSuchScenario {
                name: reference.to_owned(),
                nearest: nearest(reference, BUILT_IN.iter().map(|found| found.name)),
            });
        }
        let text = read_bounded(&path)?;
        let name = path.file_stem().unwrap_or_default().to_string_lossy();
        let folder = path.parent().unwrap_or(Path::new(""));
        if interop::is_script(&text) {
            let root = interop::document(&text, &path)?;
            return Self::based_on(root, &name, Some(folder), bases);
        }
        Self::based(&text, &path.to_string_lossy(), &name, Some(folder), bases)
    }

    /// Reads a document from text, together with at most `bases` bases.
    fn based(
        text: &str,
        place: &str,
        name: &str,
        folder: Option<&Path>,
        bases: usize,
    ) -> Result<Self, ScenarioError> {
        Self::based_on(TomlEntry::read(text, place)?, name, folder, bases)
    }

    /// Adds the bases to a document that was read already.
    pub(super) fn complete(
        root: TomlEntry,
        name: &str,
        folder: &Path,
    ) -> Result<Self, ScenarioError> {
        Self::based_on(root, name, Some(folder), MAX_BASES)
    }

    /// Lays a document over the one named by its key `base`, without the keys listed in `without`.
    fn based_on(
        mut root: TomlEntry,
        name: &str,
        folder: Option<&Path>,
        bases: usize,
    ) -> Result<Self, ScenarioError> {
        let mut take = |key: &str| match &mut root.value {
            TomlValue::Table(table) => table.remove(key),
            _ => None,
        };
        let (base, without) = (take("base"), take("without"));
        let document = |root| Self {
            root,
            name: name.to_owned(),
            folder: folder.map(Path::to_owned),
        };
        let Some(base) = base else {
            if let Some(without) = without {
                return Err(bad("without", &without, "a key base, whose keys it names").into());
            }
            return Ok(document(root));
        };
        if bases == 0 {
            let expected = format!("no more than {MAX_BASES} files based on each other");
            return Err(bad("base", &base, expected).into());
        }
        let reference = base.as_text();
        let reference = reference.ok_or_else(|| {
            bad(
                "base",
                &base,
                "the name of a scenario, or the path of a file",
            )
        })?;
        let mut below = Self::open(reference, folder.unwrap_or(Path::new("")), bases - 1)?;
        below.fix_paths()?;
        if let Some(without) = without {
            remove_all(&mut below.root, &without)?;
        }
        lay_over(&mut below.root, root);
        Ok(document(below.root))
    }

    /// Makes the file names of a document absolute, so that they no longer depend on its folder.
    fn fix_paths(&mut self) -> Result<(), ScenarioError> {
        let Some(folder) = &self.folder else {
            return Ok(());
        };
        if let TomlValue::Table(root) = &mut self.root.value
            && let Some(network) = root.get_mut("network")
            && let TomlValue::Table(network) = &mut network.value
            && let Some(gml) = network.get_mut("gml")
            && let TomlValue::Text(path) = &mut gml.value
        {
            let whole = folder.join(&*path);
            let whole = std::path::absolute(&whole).map_err(|source| ScenarioError::Read {
                path: whole.clone(),
                source,
            })?;
            *path = whole.to_string_lossy().into_owned();
        }
        Ok(())
    }
}

fn bad(key: &str, entry: &TomlEntry, expected: impl Into<String>) -> Error {
    Error::BadValue {
        origin: entry.origin.clone(),
        key: key.to_owned(),
        value: entry.value.to_string(),
        expected: expected.into(),
    }
}

/// Removes the listed keys from a document.
fn remove_all(root: &mut TomlEntry, without: &TomlEntry) -> Result<(), Error> {
    let keys = without.as_list();
    let keys = keys.ok_or_else(|| bad("without", without, "a list of keys of the base"))?;
    for key in keys {
        let path: Option<Vec<&str>> = key.as_text().map(|key| key.split('.').collect());
        let removed = path.and_then(|path| set::remove(root, &path));
        removed.ok_or_else(|| bad("without", key, "a key that the base has"))?;
    }
    Ok(())
}

/// Lays one document over another: tables are merged, everything else is replaced.
fn lay_over(below: &mut TomlEntry, above: TomlEntry) {
    match (&mut below.value, above.value) {
        (TomlValue::Table(below_table), TomlValue::Table(above_table)) => {
            merge(below_table, above_table);
        }
        (_, value) => {
            below.value = value;
            below.origin = above.origin;
        }
    }
}

fn merge(below: &mut TomlTable, above: TomlTable) {
    for (key, entry) in above {
        match below.get_mut(&key) {
            Some(known) => lay_over(known, entry),
            None => {
                below.insert(key, entry);
            }
        }
    }
}
