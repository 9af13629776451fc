//! Store v3 (`/vac/waku/store-query/3.0.0`): wire messages, the server, and paging for clients.
//!
//! A client opens a stream, writes one request and reads one response. [`StoreRequest`] and [`StoreResponse`]
//! are the two messages. [`StoreServer`] answers requests from an archive that the driver holds.
//! [`HistoryReader`] requests page after page and trusts no server. [`resume`] plans what a node requests
//! after downtime, and [`PageComparison`] compares a page with what another store has.

mod comparison;
mod limits;
pub mod reader;
pub mod request;
pub mod response;
pub mod resume;
pub mod server;
#[cfg(test)]
mod vectors;

pub use comparison::PageComparison;
pub use limits::{ReaderLimits, ServerLimits, StoreLimits};
pub use reader::{HistoryReadError, HistoryReader, ReadPage};
pub use request::{RequestError, StoreRequest};
pub use response::{ResponseError, StoreResponse, StoreStatus};
pub use server::StoreServer;

/// Identifier of the Store v3 protocol.
pub const PROTOCOL_ID: &str = "/vac/waku/store-query/3.0.0";
