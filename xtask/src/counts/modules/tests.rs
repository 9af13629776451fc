use super::super::items::items;
use super::*;

/// Returns the imports of each file of a crate as pairs of file names, sorted.
fn edges(files: &[(&str, &str)]) -> Vec<(String, String)> {
    let files: BTreeMap<_, _> = files
        .iter()
        .map(|(path, text)| (Path::new("c/src").join(path), items(text)))
        .collect();
    let modules = Modules::of(Path::new("c/src/lib.rs"), &files);
    let name = |module| {
        let file = modules.file(module).strip_prefix("c/src").unwrap();
        file.display().to_string()
    };
    let mut edges = Vec::new();
    for (from, imports) in modules.imports().into_iter().enumerate() {
        edges.extend(imports.into_iter().map(|to| (name(from), name(to))));
    }
    edges.sort();
    edges
}

fn pair(from: &str, to: &str) -> (String, String) {
    (from.to_owned(), to.to_owned())
}

#[test]
fn paths_lead_to_files_whatever_form_they_have() {
    let found = edges(&[
        ("lib.rs", "mod a; mod b;"),
        ("a.rs", "mod x; mod y; use crate::b::B;"),
        ("a/x.rs", "use super::y::Y; use super::super::b::inline::T;"),
        ("a/y/mod.rs", "mod z; use bytes::Bytes; struct Y;"),
        ("a/y/z.rs", "use super::super::x;"),
        ("b.rs", "struct B; mod inline { struct T; }"),
    ]);
    let expected = [
        pair("a.rs", "b.rs"),
        pair("a/x.rs", "a/y/mod.rs"),
        pair("a/x.rs", "b.rs"),
        pair("a/y/z.rs", "a/x.rs"),
    ];
    assert_eq!(found, expected);
}

#[test]
fn what_a_parent_hands_on_comes_from_where_it_is_defined() {
    let found = edges(&[
        ("lib.rs", "mod a; mod b; pub use a::deep::D; pub use b::*;"),
        ("a.rs", "pub mod deep; use crate::b::B; const C: u8 = 1;"),
        ("a/deep.rs", "struct D; use super::{B, C};"),
        ("b.rs", "struct B; use crate::D; use crate::own;"),
    ]);
    let expected = [
        pair("a.rs", "b.rs"),
        pair("a/deep.rs", "b.rs"),
        pair("b.rs", "a/deep.rs"),
    ];
    assert_eq!(found, expected);
    let by_glob = edges(&[
        ("lib.rs", "mod a; mod b; pub use b::*;"),
        ("a.rs", "use crate::B;"),
        ("b.rs", "struct B;"),
    ]);
    assert_eq!(by_glob, [pair("a.rs", "b.rs")]);
}

#[test]
fn imports_between_a_module_and_one_inside_it_follow_from_nesting() {
    let found = edges(&[
        ("lib.rs", "mod a; use a::b::B;"),
        ("a.rs", "mod b; use b::B;"),
        ("a/b.rs", "use super::A; use crate::C;"),
    ]);
    assert_eq!(found, []);
}

#[test]
fn names_handed_on_in_a_ring_end_somewhere() {
    let found = edges(&[
        ("lib.rs", "mod a; mod b;"),
        ("a.rs", "pub use crate::b::X;"),
        ("b.rs", "pub use crate::a::X;"),
    ]);
    assert!(found.len() <= 2, "{found:?}");
}

#[test]
fn roots_are_libraries_and_programs() {
    for root in [
        "crates/a/src/lib.rs",
        "xtask/src/main.rs",
        "a/src/bin/b.rs",
        "a/src/bin/b/main.rs",
    ] {
        assert!(is_root(Path::new(root)), "{root}");
    }
    for other in [
        "a/src/b.rs",
        "a/src/b/main.rs",
        "a/src/bin/b/c.rs",
        "a/tests/main.rs",
    ] {
        assert!(!is_root(Path::new(other)), "{other}");
    }
}
