//! The report of a migration.

use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::archive::ArchiveCopy;
use crate::identity::MovedMember;
use crate::mapping::{FlagLine, Mapped};

/// Report of a migration: what was transferred and what could not be.
#[derive(Debug, Serialize)]
#[non_exhaustive]
pub struct MigrationReport {
    /// Folder that was created.
    pub output: PathBuf,
    /// Each flag of the deployment and its outcome.
    pub flags: Vec<FlagLine>,
    /// Remarks about sources and keys that are not due to a single flag.
    pub remarks: Vec<String>,
    /// Peer id of the node key, if one was transferred.
    pub peer_id: Option<String>,
    /// Membership, if one was transferred.
    pub membership: Option<MovedMember>,
    /// Archive, if one was copied.
    pub archive: Option<ArchiveCopy>,
}

impl MigrationReport {
    pub(crate) fn new(output: &Path, mapped: Mapped, read: Vec<(String, String)>) -> Self {
        let read = read
            .into_iter()
            .map(|(place, what)| format!("{place}: {what}"));
        Self {
            output: output.to_owned(),
            remarks: read.chain(mapped.remarks).collect(),
            flags: mapped.lines,
            peer_id: None,
            membership: None,
            archive: None,
        }
    }
}
