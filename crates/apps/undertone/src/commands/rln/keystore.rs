//! `undertone rln keystore`: memberships in an encrypted file that nwaku can read too.

mod list;
pub(crate) mod password;
mod transfer;

use std::fmt;
use std::path::PathBuf;

use clap::Subcommand;
use serde::Serialize;
use undertone_rln::prover::os_rng;
use undertone_rln::{CredentialKey, Keystore, KeystoreError};

use super::{Failure, element, registry};
use crate::commands::output;

/// Keystore file and password source. A password is never a flag, because other users can read flags.
#[derive(clap::Args, Debug)]
struct Common {
    /// File of the keystore
    #[arg(long, value_name = "FILE", default_value = "rln-keystore.json")]
    keystore: PathBuf,
    /// File whose first line is the password [default: UNDERTONE_KEYSTORE_PASSWORD, or a prompt]
    #[arg(long, value_name = "FILE")]
    password_file: Option<PathBuf>,
}

#[derive(clap::Args, Debug)]
#[command(arg_required_else_help = true)]
pub(super) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand, Debug)]
enum Command {
    /// Create a keystore without credentials
    New(list::Args),
    /// List the names of the credentials; needs no password
    List(list::Args),
    /// Encrypt an identity and its membership into a keystore, which is created if absent
    Import(transfer::ImportArgs),
    /// Decrypt a credential: prints its membership, writes its identity to a new file
    Export(transfer::ExportArgs),
    /// Encrypt all credentials under another password
    Password(PasswordArgs),
}

#[derive(clap::Args, Debug)]
struct PasswordArgs {
    #[command(flatten)]
    common: Common,
    /// File whose first line is the new password
    /// [default: UNDERTONE_KEYSTORE_NEW_PASSWORD, or a prompt]
    #[arg(long, value_name = "FILE")]
    new_password_file: Option<PathBuf>,
}

#[derive(Serialize)]
struct Changed<'a> {
    keystore: &'a PathBuf,
    credentials: usize,
}

pub(super) fn run(args: &Args, json: bool) -> Result<(), Failure> {
    match &args.command {
        Command::New(args) => list::new(args, json),
        Command::List(args) => list::list(args, json),
        Command::Import(args) => transfer::import(args, json),
        Command::Export(args) => transfer::export(args, json),
        Command::Password(args) => change_password(args, json),
    }
}

fn change_password(args: &PasswordArgs, json: bool) -> Result<(), Failure> {
    let path = &args.common.keystore;
    let mut keystore = Keystore::read(path).map_err(failed)?;
    let old = password::present(args.common.password_file.as_deref())?;
    let new = password::new(args.new_password_file.as_deref())?;
    let mut rng = os_rng().map_err(no_randomness)?;
    keystore
        .change_password(&old, &new, &mut rng)
        .and_then(|()| keystore.replace(path))
        .map_err(failed)?;
    let credentials = keystore.keys().len();
    let changed = Changed {
        keystore: path,
        credentials,
    };
    output::print(&changed, json)
}

/// Returns the credential named by `key`, or the only one of the keystore.
fn chosen(keystore: &Keystore, key: Option<&CredentialKey>) -> Result<CredentialKey, Failure> {
    if let Some(key) = key {
        return Ok(key.clone());
    }
    let mut keys = keystore.keys();
    match (keys.next(), keys.len()) {
        (Some(only), 0) => Ok(only.clone()),
        (None, _) => Err(Failure::new("the keystore has no credentials")
            .with_help("add one: undertone rln keystore import")),
        (Some(_), more) => {
            let message = format!("the keystore has {} credentials", more + 1);
            Err(Failure::usage(message).with_help("choose one of `list` with --key"))
        }
    }
}

fn failed(error: KeystoreError) -> Failure {
    Failure::new(error.to_string())
}

fn no_randomness(error: impl fmt::Display) -> Failure {
    Failure::new(format!("the system's random generator: {error}"))
        .with_help("encryption needs randomness; try again when the system has started up")
}

impl fmt::Display for Changed<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        output::fields(
            f,
            &[
                ("keystore", &self.keystore.display()),
                ("credentials", &self.credentials),
            ],
        )
    }
}
