//! Reports of runs, for people and programs.

mod attack;
mod campaign;
mod datasets;
mod deliveries;
mod files;
mod groups;
mod histogram;
mod measure;
mod memory;
mod netviz;
mod origin;
mod progress;
mod services;
mod services_text;
mod stats;
mod summary;
mod text;

#[cfg(test)]
pub(crate) mod tests;

pub(crate) use attack::ATTACK_COLUMNS;
pub use attack::{AttackSummary, DEADLINE_MS, MembershipSummary, attack_table, mesh_shares};
pub use campaign::{Campaign, Median};
#[cfg(feature = "arrow")]
pub(crate) use datasets::{ColumnValues, DatasetTable, copies, links, nodes, traffic};
pub use datasets::{DATASETS, DatasetChoice, TRAFFIC_EVERY_MS, write_datasets};
pub use deliveries::{DeliveriesError, write_deliveries};
pub use files::{WriteError, write_rank, write_run, write_summary};
#[cfg(feature = "arrow")]
pub(crate) use groups::group_names;
pub use groups::{GroupSummary, group_table};
pub use measure::{RunCosts, Stopwatch};
pub use memory::{available_bytes, estimated_bytes};
pub use netviz::write_netviz;
#[cfg(feature = "arrow")]
pub(crate) use origin::origin;
pub use progress::ProgressLine;
pub use services::{
    BytesPerMessage, MessageWays, ReadingFigures, RequestFigures, SendFigures, ServicesSummary,
    StoreRecovery, TroubleFigures,
};
pub use stats::{Latency, Sorted, median};
pub use summary::{Bytes, KindTotal, MeshDegreeSummary, PerMessage, Summary, WarmUp};
pub use summary::{by_message, latency_ms};
pub(crate) use text::{align, new_table};
