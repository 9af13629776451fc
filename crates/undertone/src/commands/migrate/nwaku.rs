//! `undertone migrate nwaku`: flags, keys, membership and archive of the reference node become a folder for ours.

mod archive;
mod flags;
mod identity;
mod mapping;
mod place;
mod read;
mod report;
mod values;

use std::path::PathBuf;

use undertone_node::config::{NodeConfig, Sources};

use self::mapping::Mapped;
use self::place::MigrationFolder;
use self::read::{Found, ReadFault, Variables};
use self::report::MigrationReport;
use super::Failure;
use crate::commands::output;

/// Flags of `undertone migrate nwaku`.
#[derive(clap::Args, Debug)]
#[command(arg_required_else_help = true)]
pub(super) struct Args {
    /// Shell script or list with the flags of the node, such as run_node.sh; overrides --compose and --toml
    #[arg(long, value_name = "FILE")]
    flags: Option<PathBuf>,
    /// Compose file with the node's service; a script that it mounts is read too
    #[arg(long, value_name = "FILE")]
    compose: Option<PathBuf>,
    /// TOML file of the node, its --config-file
    #[arg(long, value_name = "FILE")]
    toml: Option<PathBuf>,
    /// Variables of the script or compose file, NAME=value a line, usually .env
    #[arg(long, value_name = "FILE")]
    env: Option<PathBuf>,
    /// File with the node key, 64 hexadecimal digits, if it is not among the flags
    #[arg(long, value_name = "FILE")]
    node_key_file: Option<PathBuf>,
    /// Keystore with the membership; the old node must be stopped
    #[arg(long, value_name = "FILE", requires = "old_node_is_stopped")]
    keystore: Option<PathBuf>,
    /// File whose first line is the keystore's password
    /// [default: the flag rln-relay-cred-password, UNDERTONE_KEYSTORE_PASSWORD, or a prompt]
    #[arg(long, value_name = "FILE", requires = "keystore")]
    keystore_password_file: Option<PathBuf>,
    /// Confirm that the old node is stopped and stays so: two nodes with one membership use the same message
    /// ids, which reveals the membership's secret
    #[arg(long)]
    old_node_is_stopped: bool,
    /// Message archive in SQLite, to be copied: a file, often store.sqlite3
    #[arg(long, value_name = "FILE")]
    archive: Option<PathBuf>,
    /// Folder to make: undertone.toml, and the folder data with keys and archive
    #[arg(long, value_name = "DIR")]
    output: PathBuf,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

/// Runs the migration: everything that can be wrong in the sources is found before the first file is written.
pub(super) fn run(args: &Args) -> Result<(), Failure> {
    let found = gather(args).map_err(|fault| Failure::new(fault.to_string()))?;
    let mut mapped = Mapped::of(&found.flags);
    let place = MigrationFolder::check(&args.output)?;
    let config = checked(&mapped.to_toml(&place.data))?;
    let key = identity::node_key(args.node_key_file.as_deref(), mapped.secret("nodekey"))?;
    let member = args.keystore.as_deref().map(|keystore| {
        let password = args.keystore_password_file.as_deref();
        identity::member(keystore, password, &mapped, config.rln.as_ref())
    });
    let member = member.transpose()?;
    if let Some(member) = &member {
        mapped.set_message_limit(member.limit());
    }
    let toml = mapped.to_toml(&place.data);
    checked(&toml)?;
    let source = args.archive.as_deref().map(archive::open).transpose()?;

    place.make()?;
    let mut report = MigrationReport::new(&args.output, mapped, found.remarks);
    if let Some(key) = key {
        report.peer_id = Some(identity::write_node_key(&config.node_key_file, &key)?);
    }
    if let Some(member) = member {
        report.membership = Some(identity::write_member(&member)?);
    }
    if let Some(source) = source {
        report.archive = Some(archive::copy(&source, &place.archive, !args.json)?);
    }
    // Last, so that a folder with this file is complete.
    place::write_new(&place.config, toml.as_bytes())?;
    output::print(&report, args.json)
}

/// Loads a configuration file of ours, which checks it.
fn checked(toml: &str) -> Result<NodeConfig, Failure> {
    let sources = Sources {
        text: Some(toml.to_owned()),
        ..Sources::default()
    };
    NodeConfig::load(&sources).map_err(|error| {
        Failure::new(format!(
            "the flags make no valid configuration of ours: {error}"
        ))
        .with_help("correct the flag that the error is about in a copy of the file, and give that")
    })
}

/// Reads all sources; what a later one sets replaces what an earlier one sets.
fn gather(args: &Args) -> Result<Found, ReadFault> {
    let environment = match &args.env {
        Some(path) => read::read_env(path)?,
        None => Variables::new(),
    };
    let mut all = Found::default();
    let mut add = |found: Found| {
        let is_set = |name: &str| found.flags.iter().any(|flag| flag.name == name);
        all.flags.retain(|flag| !is_set(&flag.name));
        all.flags.extend(found.flags);
        all.remarks.extend(found.remarks);
    };
    if let Some(path) = &args.toml {
        add(read::read_toml(path)?);
    }
    if let Some(path) = &args.env {
        let flags = read::flags_of(&environment, &path.display().to_string());
        add(Found {
            flags,
            remarks: Vec::new(),
        });
    }
    if let Some(path) = &args.compose {
        add(read::read_compose(path, &environment)?);
    }
    if let Some(path) = &args.flags {
        add(read::read_script(path, &environment)?);
    }
    Ok(all)
}
