use super::*;

fn row(step: Step, outcome: Outcome, took_ms: u64) -> Row {
    Row {
        step,
        outcome,
        took: Duration::from_millis(took_ms),
        processor: Some(Duration::from_millis(took_ms * 2)),
    }
}

fn report(outcomes: &[Outcome], strict: bool) -> Report {
    let rows = outcomes.iter().cloned();
    Report {
        rows: rows.map(|outcome| row(Step::Unit, outcome, 0)).collect(),
        took: Duration::ZERO,
        strict,
    }
}

#[test]
fn one_failure_spoils_it_and_a_skip_only_when_strict() {
    let passed = Outcome::Passed;
    let failed = Outcome::Failed("exit status: 101".into());
    let skipped = Outcome::Skipped("npm not found".into());
    for strict in [false, true] {
        assert!(report(&[passed.clone(), passed.clone()], strict).is_good());
        assert!(!report(&[failed.clone(), passed.clone()], strict).is_good());
        assert_eq!(
            report(&[passed.clone(), skipped.clone()], strict).is_good(),
            !strict
        );
    }
}

#[test]
fn the_table_has_a_line_for_each_step_with_time_and_reason() {
    let report = Report {
        rows: vec![
            row(Step::Fmt, Outcome::Passed, 840),
            row(
                Step::Clippy,
                Outcome::Failed("exit status: 101".into()),
                61_000,
            ),
            row(
                Step::Interop,
                Outcome::Skipped("npm not found: install it".into()),
                0,
            ),
        ],
        took: Duration::from_millis(60_040),
        strict: true,
    };
    let expected = "\
step      result        time  processor  reason
fmt       passed       0.8 s      1.7 s
clippy    failed      61.0 s    122.0 s  exit status: 101
interop   skipped      0.0 s      0.0 s  npm not found: install it
together              60.0 s    123.7 s
not good (--strict: a skipped step counts as failed)";
    assert_eq!(report.to_string(), expected);
}

#[test]
fn where_the_system_tells_no_processor_time_there_is_a_question_mark() {
    let mut report = report(&[Outcome::Passed, Outcome::Passed], true);
    report.rows[0].processor = None;
    let text = report.to_string();
    assert_eq!(text.matches('?').count(), 2, "{text}");
}

#[test]
fn a_good_report_with_gaps_says_so() {
    let text = report(&[Outcome::Skipped("no npm".into())], false).to_string();
    assert!(text.ends_with("good (skipped steps prove nothing; --strict counts them as failed)"));
    assert!(
        report(&[Outcome::Passed], true)
            .to_string()
            .ends_with("\ngood")
    );
}

#[test]
fn rows_are_read_as_they_were_written() {
    let mut written = vec![
        row(Step::Doc, Outcome::Passed, 1_234),
        row(Step::Mpi, Outcome::Skipped("no MPI: install it".into()), 0),
        row(Step::Wasm, Outcome::Failed("exit status: 101".into()), 7),
        row(Step::Audit, Outcome::PassedBut("in part".into()), 8),
    ];
    written[2].processor = None;
    assert_eq!(rows(&lines(&written)), written);
}

#[test]
fn lines_that_are_no_rows_are_left_out() {
    assert_eq!(rows(""), []);
    let whole = lines(&[row(Step::Doc, Outcome::Passed, 1)]);
    for text in [
        "doc\tpassed\n",
        "cod\tpassed\t1\t2\t\n",
        "doc\tgood\t1\t2\t\n",
    ] {
        assert_eq!(rows(&format!("{text}{whole}")).len(), 1, "{text}");
    }
    // The end of a text may be missing.
    assert_eq!(rows(whole.trim_end_matches('\n')), []);
}

#[test]
fn a_reason_of_several_lines_stays_in_its_row() {
    let written = [row(Step::Doc, Outcome::Failed("a\nb\tc".into()), 1)];
    assert_eq!(
        rows(&lines(&written))[0].outcome,
        Outcome::Failed("a b c".into())
    );
}
