//! Counts as JSON, for programs that compare two commits.

use std::path::PathBuf;

use super::Counts;

impl Counts {
    /// Returns the figures and all lists as one JSON object.
    pub(crate) fn json(&self) -> String {
        let names = self.repeated_types.iter();
        let names: Vec<_> = names
            .map(|(name, files)| format!("    {}: {}", string(name), paths(files)))
            .collect();
        let circles: Vec<_> = self
            .circles
            .iter()
            .map(|files| format!("    {}", paths(files)))
            .collect();
        [
            "{".to_owned(),
            format!("  \"short_docs\": {},", self.short_docs),
            format!("  \"types\": {},", self.types),
            format!("  \"repeated_types\": {},", between('{', &names, '}')),
            format!("  \"doctests\": {},", self.doctests),
            format!("  \"examples\": {},", self.examples),
            format!("  \"command_line_lines\": {},", self.command_line),
            format!("  \"protobuf_readers\": {},", paths(&self.protobuf_readers)),
            format!("  \"circles\": {}", between('[', &circles, ']')),
            "}".to_owned(),
        ]
        .join("\n")
    }
}

/// Returns indented lines as an object or array over several lines.
fn between(open: char, lines: &[String], close: char) -> String {
    if lines.is_empty() {
        return format!("{open}{close}");
    }
    format!("{open}\n{}\n  {close}", lines.join(",\n"))
}

fn paths(files: &[PathBuf]) -> String {
    let files: Vec<_> = files
        .iter()
        .map(|file| string(&file.to_string_lossy()))
        .collect();
    format!("[{}]", files.join(", "))
}

fn string(text: &str) -> String {
    let mut quoted = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            c if c.is_control() => quoted.push_str(&format!("\\u{:04x}", u32::from(c))),
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}
