//! The wire format: golden bytes, round trips, and limits against hostile bytes.

mod early;
mod golden;
mod limits;
mod roundtrip;

use bytes::Bytes;

use super::{Rpc, decode};
use crate::error::Malformed;
use crate::limits::Limits;

fn read(rpc: impl Into<Bytes>) -> Result<Rpc, Malformed> {
    decode(&rpc.into(), &Limits::default())
}
