//! Sweeps: one scenario over values of its keys and over seeds, as a file describes it.
//!
//! [`Sweep::load`] reads the file and [`Sweep::points`] lists the points. [`SweepWork`] makes the missing runs.
//! [`SweepFolder`] keeps the rows of each run in a file named by a hash of scenario, seed and program version.
//! [`SweepReport`] summarises the runs in the folder.

mod axis;
mod error;
mod file;
mod folder;
mod limits;
mod points;
mod report;
mod statistics;
mod table;
mod work;

#[cfg(test)]
#[path = "tests/sweep.rs"]
mod tests;

pub use axis::{SweepScale, SweptKey};
pub use error::SweepError;
pub use file::{Sampling, Sweep};
pub use folder::{RunFigures, SweepFolder, SweepFolderError, run_name, write_rows};
pub use limits::{MAX_POINTS, MAX_RUNS};
pub use points::{ShardError, SweepPoint, SweepShard};
pub use report::{SweepReport, SweepRun};
pub use statistics::{Band, median_band};
pub use table::{SweepColumn, SweepRow, SweepTable};
pub use work::{FailedRun, RunToMake, SweepProgress, SweepWork, WorkDone};
