use super::*;

fn parsed(line: &str) -> Result<Task, String> {
    parse(line.split_whitespace().map(str::to_owned))
}

#[test]
fn test_alone_runs_every_step() {
    let steps = Step::ALL.to_vec();
    let expected = Task::Test {
        steps,
        strict: false,
        results: None,
    };
    assert_eq!(parsed("test"), Ok(expected));
}

#[test]
fn only_selects_in_running_order_and_once() {
    let expected = Ok(Task::Test {
        steps: vec![Step::Fmt, Step::Tidy],
        strict: true,
        results: None,
    });
    assert_eq!(parsed("test --strict --only tidy,fmt,tidy"), expected);
    assert_eq!(parsed("test --only=tidy,fmt --strict"), expected);
    assert_eq!(parsed("test --only tidy --strict --only fmt"), expected);
}

#[test]
fn results_are_written_into_the_named_file() {
    let expected = Task::Test {
        steps: vec![Step::Doc],
        strict: false,
        results: Some("a/b".into()),
    };
    assert_eq!(parsed("test --results a/b --only doc"), Ok(expected));
}

#[test]
fn list_and_help_run_nothing() {
    assert_eq!(parsed("test --list --only fmt"), Ok(Task::List));
    assert_eq!(parsed("test --help"), Ok(Task::Help));
    assert_eq!(parsed("--help"), Ok(Task::Help));
}

#[test]
fn every_mistake_names_what_was_typed_or_what_is_missing() {
    for (line, named) in [
        ("", "no task"),
        ("tset", "\"tset\""),
        ("test --quick", "\"--quick\""),
        ("test --only", "--only needs"),
        ("test --results", "--results needs"),
        ("test --only fmt,lint", "\"lint\""),
        ("test --only=", "\"\""),
    ] {
        let error = parsed(line).expect_err(line);
        assert!(error.contains(named), "{line}: {error}");
    }
}

#[test]
fn campaigns_are_named_and_get_what_follows_two_dashes() {
    let campaigns = vec![Campaign::Hostile];
    let expected = |arguments: &[&str]| {
        Ok(Task::Campaign {
            campaigns: campaigns.clone(),
            arguments: arguments.iter().map(|&word| word.to_owned()).collect(),
        })
    };
    assert_eq!(parsed("campaign --only hostile"), expected(&[]));
    let line = "campaign --only=hostile -- --json --only a1-restart";
    assert_eq!(parsed(line), expected(&["--json", "--only", "a1-restart"]));
    let two = Task::Campaign {
        campaigns: vec![Campaign::Sync, Campaign::Archive],
        arguments: Vec::new(),
    };
    assert_eq!(parsed("campaign --only archive --only sync"), Ok(two));
    assert_eq!(parsed("campaign --list"), Ok(Task::ListCampaigns));
    assert_eq!(parsed("campaign --help"), Ok(Task::CampaignHelp));
    for (line, named) in [
        ("campaign --only friendly", "\"friendly\""),
        ("campaign --only", "--only needs"),
        ("campaign --quick", "\"--quick\""),
    ] {
        let error = parsed(line).expect_err(line);
        assert!(error.contains(named), "{line}: {error}");
    }
}

#[test]
fn counts_are_a_table_or_json_with_lists_on_request() {
    let expected = |json, names, circles| {
        let lists = Lists { names, circles };
        Ok(Task::Counts { json, lists })
    };
    assert_eq!(parsed("counts"), expected(false, false, false));
    assert_eq!(parsed("counts --json"), expected(true, false, false));
    assert_eq!(
        parsed("counts --names --circles"),
        expected(false, true, true)
    );
    assert_eq!(parsed("counts --help"), Ok(Task::Help));
    let error = parsed("counts --lines").unwrap_err();
    assert!(error.contains("\"--lines\""), "{error}");
}

#[test]
fn instructions_are_compared_unless_they_are_accepted() {
    let expected = |accept| Ok(Task::Instructions { accept });
    assert_eq!(parsed("instructions"), expected(false));
    assert_eq!(parsed("instructions --accept"), expected(true));
    assert_eq!(parsed("instructions -h"), Ok(Task::Help));
    let error = parsed("instructions --only verify").unwrap_err();
    assert!(error.contains("\"--only\""), "{error}");
}
