use std::collections::BTreeSet;

use super::*;

fn deploy() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../deploy")
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
    let [alerts, tests] = ["alerts.yml", "alerts_test.yml"]
        .map(|name| fs::read_to_string(deploy().join("prometheus").join(name)).unwrap());
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
    let silent: BTreeSet<_> = values(&tests, "- { eval_time: ")
        .into_iter()
        .filter_map(|line| line.split_once("alertname: "))
        .map(|(_, name)| name.trim_end_matches(" }"))
        .collect();
    assert_eq!(silent, defined);
}

#[test]
fn every_expression_of_the_dashboard_becomes_a_rule_without_variables() {
    let path = deploy().join("grafana/undertone.json");
    let text = fs::read_to_string(&path).unwrap();
    let rules = rules(&path).unwrap();
    assert_eq!(
        rules.matches("\"expr\":").count(),
        text.matches("\"expr\"").count()
    );
    assert!(!rules.contains('$'), "{rules}");
    let mut found = Vec::new();
    expressions(
        &json!([{ "expr": "rate(a{b=~\"$instance\"}[$__rate_interval])" }]),
        &mut found,
    );
    assert_eq!(found, [r#"rate(a{b=~".*"}[1m])"#]);
}
