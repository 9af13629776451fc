#![doc = include_str!("../README.md")]

mod boundary;
mod calls;
mod nodes;
mod status;

#[cfg(test)]
mod tests;

pub use boundary::undertone_string_free;
pub use calls::*;
pub use nodes::NodeHandle;
pub use status::UndertoneStatus;
