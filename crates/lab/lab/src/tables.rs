//! Results as Arrow tables in memory: the columns of `deliveries.parquet`, one row per message, the optional
//! datasets, and the tables of a sweep. Their metadata describe what was run.

mod columns;
mod run;
mod sweep;

pub use run::{copies, deliveries, links, messages, nodes, traffic};
pub use sweep::{sweep_points, sweep_runs};

#[cfg(test)]
#[path = "tests/tables.rs"]
mod tests;
