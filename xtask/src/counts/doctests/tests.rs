use super::*;

#[test]
fn only_blocks_that_rustdoc_takes_for_rust_are_doctests() {
    let text = "//! ```\n//! let a = 1;\n//! ```\n//!\n//! ```text\n//! a diagram\n//! ```\n\
        /// ```no_run\n/// f();\n/// ```\n// ```\n/// ```rust,should_panic\n/// ```\n/// ```ignore\n/// ```";
    assert_eq!(in_source(text), 3);
}

#[test]
fn pages_that_a_source_takes_in_are_named() {
    let text = "#![doc = include_str!(\"../README.md\")]\nconst A: &str = include_str!(\"a.txt\");";
    let pages: Vec<_> = included(text).collect();
    assert_eq!(pages, [Path::new("../README.md")]);
    assert_eq!(in_markdown("```sh\nls\n```\n```rust\nf()\n```".lines()), 1);
}
