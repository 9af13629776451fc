//! Counts of `cargo xtask counts`: how the source text develops, in figures that a change can be held to.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::{self, Display};
use std::path::{Component, Path, PathBuf};

use crate::sources::{self, Source, UnreadableSource};

mod circles;
mod doctests;
mod items;
mod json;
mod lexer;
mod modules;

/// Most words of a first doc line that is counted as short.
const SHORT_WORDS_MAX: usize = 2;

/// Folder of the package whose code is counted: the command line must not grow into a store of everything.
const COMMAND_LINE: &str = "crates/undertone";

/// Figures about the source text of the workspace.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    /// First lines of doc comments with one or two words, in any Rust file.
    short_docs: usize,
    /// Different names of types outside tests.
    types: usize,
    /// Names of types that are defined at least twice outside tests, with the files that define them.
    repeated_types: BTreeMap<String, Vec<PathBuf>>,
    doctests: usize,
    /// Programs in the folders `examples` of packages.
    examples: usize,
    /// All lines of the files of `crates/undertone/src` that are not tests.
    command_line: usize,
    /// Files that read protobuf by hand.
    protobuf_readers: Vec<PathBuf>,
    /// Groups of files of which each reaches every other one through imports.
    circles: Vec<Vec<PathBuf>>,
}

/// Lists that are printed below the table.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Lists {
    /// The type names that are defined at least twice.
    pub(crate) names: bool,
    /// The files of each circle.
    pub(crate) circles: bool,
}

/// Counts the workspace at `root`.
pub(crate) fn count(root: &Path) -> Result<Counts, UnreadableSource> {
    let sources = sources::all(root)?;
    let mut counts = Counts::default();
    let mut names: BTreeMap<String, Vec<PathBuf>> = BTreeMap::new();
    let mut files = BTreeMap::new();
    for source in sources
        .into_iter()
        .filter(|source| sources::is_rust(&source.path))
    {
        let Source { path, text } = &source;
        counts.short_docs += sources::first_doc_lines(text)
            .filter(|(_, line)| (1..=SHORT_WORDS_MAX).contains(&line.split_whitespace().count()))
            .count();
        counts.examples += usize::from(is_example(path));
        if !sources::is_production(path) {
            continue;
        }
        counts.doctests += doctests::in_source(text);
        for page in doctests::included(text) {
            let page = page_path(path, page);
            let page = sources::read(&root.join(page))?;
            counts.doctests += doctests::in_markdown(page.lines());
        }
        if path.starts_with(COMMAND_LINE) {
            counts.command_line += text.lines().count();
        }
        if reads_protobuf(text) {
            counts.protobuf_readers.push(path.clone());
        }
        let items = items::items(text);
        for name in &items.types {
            names.entry(name.clone()).or_default().push(path.clone());
        }
        files.insert(source.path, items);
    }
    counts.types = names.len();
    names.retain(|_, paths| paths.len() > 1);
    counts.repeated_types = names;
    counts.circles = circles::circles(&files);
    Ok(counts)
}

/// Whether a file is the root of an example program.
fn is_example(path: &Path) -> bool {
    let mut after = path.iter().skip_while(|part| *part != "examples").skip(1);
    match (after.next(), after.next(), after.next()) {
        (Some(_), None, None) => true,
        (Some(_), Some(file), None) => file == "main.rs",
        _ => false,
    }
}

/// Whether a file reads the variable-length integers of protobuf by itself: a function named after them
/// that can fail, and the mask that takes seven bits from a byte.
fn reads_protobuf(text: &str) -> bool {
    let is_reader = |line: &str| {
        line.split_once("fn ")
            .and_then(|(_, rest)| rest.split_once('('))
            .is_some_and(|(name, rest)| {
                name.contains("varint") && (rest.contains("Result<") || rest.contains("Option<"))
            })
    };
    text.contains("0x7f") && text.lines().any(is_reader)
}

/// Returns the path of a page that a source names relative to itself, without `..`.
fn page_path(source: &Path, page: &Path) -> PathBuf {
    let mut path = source.parent().unwrap_or(source).to_owned();
    for part in page.components() {
        match part {
            Component::ParentDir => {
                path.pop();
            }
            part => path.push(part),
        }
    }
    path
}

impl Counts {
    /// Returns each figure with its description.
    fn rows(&self) -> [(&'static str, usize); 8] {
        [
            ("first doc lines of one or two words", self.short_docs),
            ("type names outside tests", self.types),
            (
                "type names defined at least twice",
                self.repeated_types.len(),
            ),
            ("doctests", self.doctests),
            ("examples", self.examples),
            ("lines in crates/undertone/src", self.command_line),
            ("readers of protobuf", self.protobuf_readers.len()),
            ("circles of imports", self.circles.len()),
        ]
    }

    /// Returns the table, followed by the lists that are asked for.
    pub(crate) fn page(&self, lists: Lists) -> String {
        let mut page: Vec<String> = vec![self.to_string()];
        if lists.names {
            page.push("\ntype names defined at least twice:".to_owned());
            for (name, files) in &self.repeated_types {
                page.push(format!("  {name}: {}", shown(files)));
            }
        }
        if lists.circles {
            page.push("\ncircles of imports:".to_owned());
            page.extend(
                self.circles
                    .iter()
                    .map(|files| format!("  {}", shown(files))),
            );
        }
        page.join("\n")
    }
}

/// Returns paths in one line, each once.
fn shown(files: &[PathBuf]) -> String {
    let files: BTreeSet<_> = files
        .iter()
        .map(|file| file.display().to_string())
        .collect();
    Vec::from_iter(files).join(", ")
}

impl Display for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rows = self.rows();
        for (index, (what, count)) in rows.iter().enumerate() {
            let end = if index + 1 == rows.len() { "" } else { "\n" };
            write!(f, "{what:36} {count:>6}{end}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
