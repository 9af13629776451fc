//! Report on a verified history.

use std::collections::BTreeMap;
use std::fmt;

use comfy_table::presets::UTF8_BORDERS_ONLY;
use comfy_table::{CellAlignment, Table};
use serde::Serialize;
use undertone_relay::HistoryVerdict;

use crate::commands::output;

/// Result of verifying a history.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Verified {
    pub(super) network: &'static str,
    pub(super) store: String,
    pub(super) registry: String,
    /// Number of roots that the registry has had.
    pub(super) roots: usize,
    /// Number of messages read.
    pub(super) messages: u64,
    pub(super) valid: u64,
    /// Valid messages whose root had already been replaced by a newer one.
    pub(super) valid_with_replaced_root: u64,
    /// Longest time since a valid message's root had been replaced, seconds.
    pub(super) longest_replaced_s: u64,
    /// Timestamp of the first and the last message, Unix nanoseconds.
    pub(super) first_ns: Option<i64>,
    pub(super) last_ns: Option<i64>,
    /// Whether reading stopped at the requested maximum number of messages.
    pub(super) is_cut: bool,
    /// Number of messages for each verdict that occurred.
    pub(super) verdicts: BTreeMap<&'static str, u64>,
    /// First invalid messages, up to the requested number.
    pub(super) offending: Vec<Offending>,
}

/// Message that is not valid.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Offending {
    pub(super) hash: String,
    pub(super) verdict: &'static str,
    pub(super) reason: String,
    pub(super) timestamp_ns: Option<i64>,
    pub(super) content_topic: Option<String>,
    /// Earlier message with the same nullifier.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) first: Option<String>,
    /// Commitment of the member that exceeded its limit, revealed by the two messages.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) commitment: Option<String>,
    /// Index of that member, if it still is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) member: Option<u32>,
}

/// Verdict on a message that the store has in an unreadable form.
pub(super) const UNREADABLE: &str = "unreadable";

impl Verified {
    /// Returns the number of messages that are not valid.
    pub(super) fn not_valid(&self) -> u64 {
        self.messages - self.valid
    }
}

/// Returns the verdicts in the order of the table.
fn order() -> impl Iterator<Item = &'static str> {
    HistoryVerdict::LABELS.into_iter().chain([UNREADABLE])
}

impl fmt::Display for Verified {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let cut = if self.is_cut {
            ", and there are more"
        } else {
            ""
        };
        let messages = format!("{}{cut}", self.messages);
        let replaced = format!(
            "{}, for at most {} s",
            self.valid_with_replaced_root, self.longest_replaced_s
        );
        output::fields(
            f,
            &[
                ("network", &self.network),
                ("store", &self.store),
                ("registry", &self.registry),
                ("roots", &self.roots),
                ("messages", &messages),
                ("valid with a replaced root", &replaced),
            ],
        )?;
        let mut table = Table::new();
        table.load_preset(UTF8_BORDERS_ONLY);
        table.set_header(["verdict", "messages"]);
        for label in order() {
            if let Some(count) = self.verdicts.get(label) {
                table.add_row([label, &count.to_string()]);
            }
        }
        if let Some(column) = table.column_mut(1) {
            column.set_cell_alignment(CellAlignment::Right);
        }
        writeln!(f, "{table}")?;
        for one in &self.offending {
            writeln!(f, "{} {}: {}", one.hash, one.verdict, one.reason)?;
            if let Some(commitment) = &one.commitment {
                match one.member {
                    Some(index) => writeln!(f, "  by member {index}, commitment {commitment}")?,
                    None => writeln!(f, "  by a former member, commitment {commitment}")?,
                }
            }
        }
        let left_off = self.not_valid() - self.offending.len() as u64;
        match left_off {
            0 => Ok(()),
            left_off => writeln!(f, "and {left_off} more; --show N lists more of them"),
        }
    }
}
