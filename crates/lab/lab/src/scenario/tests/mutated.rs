//! Tests of the built-in files with mistakes put into them.

use proptest::prelude::*;

use super::super::{BUILT_IN, BuiltIn, parse};
use super::try_read;

/// Built-in scenarios that are based on no other.
fn whole_files() -> impl Iterator<Item = &'static BuiltIn> {
    BUILT_IN.iter().filter(|file| {
        let mut head = file.text.lines().take_while(|line| !line.starts_with('['));
        !head.any(|line| line.starts_with("base = "))
    })
}

/// Every key of every table is known to the code that reads it: a value of a type that no key accepts is
/// refused for its type, not as an unknown key.
#[test]
fn every_key_of_the_files_can_be_set() {
    for file in whole_files() {
        let mut table = "";
        for line in file.text.lines() {
            if let Some(name) = line.strip_prefix('[').and_then(|l| l.strip_suffix(']')) {
                table = name;
            }
            let Some((key, _)) = line.split_once(" = ") else {
                continue;
            };
            if key.starts_with('#') || table.starts_with('[') {
                continue;
            }
            let text = format!("{table}.{key}=1979-05-27");
            let expected = format!("--set {text}: {table}.{key} = 1979-05-27: expected ");
            let error = parse(file.text, "s.toml", "s", None, &[text])
                .unwrap_err()
                .to_string();
            assert!(error.starts_with(&expected), "{}: {error}", file.name);
        }
    }
}

proptest! {
    /// Files with one part replaced by other text, or removed, never panic; a
    /// failure reports its position.
    #[test]
    fn mutated_files_never_panic(
        which in 0..whole_files().count(),
        at in 0.0..1.0_f64,
        length in 0..40_usize,
        with in "([0-9]{1,20}|[a-z_.\\[\\]{}=\",\n#-]{0,12}|inf|-1|1e308|true|\\[\\[faults\\]\\]\n)",
    ) {
        let file = whole_files().nth(which);
        let mut text = file.map_or_else(String::new, |file| file.text.to_owned());
        // The files have comments that are not ASCII; cut only at character boundaries.
        let floor = |text: &str, mut at: usize| {
            at = at.min(text.len());
            while !text.is_char_boundary(at) {
                at -= 1;
            }
            at
        };
        let start = floor(&text, (at * text.len() as f64) as usize);
        let end = floor(&text, start + length).max(start);
        text.replace_range(start..end, &with);
        if let Err(error) = try_read(&text, &[]) {
            prop_assert!(error.to_string().starts_with("s.toml:"), "{error}");
        }
    }
}
