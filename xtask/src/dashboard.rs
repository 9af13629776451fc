//! Expressions of a Grafana dashboard, as rules that `promtool` can check.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

/// Variables that Grafana replaces before it queries Prometheus, each with a possible value.
const VARIABLES: [(&str, &str); 2] = [("$__rate_interval", "1m"), ("$instance", ".*")];

/// Reason why a dashboard cannot be converted to rules.
#[derive(Debug, thiserror::Error)]
pub(crate) enum DashboardError {
    #[error("{path}: {source}")]
    Read { path: PathBuf, source: io::Error },
    #[error("{path}: {source}")]
    Json {
        path: PathBuf,
        source: serde_json::Error,
    },
    #[error("{path} asks for nothing")]
    Empty { path: PathBuf },
}

/// Returns a file of rules that record each expression of a dashboard under a name of its own. It is JSON, and
/// therefore also YAML.
pub(crate) fn rules(path: &Path) -> Result<String, DashboardError> {
    let path = path.to_owned();
    let text = match fs::read_to_string(&path) {
        Ok(text) => text,
        Err(source) => return Err(DashboardError::Read { path, source }),
    };
    let dashboard = match serde_json::from_str(&text) {
        Ok(dashboard) => dashboard,
        Err(source) => return Err(DashboardError::Json { path, source }),
    };
    let mut asked = Vec::new();
    expressions(&dashboard, &mut asked);
    if asked.is_empty() {
        return Err(DashboardError::Empty { path });
    }
    let rules: Vec<_> = (0..)
        .zip(asked)
        .map(|(number, expression)| json!({ "record": format!("dashboard:expression:{number}"), "expr": expression }))
        .collect();
    Ok(json!({ "groups": [{ "name": "dashboard", "rules": rules }] }).to_string())
}

/// Collects the texts under the key `expr`, with Grafana's variables replaced.
fn expressions(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                match value {
                    Value::String(text) if name == "expr" => {
                        found.push(VARIABLES.iter().fold(text.clone(), |text, (name, value)| {
                            text.replace(name, value)
                        }));
                    }
                    value => expressions(value, found),
                }
            }
        }
        Value::Array(values) => values.iter().for_each(|value| expressions(value, found)),
        _ => {}
    }
}

#[cfg(test)]
#[path = "tests/dashboard.rs"]
mod tests;
