use super::*;

#[test]
fn failures_have_their_command_and_what_was_not_run_stands_at_the_end() {
    let row = |name, outcome| Row {
        name,
        outcome,
        took: Duration::from_millis(1_250),
    };
    let passed = Outcome::Passed {
        without: vec!["missing: Go; install Go".to_owned()],
    };
    let skipped = Outcome::Skipped("missing: npm; install Node.js".to_owned());
    let mut report = Report {
        rows: vec![row("services", passed), row("contracts", skipped)],
    };
    assert!(report.is_good());
    let failed = Outcome::Failed {
        error: "cargo fmt --all --check\n    exit status: 1".to_owned(),
        log: "target/xtask/fmt.log".into(),
    };
    report.rows.push(row("fmt", failed));
    assert!(!report.is_good());
    let page = report.to_string();
    let expected = "\
step      result        time
services  in part      1.2 s
contracts SKIPPED      1.2 s
fmt       FAILED       1.2 s
together               3.8 s

FAILED: fmt; its output is in target/xtask/fmt.log
    cargo fmt --all --check
    exit status: 1

NOT RUN, and so not proved:
    services: missing: Go; install Go
    contracts: missing: npm; install Node.js

not asked for: tidy, clippy,";
    assert!(page.starts_with(expected), "{page}");
    assert!(page.ends_with("\nnot good"), "{page}");
}
