//! Atomic replacement of a small file: a crash leaves the old or the new content, never a mixture.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Writes `content` to `path`, readable by the owner only, and returns once it is on the disk.
///
/// A sibling file is written and synced, renamed over `path`, and the folder is synced. Concurrent
/// callers for the same path must hold a lock around this function.
///
/// # Errors
/// Any error of the operating system; the old content stays.
pub fn replace(path: &Path, content: &[u8]) -> io::Result<()> {
    let temporary = sibling(path, ".tmp");
    match fs::remove_file(&temporary) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let mut file = owner_only().write(true).create_new(true).open(&temporary)?;
    file.write_all(content)?;
    file.sync_all()?;
    fs::rename(&temporary, path)?;
    sync_folder(path)
}

/// Returns the path with `suffix` appended to its file name.
pub(crate) fn sibling(path: &Path, suffix: &str) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(suffix);
    PathBuf::from(name)
}

/// Open options that create files which other users cannot read.
pub(crate) fn owner_only() -> OpenOptions {
    #[cfg(unix)]
    let options = {
        use std::os::unix::fs::OpenOptionsExt as _;
        let mut options = OpenOptions::new();
        options.mode(0o600);
        options
    };
    #[cfg(not(unix))]
    let options = OpenOptions::new();
    options
}

/// Syncs the folder of `path`, so that a rename in the folder survives a crash.
pub(crate) fn sync_folder(path: &Path) -> io::Result<()> {
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    if cfg!(unix) {
        File::open(folder)?.sync_all()?;
    }
    Ok(())
}
