//! Dissemination strategies: which peers get a copy of a message, and when.
//!
//! A custom strategy implements [`Strategy`] in its own crate, see `examples/custom_strategy.rs`. A built-in one
//! takes a file here, a variant of [`StrategyKind`] with its name in `kind.rs`, an arm in `choice.rs`, and a
//! scenario.
//!
//! Fragmentation does not choose receivers and has its own module, `fragments`.

mod checked;
mod choice;
mod dandelion;
mod eager_mesh;
mod flood;
mod interface;
mod kind;
mod reduced;
mod send_plan;
mod staggered;
mod view;

pub use choice::StrategyChoice;
pub use interface::{Strategy, StrategyFactory};
pub use kind::{StrategyKind, UnknownStrategy};
pub use send_plan::SendPlan;
pub use view::View;
