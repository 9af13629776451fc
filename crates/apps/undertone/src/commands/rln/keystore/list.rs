//! `undertone rln keystore new` and `list`: create a keystore, and list its credentials.

use std::fmt;
use std::path::PathBuf;

use serde::Serialize;
use undertone_rln::{CredentialKey, Keystore};

use super::{Failure, failed};
use crate::commands::output;

#[derive(clap::Args, Debug)]
pub(super) struct Args {
    /// File of the keystore
    #[arg(long, value_name = "FILE", default_value = "rln-keystore.json")]
    keystore: PathBuf,
}

#[derive(Serialize)]
struct Listed<'a> {
    keystore: &'a PathBuf,
    credentials: Vec<CredentialKey>,
}

pub(super) fn new(args: &Args, json: bool) -> Result<(), Failure> {
    let keystore = Keystore::new();
    keystore.create(&args.keystore).map_err(failed)?;
    print(args, &keystore, json)
}

pub(super) fn list(args: &Args, json: bool) -> Result<(), Failure> {
    let keystore = Keystore::read(&args.keystore).map_err(failed)?;
    print(args, &keystore, json)
}

fn print(args: &Args, keystore: &Keystore, json: bool) -> Result<(), Failure> {
    let listed = Listed {
        keystore: &args.keystore,
        credentials: keystore.keys().cloned().collect(),
    };
    output::print(&listed, json)
}

impl fmt::Display for Listed<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        output::fields(f, &[("keystore", &self.keystore.display())])?;
        self.credentials
            .iter()
            .try_for_each(|key| output::fields(f, &[("credential", key)]))
    }
}
