//! Reads and writes message files, with limited sizes and without overwriting.

use std::fs::OpenOptions;
use std::io::{self, Read, Write};
use std::path::Path;

use undertone_rln::durable::read_bounded;

use super::Failure;

/// Reads a file of at most `max_bytes`.
pub(super) fn read(path: &Path, max_bytes: usize) -> Result<Vec<u8>, Failure> {
    read_bounded(path, max_bytes as u64).map_err(|error| {
        let help = match error.kind() {
            io::ErrorKind::FileTooLarge => "the network carries no message of this size",
            _ => "check that the file is there and readable",
        };
        Failure::at(path, error).with_help(help)
    })
}

/// Reads `source` to its end, at most `max_bytes`; `path` names the source in errors.
pub(super) fn read_from(
    path: &Path,
    source: impl Read,
    max_bytes: usize,
) -> Result<Vec<u8>, Failure> {
    let mut bytes = Vec::new();
    source
        .take(max_bytes as u64 + 1)
        .read_to_end(&mut bytes)
        .map_err(|error| {
            Failure::at(path, error).with_help("check that it is a file and readable")
        })?;
    if bytes.len() > max_bytes {
        return Err(Failure::at(path, format!("longer than {max_bytes} bytes"))
            .with_help("the network carries no message of this size"));
    }
    Ok(bytes)
}

/// Checks that a file could be created at `path`, without creating it.
pub(super) fn check_new(path: &Path) -> Result<(), Failure> {
    let exists = path
        .try_exists()
        .map_err(|error| Failure::at(path, error))?;
    if exists {
        return Err(Failure::at(path, "exists already").with_help("choose another path"));
    }
    let folder = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty());
    match folder {
        Some(folder) if !folder.is_dir() => {
            Err(Failure::at(folder, "not a folder").with_help("make it, or choose another path"))
        }
        _ => Ok(()),
    }
}

/// Writes a line of text to a new file.
pub(super) fn write_new(path: &Path, line: &str) -> Result<(), Failure> {
    let written = OpenOptions::new()
        .write(true)
        .create_new(true)
        .open(path)
        .and_then(|mut file| writeln!(file, "{line}"));
    written.map_err(|error: io::Error| {
        Failure::at(path, error).with_help("check that the folder is writable and has space")
    })
}
