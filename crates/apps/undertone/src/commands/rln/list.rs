//! `undertone rln list`: lists the members of a registry file.

use std::fmt;
use std::path::PathBuf;

use comfy_table::{ContentArrangement, Table, presets};
use serde::Serialize;
use undertone_membership::Member;

use super::{Failure, element, registry};
use crate::commands::output;

#[derive(clap::Args, Debug)]
pub(super) struct Args {
    /// File of the registry
    #[arg(long, value_name = "FILE")]
    registry: PathBuf,
}

#[derive(Serialize)]
struct Listing<'a> {
    registry: &'a PathBuf,
    max_limit: u32,
    root: String,
    members: Vec<Row>,
}

#[derive(Serialize)]
struct Row {
    index: u32,
    limit: u32,
    commitment: String,
}

impl From<&Member> for Row {
    fn from(member: &Member) -> Self {
        Self {
            index: member.index.get(),
            limit: member.limit,
            commitment: element(&member.commitment),
        }
    }
}

pub(super) fn run(args: &Args, json: bool) -> Result<(), Failure> {
    let members = registry::existing(&args.registry)?;
    let failed = registry::failed(&args.registry);
    let listing = Listing {
        registry: &args.registry,
        max_limit: members.max_limit(),
        root: element(&members.tree().map_err(&failed)?.root()),
        members: members
            .members()
            .map_err(&failed)?
            .iter()
            .map(Row::from)
            .collect(),
    };
    output::print(&listing, json)
}

impl fmt::Display for Listing<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        output::fields(
            f,
            &[
                ("registry", &self.registry.display()),
                ("members", &self.members.len()),
                ("root", &self.root),
            ],
        )?;
        if self.members.is_empty() {
            return Ok(());
        }
        let mut table = Table::new();
        table
            .load_preset(presets::UTF8_HORIZONTAL_ONLY)
            .set_content_arrangement(ContentArrangement::Dynamic)
            .set_header(["index", "limit", "commitment"]);
        for member in &self.members {
            table.add_row([
                member.index.to_string(),
                member.limit.to_string(),
                member.commitment.clone(),
            ]);
        }
        write!(f, "{table}")
    }
}
