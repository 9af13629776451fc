//! Files that are read and replaced as a whole. Reading is bounded. A crash during replacement leaves the old or the
//! new content, never a mixture.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _, Write};
use std::path::{Path, PathBuf};

/// Reads a file of at most `max_bytes`. It must be a regular file: a device may be endless, and a pipe without a writer
/// would block the reader. The content is read into one allocation, so that no copy of a secret is left behind.
///
/// # Errors
/// [`io::ErrorKind::FileTooLarge`] for a longer file, [`io::ErrorKind::InvalidInput`] for one that is not regular, and
/// any error of the operating system.
pub fn read_bounded(path: &Path, max_bytes: u64) -> io::Result<Vec<u8>> {
    // Checked before opening, because opening a pipe waits for its writer.
    let known = fs::metadata(path)?;
    if !known.is_file() {
        let reason = "not a regular file";
        return Err(io::Error::new(io::ErrorKind::InvalidInput, reason));
    }
    let too_large = || {
        let reason = format!("longer than {max_bytes} bytes");
        io::Error::new(io::ErrorKind::FileTooLarge, reason)
    };
    if known.len() > max_bytes {
        return Err(too_large());
    }
    // One extra byte to detect the end, and another to detect that the file has grown.
    let length = usize::try_from(known.len()).unwrap_or(usize::MAX);
    let mut bytes = Vec::with_capacity(length.saturating_add(2));
    File::open(path)?
        .take(max_bytes.saturating_add(1))
        .read_to_end(&mut bytes)?;
    match bytes.len() as u64 > max_bytes {
        true => Err(too_large()),
        false => Ok(bytes),
    }
}

/// Reads a text file; otherwise like [`read_bounded`].
///
/// # Errors
/// Those of [`read_bounded`], and [`io::ErrorKind::InvalidData`] for content that is not UTF-8.
pub fn read_bounded_text(path: &Path, max_bytes: u64) -> io::Result<String> {
    let text = String::from_utf8(read_bounded(path, max_bytes)?);
    text.map_err(|_| io::Error::new(io::ErrorKind::InvalidData, "not a text in UTF-8"))
}

/// Writes `content` to `path`, readable by the owner only, and returns once it is on the disk.
///
/// A sibling file is written and synced, renamed over `path`, and the folder is synced. Concurrent
/// callers for the same path must hold a lock around this function.
///
/// # Errors
/// Any error of the operating system; the old content stays unchanged.
pub fn replace(path: &Path, content: &[u8]) -> io::Result<()> {
    let temporary = sibling(path, ".tmp");
    match fs::remove_file(&temporary) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let mut file = owner_only().write(true).create_new(true).open(&temporary)?;
    let written = file.write_all(content).and_then(|()| file.sync_all());
    if let Err(error) = written.and_then(|()| fs::rename(&temporary, path)) {
        // The partial file is useless, and may contain secrets.
        let _ = fs::remove_file(&temporary);
        return Err(error);
    }
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

#[cfg(test)]
#[path = "tests/durable.rs"]
mod tests;
