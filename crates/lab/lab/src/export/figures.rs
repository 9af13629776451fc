//! Columns of the table of all figures, the same in CSV and Parquet.

use crate::record::{ExperimentRecord, Figure, Scale, Verdict};

/// Content of a column; `None` is an empty cell.
#[derive(Clone, Copy)]
pub(super) enum Column {
    Text(fn(&ExperimentRecord, &Figure) -> Option<String>),
    Number(fn(&ExperimentRecord, &Figure) -> Option<f64>),
}

use Column::{Number, Text};

/// All columns in their order.
pub(super) const COLUMNS: [(&str, Column); 15] = [
    ("experiment", Text(|record, _| Some(record.id.clone()))),
    ("figure", Text(|_, figure| Some(figure.name.clone()))),
    ("unit", Text(|_, figure| Some(figure.unit.clone()))),
    ("published", Number(|_, figure| figure.published)),
    ("statement", Text(|_, figure| figure.statement.clone())),
    ("ours", Number(|_, figure| figure.ours)),
    ("low", Number(|_, figure| Some(figure.spread?.0))),
    ("high", Number(|_, figure| Some(figure.spread?.1))),
    ("ratio", Number(|_, figure| figure.ratio)),
    (
        "criterion",
        Text(|_, figure| Some(figure.criterion.to_string())),
    ),
    (
        "verdict",
        Text(|_, figure| Some(verdict(figure.verdict).to_owned())),
    ),
    ("why", Text(|_, figure| figure.why.clone())),
    (
        "scale",
        Text(|record, _| Some(scale(record.scale).to_owned())),
    ),
    ("seeds", Number(|record, _| Some(record.seeds.len() as f64))),
    ("commit", Text(|record, _| Some(record.commit.clone()))),
];

fn verdict(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Agrees => "agrees",
        Verdict::Differs => "differs",
        Verdict::Shown => "shown",
    }
}

fn scale(scale: Scale) -> &'static str {
    match scale {
        Scale::Quick => "quick",
        Scale::Full => "full",
    }
}
