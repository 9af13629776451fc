//! Reports a full disk as such; SQLite and others call it a disk I/O error.

use std::fs::{self, OpenOptions};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

use super::AssembleError;
use crate::config::NodeConfig;

/// Bytes that must fit on a disk for it not to count as full; SQLite needs as many to start.
const PROBE_BYTES: usize = 64 << 10;

/// Returns the error, or [`AssembleError::NoSpace`] if a folder that the node writes to has no space left.
pub(super) fn explain(error: AssembleError, config: &NodeConfig) -> AssembleError {
    let Some(path) = written(config).into_iter().find(|path| is_full(path)) else {
        return error;
    };
    AssembleError::NoSpace {
        path,
        error: Box::new(error),
    }
}

/// Files that a node creates or writes to when it starts.
fn written(config: &NodeConfig) -> Vec<PathBuf> {
    let mut files = vec![config.node_key_file.clone()];
    if let Some(rln) = &config.rln {
        files.push(match &rln.chain {
            Some(chain) => chain.store.clone(),
            None => rln.registry.clone(),
        });
        files.push(rln.counter_file.clone());
    }
    files.extend(config.services.send_queue.clone());
    files.extend(config.delivery_log.clone());
    files
}

/// Whether the folder of a file has no space left. A folder that is not writable for another reason does not
/// count as full.
fn is_full(path: &Path) -> bool {
    let mut probe = path.as_os_str().to_owned();
    probe.push(".probe");
    let probe = Path::new(&probe);
    let mut options = OpenOptions::new();
    let written = options
        .write(true)
        .create_new(true)
        .open(probe)
        .and_then(|mut file| {
            file.write_all(&[0; PROBE_BYTES])?;
            file.sync_all()
        });
    if written.as_ref().err().map(std::io::Error::kind) != Some(ErrorKind::AlreadyExists) {
        // The probe may not have been created.
        let _ = fs::remove_file(probe);
    }
    let full = [ErrorKind::StorageFull, ErrorKind::QuotaExceeded];
    written.is_err_and(|error| full.contains(&error.kind()))
}
