//! Opens a membership registry that must exist.

use std::fs;
use std::io;
use std::path::Path;

use undertone_membership::{
    MemberIndex, MembershipLog, MembershipView, RegistryError, SqliteRegistry,
};

use super::Failure;

/// Opens an existing registry. Never creates one, so that a mistyped path does not leave an empty
/// registry behind.
pub(crate) fn existing(path: &Path) -> Result<SqliteRegistry, Failure> {
    if is_absent(path)? {
        return Err(Failure::at(path, "there is no registry").with_help(format!(
            "check the path, or start a registry: undertone rln register --registry {} \
             --identity FILE",
            path.display()
        )));
    }
    SqliteRegistry::open(path).map_err(|error| Failure::new(error.to_string()))
}

/// Whether the file is absent or empty, so that opening it would create a registry.
pub(super) fn is_absent(path: &Path) -> Result<bool, Failure> {
    match fs::metadata(path) {
        Ok(metadata) => Ok(metadata.is_file() && metadata.len() == 0),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(true),
        Err(error) => Err(Failure::at(path, error).with_help("give the path of a registry file")),
    }
}

/// Returns a view of the registry with this number of accepted roots, as in a relay.
pub(super) fn view(
    path: &Path,
    log: &dyn MembershipLog,
    root_window: usize,
) -> Result<MembershipView, Failure> {
    let mut view = MembershipView::new(root_window);
    view.refresh(log).map_err(failed(path))?;
    Ok(view)
}

/// Converts registry errors and adds the registry's path, unless the error already names its file.
pub(crate) fn failed(path: &Path) -> impl Fn(RegistryError) -> Failure {
    move |error| match error {
        RegistryError::Storage(error) => Failure::new(error.to_string()),
        error => Failure::at(path, error),
    }
}

/// Parses the value of `--index`.
pub(super) fn parse_index(text: &str) -> Result<MemberIndex, String> {
    let index = text.parse().ok().and_then(MemberIndex::new);
    index.ok_or_else(|| {
        let last = undertone_rln::tree::CAPACITY - 1;
        format!("a member index is a number from 0 to {last}")
    })
}
