use std::fs;

use super::*;

/// Writes a workspace of small files and counts it.
fn counted(files: &[(&str, &str)]) -> Counts {
    let root = tempfile::tempdir().unwrap();
    for folder in ["crates", "fuzz", "interop", "xtask"] {
        fs::create_dir(root.path().join(folder)).unwrap();
    }
    for (path, text) in files {
        let path = root.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    count(root.path()).unwrap()
}

/// Workspace in which everything that is counted occurs.
fn example() -> Counts {
    counted(&[
        (
            "crates/a/src/lib.rs",
            "#![doc = include_str!(\"../README.md\")]\n/// Where.\nmod b;\nmod c;\nstruct State;",
        ),
        ("crates/a/README.md", "```\nuse a::b;\n```\n"),
        (
            "crates/a/src/b.rs",
            "use crate::c::C;\n/// State of the other side.\n/// Two words.\nstruct State;\nstruct B;",
        ),
        ("crates/a/src/c.rs", "use crate::b::B;\nstruct C;"),
        ("crates/a/src/c/tests.rs", "struct C;\n/// Of one."),
        ("crates/a/examples/one.rs", "fn main() {}"),
        ("crates/a/examples/two/main.rs", "mod more;"),
        ("crates/a/examples/two/more.rs", ""),
        (
            "crates/undertone/src/main.rs",
            "fn main() {}\n\nfn more() {}\n",
        ),
        ("crates/undertone/src/tests.rs", "fn a() {}\n"),
        (
            "interop/src/wire.rs",
            "fn varint(&mut self) -> Option<u64> { byte & 0x7f }",
        ),
        (
            "interop/src/encode.rs",
            "fn varint(value: u64) -> Vec<u8> { value & 0x7f }",
        ),
    ])
}

#[test]
fn each_figure_counts_what_it_says() {
    let paths = |paths: &[&str]| -> Vec<_> { paths.iter().map(PathBuf::from).collect() };
    let expected = Counts {
        short_docs: 2,
        types: 3,
        repeated_types: BTreeMap::from([(
            "State".to_owned(),
            paths(&["crates/a/src/b.rs", "crates/a/src/lib.rs"]),
        )]),
        doctests: 1,
        examples: 2,
        command_line: 3,
        protobuf_readers: paths(&["interop/src/wire.rs"]),
        circles: vec![paths(&["crates/a/src/b.rs", "crates/a/src/c.rs"])],
    };
    assert_eq!(example(), expected);
}

#[test]
fn the_table_is_followed_by_the_lists_that_are_asked_for() {
    let counts = example();
    let table = counts.page(Lists::default());
    assert_eq!(table.lines().count(), 8);
    assert!(
        table.contains("\ntype names defined at least twice         1\n"),
        "{table}"
    );
    let lists = Lists {
        names: true,
        circles: true,
    };
    let page = counts.page(lists);
    for line in [
        "  State: crates/a/src/b.rs, crates/a/src/lib.rs",
        "  crates/a/src/b.rs, crates/a/src/c.rs",
    ] {
        assert!(page.lines().any(|found| found == line), "{page}");
    }
}

#[test]
fn json_has_every_figure_and_list() {
    let expected = r#"{
  "short_docs": 2,
  "types": 3,
  "repeated_types": {
    "State": ["crates/a/src/b.rs", "crates/a/src/lib.rs"]
  },
  "doctests": 1,
  "examples": 2,
  "command_line_lines": 3,
  "protobuf_readers": ["interop/src/wire.rs"],
  "circles": [
    ["crates/a/src/b.rs", "crates/a/src/c.rs"]
  ]
}"#;
    assert_eq!(example().json(), expected);
    assert!(counted(&[]).json().contains("\"circles\": []"));
}
