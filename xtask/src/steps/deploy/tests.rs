use std::collections::BTreeSet;

use super::*;

fn file(name: &str) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    fs::read_to_string(root.join(name)).unwrap()
}

/// What follows a prefix on the lines that have it.
fn values<'a>(text: &'a str, prefix: &str) -> BTreeSet<&'a str> {
    let lines = text.lines();
    lines
        .filter_map(|line| line.trim().strip_prefix(prefix))
        .collect()
}

/// A list of expected alerts that is empty tests nothing, so each alert has a case in which it fires and one in which it does not.
#[test]
fn every_alert_is_tested_firing_and_silent() {
    let (alerts, tests) = (
        file(&format!("{RULES}/alerts.yml")),
        file(&format!("{RULES}/alerts_test.yml")),
    );
    let defined = values(&alerts, "- alert: ");
    assert!(defined.len() > 5, "{defined:?}");
    let mut lines = tests.lines().peekable();
    let mut firing = BTreeSet::new();
    while let Some(line) = lines.next() {
        if let Some(name) = line.trim().strip_prefix("alertname: ") {
            let next = lines.peek().map(|line| line.trim());
            assert_eq!(next, Some("exp_alerts:"), "{name} is expected to fire");
            firing.insert(name);
        }
    }
    assert_eq!(firing, defined);
    let silent: BTreeSet<_> = tests
        .lines()
        .filter_map(|line| line.trim().strip_prefix("- { eval_time: "))
        .filter_map(|line| line.split_once("alertname: "))
        .map(|(_, name)| name.trim_end_matches(" }"))
        .collect();
    assert_eq!(silent, defined);
}

#[test]
fn expressions_lose_quotes_of_json_and_variables_of_grafana() {
    let dashboard =
        r#"{ "expr": "rate(a{b=~\"$instance\"}[$__rate_interval])", "x": 1, "expr": "c" }"#;
    let asked = expressions::of_dashboard(dashboard);
    assert_eq!(asked, [r#"rate(a{b=~".*"}[1m])"#, "c"]);
    let rules = expressions::as_rules(&["a{b='c'}".to_owned()]);
    assert!(rules.ends_with("        expr: 'a{b=''c''}'\n"), "{rules}");
}

#[test]
fn no_expression_of_the_dashboard_is_overlooked() {
    let dashboard = file(DASHBOARD);
    let asked = expressions::of_dashboard(&dashboard);
    assert_eq!(asked.len(), dashboard.matches("\"expr\"").count());
    for expression in asked {
        assert!(
            !expression.contains('$'),
            "{expression}: a variable of Grafana"
        );
    }
}

#[test]
fn a_failure_counts_more_than_a_tool_that_is_missing() {
    let missing = || ("a", Outcome::Skipped("no tool".into()));
    let passed = || ("b", Outcome::Passed);
    let failed = || ("c", Outcome::Failed("bad".into()));
    assert_eq!(together([passed(), passed()]), Outcome::Passed);
    assert_eq!(
        together([missing(), passed()]),
        Outcome::Skipped("a: no tool".into())
    );
    assert_eq!(
        together([missing(), failed(), passed()]),
        Outcome::Failed("c: bad".into())
    );
}
