//! `undertone rln register`.

use std::fmt;
use std::path::PathBuf;

use serde::Serialize;
use undertone_membership::{Registry, SqliteRegistry};
use undertone_message::NetworkPreset;
use undertone_rln::IdentityFile;

use super::{Failure, element, network, registry};
use crate::commands::output;

#[derive(clap::Args, Debug)]
pub(super) struct Args {
    /// File of the registry; made where there is none
    #[arg(long, value_name = "FILE")]
    registry: PathBuf,
    /// File of the identity, from `undertone rln keygen`
    #[arg(long, value_name = "FILE")]
    identity: PathBuf,
    /// Messages per epoch [default: the most that the registry gives]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    limit: Option<u32>,
    /// Network whose greatest limit a new registry gets
    #[arg(long, value_name = "NAME", default_value = "local", value_parser = network::parse)]
    network: NetworkPreset,
}

#[derive(Serialize)]
struct Registered<'a> {
    registry: &'a PathBuf,
    created: bool,
    index: u32,
    limit: u32,
    commitment: String,
    root: String,
}

pub(super) fn run(args: &Args, json: bool) -> Result<(), Failure> {
    // Everything that can be wrong on the way is found before a registry is made.
    let identity = IdentityFile::read(&args.identity);
    let identity = identity.map_err(|error| Failure::new(error.to_string()))?;
    let created = registry::is_absent(&args.registry)?;
    let most = network::max_limit(&args.network)?;
    if let (true, Some(limit)) = (created, args.limit)
        && limit > most
    {
        return Err(Failure::at(
            &args.registry,
            format!(
                "a new registry for network {} gives no limit of {limit}",
                args.network.name
            ),
        )
        .with_help(format!("give --limit 1 to {most}, or leave it away")));
    }
    let members = SqliteRegistry::open_or_create(&args.registry, most)
        .map_err(|error| Failure::new(error.to_string()))?;
    let limit = args.limit.unwrap_or_else(|| members.max_limit());
    let failed = registry::failed(&args.registry);
    let index = members
        .register(identity.commitment(), limit)
        .map_err(&failed)?;
    let registered = Registered {
        registry: &args.registry,
        created,
        index: index.get(),
        limit,
        commitment: element(&identity.commitment()),
        root: element(&members.tree().map_err(&failed)?.root()),
    };
    output::print(&registered, json)
}

impl fmt::Display for Registered<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let new = if self.created { " (new)" } else { "" };
        output::fields(
            f,
            &[
                ("registry", &format!("{}{new}", self.registry.display())),
                ("index", &self.index),
                ("limit", &format!("{} messages per epoch", self.limit)),
                ("commitment", &self.commitment),
                ("root", &self.root),
            ],
        )
    }
}
