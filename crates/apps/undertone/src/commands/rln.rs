//! `undertone rln`: identities, memberships, and proofs made and verified without a node.
//!
//! Field elements (commitments, roots, nullifiers) are printed as in identity files and on the
//! wire: 64 hex digits, little-endian.

#[cfg(feature = "lab")]
mod bench;
mod claim;
mod files;
mod holder;
mod keygen;
pub(crate) mod keystore;
mod list;
pub(crate) mod network;
mod prove;
mod register;
pub(crate) mod registry;
mod remove;
mod slash;
mod status;
mod verdict;
mod verify;

use clap::Subcommand;
use undertone_rln::{Fr, fr_to_le};

use super::Failure;

/// Flags of `undertone rln`.
#[derive(clap::Args, Debug)]
#[command(arg_required_else_help = true)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
    /// Print one JSON object
    #[arg(long, global = true)]
    json: bool,
}

#[derive(Subcommand, Debug)]
enum Command {
    /// Create a new identity file
    Keygen(keygen::Args),
    /// Register an identity as a member; creates the registry file if absent
    Register(register::Args),
    /// List the members of a registry
    List(list::Args),
    /// Remove a member from a registry
    Remove(remove::Args),
    /// Memberships in an encrypted file: new, list, import, export, password
    Keystore(keystore::Args),
    /// Make a message with its rate-limit proof
    Prove(prove::Args),
    /// Validate a message as a relay does, except for the nullifier log
    Verify(verify::Args),
    /// Show a membership on a chain: state, terms, deposit
    Status(status::Args),
    /// Extend a membership on a chain, in its grace period
    Extend(holder::Member),
    /// Erase a membership on a chain: your own in its grace period, anyone's after it
    Erase(holder::Erase),
    /// Withdraw the deposit of memberships that were erased
    Withdraw(holder::Withdraw),
    /// Remove a member that exceeded its limit from the chain, for a share of its deposit
    Slash(slash::Args),
    /// Claim the reward for slashing, once the slashed member's active period has ended
    Claim(claim::Args),
    #[cfg(feature = "lab")]
    /// Measure proofs, hashing, tree and memory on this machine, beside the published figures
    Bench(bench::Args),
}

/// Runs one of the subcommands.
pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let json = args.json;
    match &args.command {
        Command::Keygen(args) => keygen::run(args, json),
        Command::Register(args) => register::run(args, json),
        Command::List(args) => list::run(args, json),
        Command::Remove(args) => remove::run(args, json),
        Command::Keystore(args) => keystore::run(args, json),
        Command::Prove(args) => prove::run(args, json),
        Command::Verify(args) => verify::run(args, json),
        Command::Status(args) => status::run(args, json),
        Command::Extend(args) => holder::extend(args, json),
        Command::Erase(args) => holder::erase(args, json),
        Command::Withdraw(args) => holder::withdraw(args, json),
        Command::Slash(args) => slash::run(args, json),
        Command::Claim(args) => claim::run(args, json),
        #[cfg(feature = "lab")]
        Command::Bench(args) => bench::run(args, json),
    }
}

/// Formats a field element as all commands print it: 64 hex digits, little-endian.
pub(super) fn element(element: &Fr) -> String {
    hex::encode(fr_to_le(element))
}
