//! Lightpush v2 and v3: publishing on behalf of light clients.

mod codec;
pub mod legacy;

pub use codec::{CodecLimits, PushRequest, PushResponse, Status};

/// Identifier of lightpush v3.
pub const PROTOCOL_ID: &str = "/vac/waku/lightpush/3.0.0";
