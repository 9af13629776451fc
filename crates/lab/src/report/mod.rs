//! Reports of runs, for people and programs.

mod campaign;
mod deliveries;
mod files;
mod histogram;
mod measure;
mod memory;
mod origin;
mod progress;
mod services;
mod services_text;
mod stats;
mod summary;
mod text;

#[cfg(test)]
pub(crate) mod tests;

pub use campaign::{Campaign, Median};
pub use deliveries::{DeliveriesError, write_deliveries};
pub use files::{WriteError, write_rank, write_run, write_summary};
pub use measure::{RunCosts, Stopwatch};
pub use memory::{available_bytes, estimated_bytes};
#[cfg(feature = "arrow")]
pub(crate) use origin::origin;
pub use progress::ProgressLine;
pub use services::{
    BytesPerMessage, MessageWays, ReadingFigures, RequestFigures, SendFigures, ServicesSummary,
    StoreRecovery, TroubleFigures,
};
pub use stats::{Latency, Sorted, median};
pub use summary::{Bytes, KindTotal, MeshDegreeSummary, PerMessage, Summary, WarmUp};
pub(crate) use summary::{by_message, latency_ms};
pub(crate) use text::{align, new_table};
