//! Source files of the workspace, for the checks that read all of them.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Folders with code; subfolders named in `FOREIGN` contain third-party code.
const CODE: [&str; 4] = ["crates", "fuzz", "tools", "xtask"];
const FOREIGN: [&str; 2] = ["node_modules", "target"];

/// Source file with its text.
#[derive(Debug)]
pub(crate) struct Source {
    /// Path from the root of the workspace.
    pub(crate) path: PathBuf,
    pub(crate) text: String,
}

/// Error for a file or folder that could not be read.
#[derive(Debug, thiserror::Error)]
#[error("{path}: {source}")]
pub(crate) struct UnreadableSource {
    path: PathBuf,
    source: io::Error,
}

/// Reads all Rust and JavaScript sources of the workspace at `root`, sorted by folder of `CODE` and path.
pub(crate) fn all(root: &Path) -> Result<Vec<Source>, UnreadableSource> {
    let mut sources = Vec::new();
    for folder in CODE {
        let mut files = Vec::new();
        collect(&root.join(folder), &mut files)?;
        files.sort();
        for file in files {
            let text = read(&file)?;
            let path = file.strip_prefix(root).unwrap_or(&file).to_owned();
            sources.push(Source { path, text });
        }
    }
    Ok(sources)
}

/// Collects the source files below `folder`.
fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> Result<(), UnreadableSource> {
    let at = |source| UnreadableSource {
        path: folder.to_owned(),
        source,
    };
    for entry in fs::read_dir(folder).map_err(at)? {
        let entry = entry.map_err(at)?;
        let path = entry.path();
        let kind = entry.file_type().map_err(at)?;
        let is_foreign = FOREIGN.iter().any(|name| entry.file_name() == *name);
        if kind.is_dir() && !is_foreign {
            collect(&path, files)?;
        } else if kind.is_file() && path.extension().is_some_and(|e| e == "rs" || e == "mjs") {
            files.push(path);
        }
    }
    Ok(())
}

/// Reads a text file; the error names it.
pub(crate) fn read(path: &Path) -> Result<String, UnreadableSource> {
    fs::read_to_string(path).map_err(|source| UnreadableSource {
        path: path.to_owned(),
        source,
    })
}

/// Whether the path is that of a Rust source file.
pub(crate) fn is_rust(path: &Path) -> bool {
    path.extension().is_some_and(|e| e == "rs")
}
