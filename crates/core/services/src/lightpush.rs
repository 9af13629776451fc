//! Lightpush v2 and v3: publishing on behalf of light clients.
//!
//! [`LightpushServer`] serves clients of both versions; clients use the frames [`LightpushRequest`] and
//! [`LightpushResponse`], or those of [`legacy`].

mod codec;
mod io;
pub mod legacy;
mod refusal;
mod server;
mod version;

pub use codec::{LightpushCodecLimits, LightpushRequest, LightpushResponse, LightpushStatus};
pub use io::{Input, LightpushLimits, LightpushStats, LightpushUsage, Output};
pub use refusal::PublishRefusal;
pub use server::LightpushServer;
pub use version::PushVersion;

/// Identifier of lightpush v3.
pub const PROTOCOL_ID: &str = "/vac/waku/lightpush/3.0.0";
