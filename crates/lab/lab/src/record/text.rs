//! A record as text for the terminal.

use std::fmt::{self, Display};

use super::figure::short;
use super::{ExperimentRecord, Figure, OutsideOfRuns, Table, Verdict};
use crate::report::{align, new_table};

impl Display for ExperimentRecord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}: {}", self.id, self.title)?;
        writeln!(f, "{}", self.source)?;
        for table in &self.tables {
            writeln!(f, "\n{}\n{}", table.title, table.drawn())?;
        }
        if !self.figures.is_empty() {
            let header = [
                "figure",
                "unit",
                "published",
                "ours",
                "ratio",
                "criterion",
                "verdict",
            ];
            let mut drawn = new_table(&header);
            for figure in &self.figures {
                drawn.add_row(cells(figure));
            }
            align(&mut drawn);
            writeln!(f, "\n{drawn}")?;
        }
        for figure in self.differing() {
            let why = figure.why.as_deref().unwrap_or("not explained");
            writeln!(f, "DIFFERS: {}: {why}", figure.name)?;
        }
        for outside in &self.validity {
            writeln!(f, "{outside}")?;
        }
        for note in &self.notes {
            writeln!(f, "- {note}")?;
        }
        let judged = self.judged();
        writeln!(
            f,
            "{} of {judged} figures agree; {:.1} s, {:.1} s of processor time; {}",
            judged - self.differing().count(),
            self.measured.wall_s,
            self.measured.cpu_s,
            self.command,
        )
    }
}

impl Table {
    /// The table for the terminal, without its title.
    pub(crate) fn drawn(&self) -> comfy_table::Table {
        let columns: Vec<&str> = self.columns.iter().map(String::as_str).collect();
        let mut drawn = new_table(&columns);
        for row in &self.rows {
            drawn.add_row(row);
        }
        align(&mut drawn);
        drawn
    }
}

impl Display for OutsideOfRuns {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (rule, says) = (&self.outside.rule, &self.outside.says);
        write!(f, "NOT CHECKED in {} ({rule}): {says}", self.simulations())
    }
}

fn cells(figure: &Figure) -> [String; 7] {
    let number = |value: Option<f64>| value.map(short).unwrap_or_default();
    let ours = match (figure.ours, figure.spread) {
        (None, _) => "none".to_owned(),
        (Some(ours), Some((low, high))) if short(low) != short(high) => {
            format!("{} ({} to {})", short(ours), short(low), short(high))
        }
        (Some(ours), _) => short(ours),
    };
    [
        figure.name.clone(),
        figure.unit.clone(),
        figure
            .statement
            .clone()
            .unwrap_or_else(|| number(figure.published)),
        ours,
        figure
            .ratio
            .map(|ratio| format!("{ratio:.3}"))
            .unwrap_or_default(),
        figure.criterion.to_string(),
        match figure.verdict {
            Verdict::Agrees => "agrees",
            Verdict::Differs => "DIFFERS",
            Verdict::Shown => "",
        }
        .to_owned(),
    ]
}
