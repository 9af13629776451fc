//! `undertone rln register`: registers in a file that local nodes share, or in a contract on a chain.

mod contract;

use std::fmt;
use std::path::PathBuf;

use serde::Serialize;
use undertone_membership::SqliteRegistry;
use undertone_membership::evm::ContractName;
use undertone_message::NetworkPreset;
use undertone_rln::{Fr, IdentityFile};

use super::{Failure, element, network, registry};
use crate::commands::{chain, output};

#[derive(clap::Args, Debug)]
pub(super) struct Args {
    /// File of the registry; created if absent
    #[arg(long, value_name = "FILE", required_unless_present = "contract")]
    registry: Option<PathBuf>,
    /// Membership contract instead of a file: its address, or eip155:CHAIN:ADDRESS
    #[arg(
        long,
        value_name = "ADDRESS",
        requires = "rpc",
        conflicts_with_all = ["registry", "network"]
    )]
    contract: Option<ContractName>,
    /// RPC endpoint of the contract's chain, like http://127.0.0.1:8545
    #[arg(
        long,
        value_name = "URL",
        requires = "contract",
        conflicts_with = "registry"
    )]
    rpc: Option<String>,
    #[command(flatten)]
    key: chain::KeyArgs,
    /// Pay the contract's price without being asked
    #[arg(long, requires = "contract", conflicts_with = "registry")]
    yes: bool,
    /// File of the identity, from `undertone rln keygen`
    #[arg(long, value_name = "FILE")]
    identity: PathBuf,
    /// Messages per epoch [default: the greatest limit of a file, the least limit of a contract]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    limit: Option<u32>,
    /// Network whose greatest limit a new registry file takes
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
    let identity = IdentityFile::read(&args.identity);
    let identity = identity.map_err(|error| Failure::new(error.to_string()))?;
    match (&args.registry, &args.rpc, args.contract) {
        (Some(path), ..) => in_file(args, path, &identity.commitment(), json),
        (None, Some(rpc), Some(address)) => {
            let contract = chain::ContractArgs::at(rpc.clone(), address);
            contract::register(args, &contract, &identity.commitment(), json)
        }
        (None, ..) => Err(Failure::usage("no registry to register in")
            .with_help("give --registry FILE, or --rpc URL and --contract ADDRESS")),
    }
}

fn in_file(args: &Args, path: &PathBuf, commitment: &Fr, json: bool) -> Result<(), Failure> {
    // All input is checked before a registry is created.
    let created = registry::is_absent(path)?;
    let most = network::max_limit(&args.network)?;
    if let (true, Some(limit)) = (created, args.limit)
        && limit > most
    {
        return Err(Failure::at(
            path,
            format!(
                "a new registry for network {} gives no limit of {limit}",
                args.network.name
            ),
        )
        .with_help(format!("give --limit 1 to {most}, or leave it away")));
    }
    let members = SqliteRegistry::open_or_create(path, most)
        .map_err(|error| Failure::new(error.to_string()))?;
    let limit = args.limit.unwrap_or_else(|| members.max_limit());
    let failed = registry::failed(path);
    let index = members.register(*commitment, limit).map_err(&failed)?;
    let registered = Registered {
        registry: path,
        created,
        index: index.get(),
        limit,
        commitment: element(commitment),
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
