//! `undertone lab list`: lists the experiments.

use std::fmt;

use serde::Serialize;
use undertone_lab::experiment::EXPERIMENTS;

use super::super::{Failure, output};

#[derive(Serialize)]
struct List {
    experiments: Vec<Item>,
}

#[derive(Serialize)]
struct Item {
    id: &'static str,
    title: &'static str,
    source: &'static str,
}

pub(super) fn run(json: bool) -> Result<(), Failure> {
    let experiments = EXPERIMENTS.iter().map(|experiment| Item {
        id: experiment.id,
        title: experiment.title,
        source: experiment.source,
    });
    let list = List {
        experiments: experiments.collect(),
    };
    output::print(&list, json)
}

impl fmt::Display for List {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lines = self.experiments.iter();
        let lines: Vec<(&str, String)> = lines
            .map(|item| (item.id, format!("{} ({})", item.title, item.source)))
            .collect();
        let fields: Vec<(&str, &dyn fmt::Display)> = lines
            .iter()
            .map(|(id, line)| (*id, line as &dyn fmt::Display))
            .collect();
        output::fields(f, &fields)
    }
}
