//! Sweeps: one scenario over values of its keys and over seeds, as a file describes it.
//!
//! [`Sweep::load`] reads the file, [`Sweep::points`] says what is to be run, [`SweepWork`] runs what is
//! missing, [`SweepFolder`] keeps the rows of each run in a file that is named by what was run, and [`SweepReport`] sums
//! up what is there.

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
