//! Recorded instructions: a TOML file with one value in a line.

use std::fmt::{self, Display};

/// Head of the file, for people.
const HEAD: &str = "\
# Instructions of the hot paths, for one unit of each work, as callgrind counts them in the functions measured_*
# of crates/gossip/benches/instructions.rs and crates/rln/benches/instructions.rs. `cargo xtask instructions`
# compares them; `cargo xtask instructions --accept` writes this file.
";

const TABLE: &str = "[instructions]";

/// Numbers with the circumstances in which they were counted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Record {
    pub(super) circumstances: Circumstances,
    /// Instructions of one unit, by name of the work.
    pub(super) counts: Vec<(String, u64)>,
}

/// Everything but the source that the numbers depend on, and the commit that names the source.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Circumstances {
    /// Commit that was counted, with the suffix `-dirty` if files were changed after it.
    pub(super) commit: String,
    /// Version of the compiler, as it states it.
    pub(super) rustc: String,
    /// Version of valgrind, as it states it.
    pub(super) valgrind: String,
    /// Architecture of the processor.
    pub(super) machine: String,
}

/// Line of a record that is neither a known value nor a comment.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct RecordError {
    /// Number of the line, from 1.
    line: usize,
}

impl Record {
    /// Reads a record.
    pub(super) fn parse(text: &str) -> Result<Self, RecordError> {
        let mut circumstances = Circumstances::default();
        let mut counts = Vec::new();
        for (line, text) in (1..).zip(text.lines()) {
            let text = text.trim();
            if text.is_empty() || text.starts_with('#') || text == TABLE {
                continue;
            }
            let bad = || RecordError { line };
            let (name, value) = text.split_once(" = ").ok_or_else(bad)?;
            let field = match name {
                "commit" => &mut circumstances.commit,
                "rustc" => &mut circumstances.rustc,
                "valgrind" => &mut circumstances.valgrind,
                "machine" => &mut circumstances.machine,
                work => {
                    let count = value.replace('_', "").parse().map_err(|_| bad())?;
                    counts.push((work.to_owned(), count));
                    continue;
                }
            };
            let quoted = value.strip_prefix('"').and_then(|v| v.strip_suffix('"'));
            quoted.ok_or_else(bad)?.clone_into(field);
        }
        Ok(Self {
            circumstances,
            counts,
        })
    }

    /// Returns the number of a work, if it is recorded.
    pub(super) fn count(&self, work: &str) -> Option<u64> {
        let (_, count) = self.counts.iter().find(|(name, _)| name == work)?;
        Some(*count)
    }
}

impl Display for Record {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Circumstances {
            commit,
            rustc,
            valgrind,
            machine,
        } = &self.circumstances;
        writeln!(f, "{HEAD}")?;
        for (name, value) in [
            ("commit", commit),
            ("rustc", rustc),
            ("valgrind", valgrind),
            ("machine", machine),
        ] {
            writeln!(f, "{name} = \"{}\"", value.replace(['"', '\\'], ""))?;
        }
        writeln!(f, "\n{TABLE}")?;
        for (name, count) in &self.counts {
            writeln!(f, "{name} = {count}")?;
        }
        Ok(())
    }
}

impl Display for RecordError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: expected a name, ` = ` and a value", self.line)
    }
}

#[cfg(test)]
mod tests;
