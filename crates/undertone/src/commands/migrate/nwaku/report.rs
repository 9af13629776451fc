//! The report of a migration.

use std::fmt;
use std::path::{Path, PathBuf};

use comfy_table::{ContentArrangement, Table, presets};
use serde::Serialize;

use super::archive::ArchiveCopy;
use super::identity::MovedMember;
use super::mapping::{FlagLine, FlagOutcome, Mapped};

/// Report of a migration: what was moved, and what could not be.
#[derive(Serialize)]
pub(super) struct MigrationReport {
    output: PathBuf,
    flags: Vec<FlagLine>,
    remarks: Vec<String>,
    pub(super) peer_id: Option<String>,
    pub(super) membership: Option<MovedMember>,
    pub(super) archive: Option<ArchiveCopy>,
}

impl MigrationReport {
    pub(super) fn new(output: &Path, mapped: Mapped, read: Vec<(String, String)>) -> Self {
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

impl fmt::Display for MigrationReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.flags.is_empty() {
            let mut table = Table::new();
            table
                .load_preset(presets::NOTHING)
                .set_content_arrangement(ContentArrangement::Dynamic)
                .set_header(["flag", "value", "becomes", "remark"]);
            for line in &self.flags {
                let becomes = match line.outcome {
                    FlagOutcome::Kept => line.becomes.as_str(),
                    FlagOutcome::NotNeeded => "(not needed)",
                    FlagOutcome::NoCounterpart => "NO COUNTERPART",
                    FlagOutcome::BadValue => "BAD VALUE",
                    FlagOutcome::Unknown => "UNKNOWN FLAG",
                };
                let remark = match line.outcome {
                    FlagOutcome::BadValue | FlagOutcome::Unknown => {
                        format!("{} ({})", line.remark, line.place)
                    }
                    _ => line.remark.clone(),
                };
                table.add_row([&line.flag, &line.value, becomes, &remark]);
            }
            writeln!(f, "{table}")?;
        }
        for remark in &self.remarks {
            writeln!(f, "note: {remark}")?;
        }
        if let Some(peer_id) = &self.peer_id {
            writeln!(f, "node key: moved; the peer id stays {peer_id}")?;
        }
        if let Some(member) = &self.membership {
            writeln!(f, "membership: {member}")?;
        }
        if let Some(archive) = &self.archive {
            writeln!(f, "archive: {archive}")?;
        }
        let config = self.output.join("undertone.toml");
        write!(
            f,
            "next: undertone node --config-file {} --check",
            config.display()
        )
    }
}
