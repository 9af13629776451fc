//! A comparison as a table for the terminal.

use std::fmt::{self, Display};

use super::{BAND_SEEDS, Comparison, ComparisonRule, ComparisonVerdict};
use crate::report::{align, new_table};

impl Display for Comparison {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut table = new_table(&[
            "ms",
            "published",
            "ours",
            "seeds",
            "ratio",
            "agrees if",
            "verdict",
        ]);
        for row in &self.rows {
            let number = |value: Option<f64>, decimals: usize| {
                value.map_or("none".to_owned(), |value| format!("{value:.decimals$}"))
            };
            let verdict = match row.verdict {
                ComparisonVerdict::Agrees => "agrees",
                ComparisonVerdict::Differs => "DIFFERS",
                ComparisonVerdict::Shown => "",
            };
            table.add_row([
                row.figure.clone(),
                format!("{:.1}", row.published),
                number(row.ours, 1),
                row.range.map_or(String::new(), |[least, most]| {
                    format!("{least:.1} to {most:.1}")
                }),
                number(row.ratio, 3),
                match row.rule {
                    Some(ComparisonRule::Tolerance(share)) => format!("± {:.0} %", share * 100.0),
                    Some(ComparisonRule::Band([low, high])) => format!("in {low:.1} to {high:.1}"),
                    Some(ComparisonRule::TooFewSeeds) => format!("needs {BAND_SEEDS} seeds"),
                    None => String::new(),
                },
                verdict.to_owned(),
            ]);
        }
        align(&mut table);
        let seeds = self.seeds.len();
        match seeds {
            1 => writeln!(f, "{}, one seed", self.scenario)?,
            _ => writeln!(f, "{}, median over {seeds} seeds", self.scenario)?,
        }
        writeln!(f, "{table}")?;
        writeln!(
            f,
            "±: our median beside the published value; in: the published value, that of one network, beside the middle 95 % of \
             our seeds, {BAND_SEEDS} at least, and shown only with fewer"
        )?;
        let outside = self
            .rows
            .iter()
            .filter(|row| row.verdict == ComparisonVerdict::Differs);
        match outside.count() {
            0 => writeln!(f, "agrees with the published run"),
            1 => writeln!(f, "differs from the published run in one figure"),
            n => writeln!(f, "differs from the published run in {n} figures"),
        }
    }
}
