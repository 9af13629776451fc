//! `undertone migrate nwaku`: converts flags, keys, membership and archive of the reference node to a folder for
//! ours.

use std::fmt;
use std::path::PathBuf;

use comfy_table::{ContentArrangement, Table, presets};
use serde::Serialize;
use undertone_migrate::{FlagOutcome, MigrateError, Migration, MigrationReport, NwakuSources};
use zeroize::Zeroizing;

use super::Failure;
use crate::commands::output;
use crate::commands::progress::Spinner;
use crate::commands::rln::keystore::password;

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
    /// Variables of the script or compose file, NAME=value a line, usually .env; LOGOS_DELIVERY_NODE_* and WAKUNODE2_*
    /// among them are flags
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
    /// Release of the node, such as 0.38, if neither image nor program says it: defaults of flags depend on it
    #[arg(long, value_name = "RELEASE")]
    release: Option<String>,
    /// Folder to make: undertone.toml, and the folder data with keys and archive
    #[arg(long, value_name = "DIR")]
    output: PathBuf,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

/// Runs the migration. All faults of the sources are found before the first file is written.
pub(super) fn run(args: &Args) -> Result<(), Failure> {
    let mut migration = Migration::read(&args.sources()).map_err(failure)?;
    if let Some(path) = &args.keystore {
        let keystore = migration.find_keystore(path).map_err(failure)?;
        let password = match (&args.keystore_password_file, keystore.password_of_flags()) {
            (None, Some(password)) => Zeroizing::new(password.to_vec()),
            (file, _) => password::present(file.as_deref())?,
        };
        migration
            .open_keystore(&keystore, &password)
            .map_err(failure)?;
    }
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| Failure::new(format!("cannot start: {error}")))?;
    let spinner = Spinner::new(!args.json);
    let progress = |read, all| spinner.say(format!("{read} of {all} messages"));
    let written = runtime.block_on(migration.write(progress));
    spinner.finish();
    output::print(&Printed(written.map_err(failure)?), args.json)
}

impl Args {
    fn sources(&self) -> NwakuSources {
        NwakuSources {
            flags: self.flags.clone(),
            compose: self.compose.clone(),
            toml: self.toml.clone(),
            env: self.env.clone(),
            node_key_file: self.node_key_file.clone(),
            archive: self.archive.clone(),
            release: self.release.clone(),
            output: self.output.clone(),
        }
    }
}

fn failure(error: MigrateError) -> Failure {
    let message = error.to_string();
    let failure = match error {
        MigrateError::NoRateLimit | MigrateError::NoSource | MigrateError::Release { .. } => {
            Failure::usage(message)
        }
        _ => Failure::new(message),
    };
    match error.remedy() {
        Some(remedy) => failure.with_help(remedy),
        None => failure,
    }
}

/// Text form of a migration's report.
#[derive(Serialize)]
struct Printed(MigrationReport);

impl fmt::Display for Printed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(report) = self;
        if !report.flags.is_empty() {
            let mut table = Table::new();
            table
                .load_preset(presets::NOTHING)
                .set_content_arrangement(ContentArrangement::Dynamic)
                .set_header(["flag", "value", "becomes", "remark"]);
            for line in &report.flags {
                let becomes = match line.outcome {
                    FlagOutcome::Kept => line.becomes.as_str(),
                    FlagOutcome::NotNeeded => "(not needed)",
                    FlagOutcome::NoCounterpart => "NO COUNTERPART",
                    FlagOutcome::BadValue => "BAD VALUE",
                    FlagOutcome::Unknown => "UNKNOWN FLAG",
                };
                let remark = match line.outcome {
                    FlagOutcome::BadValue | FlagOutcome::Unknown => {
                        format!("{} ({})", line.remark, line.place)
                    }
                    _ => line.remark.clone(),
                };
                table.add_row([&line.flag, &line.value, becomes, &remark]);
            }
            writeln!(f, "{table}")?;
        }
        for remark in &report.remarks {
            writeln!(f, "note: {remark}")?;
        }
        if let Some(peer_id) = &report.peer_id {
            writeln!(f, "node key: moved; the peer id stays {peer_id}")?;
        }
        if let Some(member) = &report.membership {
            writeln!(f, "membership: {member}")?;
        }
        if let Some(archive) = &report.archive {
            writeln!(f, "archive: {archive}")?;
        }
        let config = report.output.join("undertone.toml");
        write!(
            f,
            "next: undertone node --config-file {} --check",
            config.display()
        )
    }
}
