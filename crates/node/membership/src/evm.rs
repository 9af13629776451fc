//! Registry of members in a contract on an EVM chain.
//!
//! [`EvmRegistry`] keeps the whole tree, built from the contract's events: `follow` decides which
//! request is next, `rpc` sends it to one of several endpoints and checks the form of the answer,
//! `store` keeps the result, and `worker` is the thread that connects them. [`LightRegistry`] keeps
//! only recent roots and one member's path, which it requests from the contract.

mod abi;
mod background;
mod block_times;
mod chain;
mod config;
mod error;
mod file;
mod follow;
mod handle;
mod health;
mod light;
mod name;
mod registry;
mod rpc;
mod session;
mod signals;
mod store;
mod worker;

pub use alloy::primitives::Address;
pub use block_times::{BlockTimeError, BlockTimes};
pub use chain::Contract;
pub use config::{EvmConfig, Mode};
pub use error::EvmError;
pub use handle::ChainHandle;
pub use health::{ChainStatus, Health};
pub use light::{LightRegistry, LightView};
pub use name::{ContractName, ContractNameError};
pub use registry::EvmRegistry;
pub use rpc::{
    AnswerFault, EndpointCosts, EndpointUrl, RPC_SCHEMES, RpcCosts, RpcError, RpcLimits,
    without_credentials,
};
