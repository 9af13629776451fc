//! `undertone rln keygen`: creates an identity.

use std::fmt;
use std::path::PathBuf;

use serde::Serialize;
use undertone_rln::{Identity, IdentityFile};
use zeroize::Zeroizing;

use super::{Failure, element};
use crate::commands::output;

#[derive(clap::Args, Debug)]
pub(super) struct Args {
    /// New file for the identity; anyone who can read it can publish as the member
    #[arg(long, value_name = "FILE", default_value = "rln-identity.json")]
    out: PathBuf,
}

#[derive(Serialize)]
struct Made<'a> {
    identity: &'a PathBuf,
    commitment: String,
}

pub(super) fn run(args: &Args, json: bool) -> Result<(), Failure> {
    let mut seed = Zeroizing::new([0; 32]);
    getrandom::fill(seed.as_mut_slice()).map_err(|error| {
        Failure::new(format!("the system's random generator: {error}"))
            .with_help("an identity needs randomness; try again when the system has started up")
    })?;
    let identity = Identity::from_seed(seed.as_slice());
    IdentityFile::write(&args.out, &identity).map_err(|error| Failure::new(error.to_string()))?;
    let made = Made {
        identity: &args.out,
        commitment: element(&identity.commitment()),
    };
    output::print(&made, json)
}

impl fmt::Display for Made<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        output::fields(
            f,
            &[
                ("identity", &self.identity.display()),
                ("commitment", &self.commitment),
            ],
        )
    }
}
