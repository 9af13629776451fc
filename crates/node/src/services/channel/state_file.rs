//! File with the state of a channel's member. A crash leaves the old or the new state.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Longest state that is read: what the default limits of a channel allow, and more.
const BYTES_MAX: u64 = 256 << 20;

/// Reads a state; `None` if there is none.
pub(super) fn read(path: &Path) -> io::Result<Option<Vec<u8>>> {
    match fs::metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Ok(metadata) if metadata.len() > BYTES_MAX => {
            let text = format!("{} bytes; at most {BYTES_MAX} are read", metadata.len());
            return Err(io::Error::new(io::ErrorKind::InvalidData, text));
        }
        _ => {}
    }
    fs::read(path).map(Some)
}

/// Replaces a state, and returns once the new one is on disk.
pub(super) fn replace(path: &Path, state: &[u8]) -> io::Result<()> {
    let mut name = path.as_os_str().to_owned();
    name.push(".tmp");
    let temporary = PathBuf::from(name);
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(&temporary)?;
    file.write_all(state)?;
    file.sync_all()?;
    fs::rename(&temporary, path)?;
    let folder = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty());
    File::open(folder.unwrap_or(Path::new(".")))?.sync_all()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_state_is_what_was_written_last() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("channel");
        assert_eq!(read(&path).unwrap(), None);
        replace(&path, b"one").unwrap();
        replace(&path, b"two").unwrap();
        assert_eq!(read(&path).unwrap().unwrap(), b"two");
    }
}
