//! `undertone rln remove`: removes a member from a registry file.

use std::fmt;
use std::path::PathBuf;

use serde::Serialize;
use undertone_membership::MemberIndex;

use super::{Failure, element, registry};
use crate::commands::output;

#[derive(clap::Args, Debug)]
pub(super) struct Args {
    /// File of the registry
    #[arg(long, value_name = "FILE")]
    registry: PathBuf,
    /// Index of the member, as `undertone rln list` shows it
    #[arg(long, value_name = "N", value_parser = registry::parse_index)]
    index: MemberIndex,
}

#[derive(Serialize)]
struct Removed<'a> {
    registry: &'a PathBuf,
    index: u32,
    root: String,
}

pub(super) fn run(args: &Args, json: bool) -> Result<(), Failure> {
    let members = registry::existing(&args.registry)?;
    let failed = registry::failed(&args.registry);
    members.remove(args.index).map_err(&failed)?;
    let removed = Removed {
        registry: &args.registry,
        index: args.index.get(),
        root: element(&members.tree().map_err(&failed)?.root()),
    };
    output::print(&removed, json)
}

impl fmt::Display for Removed<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        output::fields(
            f,
            &[
                ("registry", &self.registry.display()),
                ("removed", &self.index),
                ("root", &self.root),
            ],
        )
    }
}
