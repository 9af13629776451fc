//! Code examples in doc comments that `cargo test --doc` compiles.

use std::path::Path;

/// Mark that opens and closes a code block in Markdown.
const FENCE: &str = "```";

/// Attribute that takes a page of documentation from a file.
const INCLUDE: &str = "doc = include_str!(\"";

/// Returns the number of doctests in the doc comments of a Rust source.
pub(super) fn in_source(text: &str) -> usize {
    let docs = text.lines().filter_map(|line| {
        let line = line.trim_start();
        let comment = line
            .strip_prefix("///")
            .or_else(|| line.strip_prefix("//!"))?;
        Some(comment.trim_start())
    });
    in_markdown(docs)
}

/// Returns the number of code blocks that rustdoc takes for Rust.
pub(super) fn in_markdown<'a>(lines: impl Iterator<Item = &'a str>) -> usize {
    let mut is_inside = false;
    let mut count = 0;
    for line in lines {
        if let Some(language) = line.trim_start().strip_prefix(FENCE) {
            if !is_inside && is_tested(language) {
                count += 1;
            }
            is_inside = !is_inside;
        }
    }
    count
}

/// Returns the Markdown files that a Rust source takes its documentation from, as written.
pub(super) fn included(text: &str) -> impl Iterator<Item = &Path> {
    text.split(INCLUDE)
        .skip(1)
        .filter_map(|rest| rest.split('"').next())
        .map(Path::new)
}

/// Whether rustdoc tests a block with these words after its fence.
fn is_tested(language: &str) -> bool {
    let mut words = language
        .split([',', ' '])
        .filter(|word| !word.trim().is_empty());
    words.all(|word| {
        let word = word.trim();
        matches!(word, "rust" | "no_run" | "should_panic" | "compile_fail")
            || word.starts_with("edition")
            || word.starts_with("standalone")
    })
}

#[cfg(test)]
mod tests;
