//! Versions of lightpush.

/// Version of the protocol on which a request came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PushVersion {
    /// Legacy version, [`legacy::PROTOCOL_ID`](super::legacy::PROTOCOL_ID).
    V2,
    /// Current version, [`PROTOCOL_ID`](super::PROTOCOL_ID).
    V3,
}
