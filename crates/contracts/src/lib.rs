//! The membership contract on an Ethereum-like chain: its artifacts, its bindings, transactions.
//!
//! [`abi`] lists what the contract understands. An [`Account`] signs and sends transactions and
//! waits for their receipts; [`deploy()`] puts the contract with a test token on a chain; a
//! [`Membership`] is a deployed one and what a holder or a slasher does with it. [`DevChain`] starts
//! a chain of one's own.
//!
//! Following the chain is not done here.

pub mod abi;
pub mod account;
pub mod artifact;
pub mod crowd;
pub mod deploy;
pub mod devchain;
pub mod error;
pub mod field;
pub mod membership;
pub mod refusal;

pub use account::{Account, Mined, reader};
/// Types of `alloy` that appear here.
pub use alloy::primitives::{Address, TxHash, U256};
pub use alloy::signers::local::PrivateKeySigner;
pub use artifact::{Artifact, ArtifactError};
pub use crowd::crowd;
pub use deploy::{Deployment, Terms, deploy, deploy_older};
pub use devchain::{DevChain, DevChainError, DevChainOptions};
pub use error::ChainError;
pub use field::{field_from_word, word_from_field};
pub use membership::{Info, Membership, Registered, Reward, Slashed, State};
pub use refusal::Refusal;
