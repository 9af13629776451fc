//! The laboratory: scenario files, closed-form models, reports, published figures.
//!
//! [`scenario`] turns files into the input of `undertone_sim`, [`run`] simulates it, [`report`] turns the results into
//! tables and files, [`model`] predicts the same figures without running anything, and [`compare`] sets our figures
//! beside published ones. [`sweep`] runs one scenario over values of its keys. [`validity`] lists the mechanisms of a
//! run that were never validated. [`experiment`] does all of that for each publication, [`record`] holds the results,
//! and [`export`] writes them for other programs; the crate `undertone-pages` draws them. The feature `arrow` adds
//! results as Arrow tables; the feature `mpi` spreads one run over the processes of a cluster.

pub mod anonymity;
pub mod compare;
pub mod experiment;
pub mod export;
pub mod model;
pub mod published;
#[cfg(feature = "mpi")]
pub mod ranks;
pub mod record;
pub mod report;
pub mod run;
pub mod scenario;
pub mod sweep;
#[cfg(feature = "arrow")]
pub mod tables;
pub mod validity;
