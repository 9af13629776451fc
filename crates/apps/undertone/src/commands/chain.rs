//! Flags and helpers of the commands that talk to a chain.

use std::env;
use std::future::Future;
use std::path::{Path, PathBuf};

use undertone_contracts::{Account, ChainError, Membership, PrivateKeySigner, reader};
use undertone_membership::evm::ContractName;
use undertone_rln::durable::read_bounded_text;
use zeroize::Zeroizing;

use super::Failure;

/// Environment variable that holds the key if no file is named.
const KEY_VARIABLE: &str = "UNDERTONE_ETH_KEY";
/// Longest key file that is read, bytes: 64 digits, `0x`, and white space around them.
const MAX_KEY_FILE_BYTES: u64 = 128;

/// RPC endpoint of a chain.
#[derive(clap::Args, Debug)]
pub(crate) struct Endpoint {
    /// RPC endpoint of the chain, like http://127.0.0.1:8545
    #[arg(long, value_name = "URL")]
    pub(crate) rpc: String,
}

/// Address and RPC endpoint of a membership contract.
#[derive(clap::Args, Debug)]
pub(crate) struct ContractArgs {
    #[command(flatten)]
    endpoint: Endpoint,
    /// Membership contract: its address, or eip155:CHAIN:ADDRESS
    #[arg(long, value_name = "ADDRESS")]
    contract: ContractName,
}

/// Account that signs transactions. A key is never a flag, because all users of a machine can read flags.
#[derive(clap::Args, Debug)]
pub(crate) struct KeyArgs {
    /// File with the private key of the account, 64 hex digits [default: the environment's
    /// UNDERTONE_ETH_KEY]
    #[arg(long, value_name = "FILE")]
    eth_key_file: Option<PathBuf>,
}

impl ContractArgs {
    /// Creates the flags' value from an endpoint's URL and a contract.
    pub(crate) fn at(rpc: String, contract: ContractName) -> Self {
        let endpoint = Endpoint { rpc };
        Self { endpoint, contract }
    }

    /// Opens the contract read-only.
    pub(crate) fn open(&self) -> Result<Membership, Failure> {
        let provider = reader(&self.endpoint.rpc).map_err(failed)?;
        let contract = Membership::new(provider, self.contract.address);
        if let Some(named) = self.contract.chain_id {
            let found = wait(contract.chain_id())?;
            if found != named {
                return Err(Failure::new(format!(
                    "--contract {}: {} is of chain {found}",
                    self.contract, self.endpoint.rpc
                ))
                .with_help("name an endpoint of the contract's chain with --rpc"));
            }
        }
        Ok(contract)
    }

    /// Returns the signing account at the same endpoint.
    pub(crate) fn account(&self, key: &KeyArgs) -> Result<Account, Failure> {
        key.account(&self.endpoint)
    }
}

impl KeyArgs {
    /// Returns the account of this key, connected to the endpoint.
    pub(crate) fn account(&self, endpoint: &Endpoint) -> Result<Account, Failure> {
        Account::connect(&endpoint.rpc, self.read()?).map_err(failed)
    }

    fn read(&self) -> Result<PrivateKeySigner, Failure> {
        match &self.eth_key_file {
            Some(path) => parse(&read(path)?).ok_or_else(|| {
                Failure::at(path, "not a private key").with_help("it has 64 hex digits")
            }),
            None => {
                let text = env::var(KEY_VARIABLE).map(Zeroizing::new).map_err(|_| {
                    Failure::usage("no key to sign with")
                        .with_help(format!("give --eth-key-file FILE, or set {KEY_VARIABLE}"))
                })?;
                parse(&text).ok_or_else(|| {
                    Failure::usage(format!("{KEY_VARIABLE} is not a private key"))
                        .with_help("it has 64 hex digits")
                })
            }
        }
    }
}

/// Runs a chain request to completion in a runtime of its own.
pub(crate) fn wait<T>(work: impl Future<Output = Result<T, ChainError>>) -> Result<T, Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| Failure::new(format!("cannot start: {error}")))?;
    runtime.block_on(work).map_err(failed)
}

/// Converts a chain error into a failure without help text: chain errors name their remedy themselves.
pub(crate) fn failed(error: ChainError) -> Failure {
    match error {
        ChainError::Endpoint => Failure::usage(format!("--rpc: {error}")),
        error => Failure::new(error.to_string()),
    }
}

fn read(path: &Path) -> Result<Zeroizing<String>, Failure> {
    let text = read_bounded_text(path, MAX_KEY_FILE_BYTES);
    let text = text.map_err(|error| Failure::at(path, error))?;
    Ok(Zeroizing::new(text))
}

fn parse(text: &str) -> Option<PrivateKeySigner> {
    text.trim().parse().ok()
}
