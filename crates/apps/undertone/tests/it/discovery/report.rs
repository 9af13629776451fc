//! Figures of the campaign: printed as tables while it runs, and written as JSON at its end.

use std::path::Path;
use std::time::Duration;

use serde_json::{Map, Value, json};

/// Figures, and the goals that were missed.
#[derive(Default)]
pub(crate) struct Report {
    tables: Map<String, Value>,
    missed: Vec<String>,
}

impl Report {
    /// Prints a table, and keeps it. `key` names it in the JSON.
    pub(crate) fn table(&mut self, key: &str, title: &str, columns: &[&str], rows: &[Vec<Value>]) {
        println!("\n{title}\n\n| {} |", columns.join(" | "));
        println!("| {} |", vec!["---"; columns.len()].join(" | "));
        for row in rows {
            let cells: Vec<_> = row.iter().map(shown).collect();
            println!("| {} |", cells.join(" | "));
        }
        let named = |row: &Vec<Value>| {
            let cells = columns.iter().zip(row);
            Value::Object(
                cells
                    .map(|(column, cell)| ((*column).to_owned(), cell.clone()))
                    .collect(),
            )
        };
        self.tables
            .insert(key.to_owned(), rows.iter().map(named).collect());
    }

    /// Prints what was decided or happened, with its time.
    pub(crate) fn say(&self, text: &str) {
        println!("{text}");
    }

    /// Judges a goal; one that is missed is told at once and fails the campaign at its end.
    pub(crate) fn goal(&mut self, is_met: bool, what: impl FnOnce() -> String) {
        if !is_met {
            let what = what();
            println!("MISSED: {what}");
            self.missed.push(what);
        }
    }

    /// Writes all tables and the missed goals to a file; returns the missed goals.
    pub(crate) fn finish(mut self, seed: u64, file: &Path) -> Vec<String> {
        self.tables.insert("seed".to_owned(), json!(seed));
        self.tables.insert("missed".to_owned(), json!(self.missed));
        let text = serde_json::to_string_pretty(&self.tables).expect("numbers and texts only");
        match std::fs::write(file, text) {
            Ok(()) => println!("\nAll figures: {}", file.display()),
            Err(error) => println!("\n{}: {error}", file.display()),
        }
        self.missed
    }
}

fn shown(cell: &Value) -> String {
    match cell {
        Value::String(text) => text.clone(),
        Value::Null => "-".to_owned(),
        other => other.to_string(),
    }
}

/// Seconds with two decimals; nothing for what did not happen.
pub(crate) fn seconds(time: Option<Duration>) -> Value {
    time.map_or(Value::Null, |time| {
        json!((time.as_secs_f64() * 100.0).round() / 100.0)
    })
}

/// Milliseconds with one decimal.
pub(crate) fn millis(ns: Option<u64>) -> Value {
    ns.map_or(Value::Null, |ns| json!((ns as f64 / 1e5).round() / 10.0))
}

/// Middle of sorted values, the upper of two.
pub(crate) fn median<T: Copy>(sorted: &[T]) -> Option<T> {
    sorted.get(sorted.len() / 2).copied()
}
