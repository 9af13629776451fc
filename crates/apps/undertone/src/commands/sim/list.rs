//! `undertone sim --list`: lists the built-in scenarios.

use std::fmt;

use serde::Serialize;
use undertone_lab::scenario::{self, BUILT_IN};

use super::super::{Failure, output};
use super::scenario_failure;

#[derive(Serialize)]
struct List {
    scenarios: Vec<Item>,
}

#[derive(Serialize)]
struct Item {
    name: &'static str,
    description: String,
    nodes: u32,
}

pub(crate) fn print(json: bool) -> Result<(), Failure> {
    let scenarios = BUILT_IN
        .iter()
        .map(|built_in| {
            let loaded = scenario::load(built_in.name, &[]).map_err(scenario_failure)?;
            Ok(Item {
                name: built_in.name,
                description: loaded.description,
                nodes: loaded.scenario.nodes,
            })
        })
        .collect::<Result<_, _>>()?;
    output::print(&List { scenarios }, json)
}

impl fmt::Display for List {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let fields: Vec<_> = self
            .scenarios
            .iter()
            .map(|item| (item.name, &item.description as &dyn fmt::Display))
            .collect();
        output::fields(f, &fields)
    }
}
