//! `undertone rln keystore import` and `export`: move identities into and out of a keystore.

use std::fmt;
use std::path::PathBuf;

use serde::Serialize;
use undertone_membership::MemberIndex;
use undertone_rln::prover::os_rng;
use undertone_rln::{CredentialKey, IdentityFile, Keystore, KeystoreCredential};

use super::{Common, Failure, chosen, element, failed, no_randomness, password, registry};
use crate::commands::output;

#[derive(clap::Args, Debug)]
pub(super) struct ImportArgs {
    #[command(flatten)]
    common: Common,
    /// File of the identity, from `undertone rln keygen`
    #[arg(long, value_name = "FILE")]
    identity: PathBuf,
    /// Chain id of the membership contract's chain
    #[arg(long, value_name = "N")]
    chain_id: u64,
    /// Address of the membership contract, spelled as in the configuration of the node that will read
    /// the keystore, because it is part of the credential's name
    #[arg(long, value_name = "0xADDRESS", value_parser = parse_address)]
    contract: String,
    /// Index of the member in the membership tree
    #[arg(long, value_name = "N", value_parser = registry::parse_index)]
    index: MemberIndex,
    /// Messages per epoch, as registered
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=65_535))]
    limit: u32,
}

#[derive(clap::Args, Debug)]
pub(super) struct ExportArgs {
    #[command(flatten)]
    common: Common,
    /// Name of the credential [default: the only one]
    #[arg(long, value_name = "KEY")]
    key: Option<CredentialKey>,
    /// New file for the identity; anyone who can read it can publish as the member
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
}

#[derive(Serialize)]
struct Membership<'a> {
    keystore: &'a PathBuf,
    credential: CredentialKey,
    chain_id: String,
    contract: String,
    index: u32,
    limit: u32,
    commitment: String,
}

pub(super) fn import(args: &ImportArgs, json: bool) -> Result<(), Failure> {
    let path = &args.common.keystore;
    let identity = IdentityFile::read(&args.identity);
    let credential = KeystoreCredential {
        chain_id: args.chain_id.to_string(),
        contract: args.contract.clone(),
        tree_index: args.index.get(),
        limit: args.limit,
        identity: identity.map_err(|error| Failure::new(error.to_string()))?,
    };
    let exists = path.try_exists();
    let exists = exists.map_err(|error| Failure::at(path, error))?;
    let mut keystore = match exists {
        true => Keystore::read(path).map_err(failed)?,
        false => Keystore::new(),
    };
    let file = args.common.password_file.as_deref();
    // All credentials of a keystore share one password; a different one would be noticed only much later.
    let first = keystore.keys().next().cloned();
    let password = match &first {
        Some(first) => {
            let password = password::present(file)?;
            keystore.open(first, &password).map_err(failed)?;
            password
        }
        None => password::first(file)?,
    };
    let mut rng = os_rng().map_err(no_randomness)?;
    keystore
        .add(&credential, &password, &mut rng)
        .and_then(|_| match exists {
            true => keystore.replace(path),
            false => keystore.create(path),
        })
        .map_err(failed)?;
    output::print(&Membership::of(path, &credential), json)
}

pub(super) fn export(args: &ExportArgs, json: bool) -> Result<(), Failure> {
    let path = &args.common.keystore;
    let keystore = Keystore::read(path).map_err(failed)?;
    let key = chosen(&keystore, args.key.as_ref())?;
    let password = password::present(args.common.password_file.as_deref())?;
    let credential = keystore.open(&key, &password).map_err(failed)?;
    IdentityFile::write(&args.out, &credential.identity)
        .map_err(|error| Failure::new(error.to_string()))?;
    output::print(&Membership::of(path, &credential), json)
}

fn parse_address(text: &str) -> Result<String, String> {
    let digits = text.strip_prefix("0x").unwrap_or("");
    let is_address = digits.len() == 40 && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_address
        .then(|| text.to_owned())
        .ok_or_else(|| "an address is 0x and 40 hexadecimal digits".to_owned())
}

impl<'a> Membership<'a> {
    fn of(keystore: &'a PathBuf, credential: &KeystoreCredential) -> Self {
        Self {
            keystore,
            credential: credential.key(),
            chain_id: credential.chain_id.clone(),
            contract: credential.contract.clone(),
            index: credential.tree_index,
            limit: credential.limit,
            commitment: element(&credential.identity.commitment()),
        }
    }
}

impl fmt::Display for Membership<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        output::fields(
            f,
            &[
                ("keystore", &self.keystore.display()),
                ("credential", &self.credential),
                ("chain", &self.chain_id),
                ("contract", &self.contract),
                ("index", &self.index),
                ("limit", &format!("{} messages per epoch", self.limit)),
                ("commitment", &self.commitment),
            ],
        )
    }
}
