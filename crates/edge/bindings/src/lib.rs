#![doc = include_str!("../README.md")]

mod base64_text;
mod configuration;
mod error;
mod history;
mod inbox;
mod listener;
mod messages;
mod node;
mod node_status;
mod sending;
mod topics;

#[cfg(test)]
mod tests;

pub use configuration::{KeyDescription, configuration_keys, enable_logging, version};
pub use error::NodeError;
pub use history::{MessagePage, StoreQuery};
pub use listener::{ListenerError, MessageListener};
pub use messages::{IncomingMessage, MessageReceipt, OutgoingMessage};
pub use node::UndertoneNode;
pub use node_status::{
    HealthDetails, NodeDetails, PeerDetails, ProtocolDetails, ReadinessState, RelayConnection,
};
pub use sending::{SendingReport, SendingStep};

uniffi::setup_scaffolding!("undertone");
