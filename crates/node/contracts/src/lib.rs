//! Membership contract on an Ethereum-like chain: its artifacts, bindings and transactions.
//!
//! [`abi`] lists the contract's functions, events and errors. An [`Account`] signs and sends
//! transactions and waits for their receipts; [`deploy()`] deploys the contract with a test token;
//! [`Membership`] is a deployed contract, with the operations of holders and slashers. [`DevChain`]
//! starts a private development chain.
//!
//! The membership crate follows the chain; this crate does not.

pub mod abi;
pub mod account;
pub mod artifact;
pub mod deploy;
pub mod devchain;
pub mod error;
pub mod field;
pub mod many_members;
pub mod membership;
pub mod refusal;
mod transport;

pub use account::{Account, Mined, reader};
/// Types of `alloy` that appear in this crate's interface.
pub use alloy::primitives::{Address, TxHash, U256};
pub use alloy::signers::local::PrivateKeySigner;
pub use artifact::{Artifact, ArtifactError};
pub use deploy::{ContractTerms, Deployment, deploy, deploy_older};
pub use devchain::{DevChain, DevChainError, DevChainOptions};
pub use error::ChainError;
pub use field::{field_from_word, word_from_field};
pub use many_members::deploy_with_members;
pub use membership::{Membership, MembershipInfo, MembershipPhase, Registered, Reward, Slashed};
pub use refusal::Refusal;
