use std::fs;

use super::*;

fn lines_of(findings: &[Finding]) -> Vec<Option<usize>> {
    findings.iter().map(|finding| finding.line).collect()
}

#[test]
fn leftovers_are_found_by_line_unless_they_have_a_reason() {
    let text = format!(
        "let a = 1;\n// {UNFINISHED}: later\n{DEBUG_PRINT}(a);\n// {UNFINISHED}(upstream bug 7)\n\
         // {UNFINISHED}()\n// {UNFINISHED}(one) and {UNFINISHED} two"
    );
    let findings = leftovers(Path::new("crates/a/src/lib.rs"), &text);
    assert_eq!(lines_of(&findings), [Some(2), Some(3), Some(5), Some(6)]);
    assert!(
        findings[0]
            .to_string()
            .starts_with("crates/a/src/lib.rs:2: ")
    );
}

#[test]
fn only_sources_of_crates_may_grow_too_long() {
    let text = |lines| "x\n".repeat(lines);
    for source in ["crates/a/src/b/c.rs", "crates/a/b/src/c.rs"].map(Path::new) {
        assert_eq!(too_long(source, &text(MAX_LINES)), None);
        assert!(too_long(source, &text(MAX_LINES + 1)).is_some());
    }
    for other in ["crates/a/tests/b.rs", "xtask/src/main.rs"] {
        assert_eq!(too_long(Path::new(other), &text(MAX_LINES + 1)), None);
    }
}

#[test]
fn a_dependency_of_others_counts_as_named_between_backticks_only() {
    let metadata = r#"{"target_directory": "target", "packages": [{"targets": [], "dependencies": [
        {"name": "own", "source": null}, {"name": "sha2", "source": "registry"}, {"name": "serde", "source": "registry"}
    ]}]}"#;
    let metadata = serde_json::from_str(metadata).unwrap();
    let findings = unnamed(&metadata, "`serde` reads. sha2 hashes.");
    assert_eq!(findings.len(), 1);
    assert!(
        findings[0].to_string().contains("`sha2`"),
        "{}",
        findings[0]
    );
}

#[test]
fn the_whole_tree_is_walked_but_for_what_others_wrote() {
    let root = tempfile::tempdir().unwrap();
    let write = |path: &str, text: &str| {
        let path = root.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    let bad = format!("// {UNFINISHED}\n");
    write("crates/a/src/deep/lib.rs", &bad);
    write("fuzz/fuzz_targets/a.rs", &bad);
    write("fuzz/target/b.rs", &bad);
    write("tools/js/peer.mjs", &bad);
    write("tools/js/node_modules/x/index.mjs", &bad);
    write("xtask/notes.txt", &bad);
    let paths = |findings: Vec<Finding>| -> Vec<_> {
        findings.into_iter().map(|finding| finding.path).collect()
    };
    let expected = [
        "crates/a/src/deep/lib.rs",
        "fuzz/fuzz_targets/a.rs",
        "tools/js/peer.mjs",
    ];
    assert_eq!(
        paths(in_sources(root.path()).unwrap()),
        expected.map(PathBuf::from)
    );
}

#[test]
fn a_tree_that_is_not_there_is_an_error_that_names_it() {
    let root = tempfile::tempdir().unwrap();
    let error = check(root.path()).unwrap_err();
    assert!(error.to_string().contains("crates"), "{error}");
}

#[test]
fn an_ignored_test_names_the_command_that_runs_it() {
    let path = Path::new("crates/a/tests/b.rs");
    let lines = |text: &str| lines_of(&never_run(path, text));
    for good in [
        r#"#[ignore = "needs anvil: cargo xtask test --only contracts"]"#,
        r#"    #[ignore = "takes minutes; cargo xtask campaign --only random-proofs"]"#,
        r#"#[cfg_attr(windows, ignore = "no pipes, cargo xtask test --only unit")]"#,
        "// #[ignore]",
        "fn ignore() {}",
    ] {
        assert_eq!(lines(good), [], "{good}");
    }
    for bad in [
        "#[ignore]",
        r#"#[ignore = "slow"]"#,
        r#"#[ignore = "slow; cargo test -- --ignored"]"#,
        r#"#[ignore = "cargo xtask test --only nothing"]"#,
        r#"#[ignore = "cargo xtask test"]"#,
        r#"#[ignore = "cargo xtask tidy"]"#,
        "#[cfg_attr(windows, ignore)]",
    ] {
        assert_eq!(lines(bad), [Some(1)], "{bad}");
    }
    assert_eq!(never_run(Path::new("tools/js/a.mjs"), "#[ignore]"), []);
}
