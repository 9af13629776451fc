use super::*;

fn args(words: &[&str]) -> Vec<OsString> {
    words.iter().map(OsString::from).collect()
}

#[test]
fn pages_have_the_arguments_of_the_examples_but_those_that_run_them() {
    let examples = args(&[
        "--crate-name",
        "undertone_link",
        "--test",
        "crates/link/src/lib.rs",
        "--test-run-directory",
        "crates/link",
        "--extern",
        "thiserror=libthiserror.rlib",
        "--test-args",
        "--nocapture",
    ]);
    let pages = for_pages(&examples, OsStr::new("target/doc"));
    let expected = args(&[
        "--crate-name",
        "undertone_link",
        "crates/link/src/lib.rs",
        "--extern",
        "thiserror=libthiserror.rlib",
        "-D",
        "warnings",
        "--out-dir",
        "target/doc",
    ]);
    assert_eq!(pages, Some(expected));
}

#[test]
fn a_question_about_the_version_builds_no_pages() {
    assert_eq!(for_pages(&args(&["-vV"]), OsStr::new("target/doc")), None);
}
