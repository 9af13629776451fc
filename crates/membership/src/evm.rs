//! The registry that is a contract on an EVM chain.
//!
//! [`EvmRegistry`] keeps the whole tree, from the contract's events: `follow` decides what to ask,
//! `rpc` asks it of one of several endpoints and checks the answer's form, `store` keeps the result,
//! and `worker` is the thread between them. [`LightRegistry`] keeps roots and one path, which the
//! contract is asked for.

mod abi;
mod background;
mod chain;
mod file;
mod follow;
mod health;
mod light;
mod registry;
mod rpc;
mod signals;
mod store;
mod worker;

pub use alloy::primitives::Address;
pub use chain::Contract;
pub use health::{Health, Status};
pub use light::{LightRegistry, LightView};
pub use registry::{EvmConfig, EvmError, EvmRegistry, Mode};
pub use rpc::{EndpointCosts, Fault, RpcCosts, RpcError, RpcLimits};
