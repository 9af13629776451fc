//! Expressions of a Grafana dashboard, as rules that `promtool` can check.

use std::fmt::Write as _;

/// Key of an expression in a dashboard, with the quote that begins its text.
const KEY: &str = "\"expr\": \"";

/// Variables that Grafana replaces before it asks Prometheus, with a value that each may have.
const VARIABLES: [(&str, &str); 2] = [("$__rate_interval", "1m"), ("$instance", ".*")];

/// Returns the expressions of a dashboard in JSON, with Grafana's variables replaced.
pub(super) fn of_dashboard(json: &str) -> Vec<String> {
    let texts = json.split(KEY).skip(1).map(unquoted);
    let replaced = texts.map(|text| {
        VARIABLES
            .iter()
            .fold(text, |text, (name, value)| text.replace(name, value))
    });
    replaced.collect()
}

/// Returns the text of a JSON string up to its closing quote; Prometheus has use for no escape but that of quotes and backslashes.
fn unquoted(json: &str) -> String {
    let mut text = String::new();
    let mut rest = json.chars();
    while let Some(next) = rest.next() {
        match next {
            '"' => break,
            '\\' => text.extend(rest.next()),
            other => text.push(other),
        }
    }
    text
}

/// Returns a file of rules that record each expression under a name of its own.
pub(super) fn as_rules(expressions: &[String]) -> String {
    let mut file = String::from("groups:\n  - name: dashboard\n    rules:\n");
    for (number, expression) in expressions.iter().enumerate() {
        // In YAML a text in single quotes has only these as escapes: two for one.
        let quoted = expression.replace('\'', "''");
        writeln!(file, "      - record: dashboard:expression:{number}").expect("texts take all");
        writeln!(file, "        expr: '{quoted}'").expect("texts take all");
    }
    file
}
