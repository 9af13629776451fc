//! Lightpush v2 and v3: publishing on behalf of light clients.
//!
//! [`LightpushServer`] serves clients of both versions; clients use the frames [`PushRequest`] and
//! [`PushResponse`], or those of [`legacy`].

mod codec;
mod io;
pub mod legacy;
mod refusal;
mod server;

pub use codec::{CodecLimits, PushRequest, PushResponse, Status};
pub use io::{Input, Limits, Output, Stats, Usage, Version};
pub use refusal::PublishRefusal;
pub use server::LightpushServer;

/// Identifier of lightpush v3.
pub const PROTOCOL_ID: &str = "/vac/waku/lightpush/3.0.0";
