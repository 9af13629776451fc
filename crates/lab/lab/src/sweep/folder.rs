//! Folder of a sweep: a Parquet file for each run, named by a hash of what was run.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use parquet::file::reader::{FileReader, SerializedFileReader};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use thiserror::Error;
use undertone_sim::Outcome;

use crate::report::{DeliveriesError, Summary, write_deliveries};
use crate::scenario::ResolvedScenario;

/// Hexadecimal digits of a name; 128 bits make a collision by chance negligible.
const NAME_DIGITS: usize = 32;
/// Key of the figures in a file's metadata.
pub(crate) const FIGURES: &str = "undertone.figures";

/// Figures of one run, available without reading its rows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunFigures {
    /// Deliveries that a network without faults would make.
    pub expected: u64,
    /// Deliveries that were made.
    pub delivered: u64,
    /// Median latency of the counted deliveries, milliseconds.
    pub p50_ms: Option<f64>,
    /// 95th percentile of the latency, milliseconds.
    pub p95_ms: Option<f64>,
    /// Largest latency, milliseconds.
    pub max_ms: Option<f64>,
    /// Copies received for each delivery.
    pub copies: Option<f64>,
    /// Bytes sent on the wire by all nodes.
    pub wire_bytes: u64,
    /// Deliveries to light clients; `None` without services.
    pub light_delivered: Option<u64>,
    /// Rules that were violated.
    pub violations: Vec<String>,
}

impl RunFigures {
    /// Takes the figures from the summary of a run.
    pub fn of(summary: &Summary) -> Self {
        let latency = summary.latency_ms.as_ref();
        Self {
            expected: summary.expected,
            delivered: summary.delivered,
            p50_ms: latency.map(|latency| latency.p50),
            p95_ms: latency.map(|latency| latency.p95),
            max_ms: latency.map(|latency| latency.max),
            copies: summary.bytes.copies_per_delivery,
            wire_bytes: summary.bytes.wire,
            light_delivered: summary.services.as_ref().map(|s| s.delivered),
            violations: summary.violations.clone(),
        }
    }

    /// Reason why the run counts as failed; `None` if it does not.
    pub fn failure(&self) -> Option<String> {
        if let Some(first) = self.violations.first() {
            let count = self.violations.len();
            return Some(format!("{count} rules did not hold, the first {first}"));
        }
        let nothing = self.delivered == 0 && self.light_delivered.unwrap_or(0) == 0;
        (self.expected > 0 && nothing)
            .then(|| format!("none of {} deliveries was made", self.expected))
    }
}

/// Names the file of a run: the same for the same scenario, overrides, seed and version of the program.
pub fn run_name(resolved: &ResolvedScenario, seed: u64, version: &str) -> String {
    let mut hash = Sha256::new();
    for part in [&resolved.hash, &seed.to_string(), version] {
        hash.update((part.len() as u64).to_le_bytes());
        hash.update(part);
    }
    let mut name = hex::encode(hash.finalize());
    name.truncate(NAME_DIGITS);
    name
}

/// Writes the file of a run: its rows, with its figures as metadata.
///
/// # Errors
/// Fails if writing to `out` fails.
pub fn write_rows<W: Write + Send>(
    outcome: &Outcome,
    summary: &Summary,
    out: W,
) -> Result<RunFigures, DeliveriesError> {
    let figures = RunFigures::of(summary);
    let text = serde_json::to_string(&figures).expect("figures have string keys");
    write_deliveries(outcome, summary, &[(FIGURES, text)], out)?;
    Ok(figures)
}

/// Reason why a file of a sweep cannot be written.
#[derive(Debug, Error)]
pub enum SweepFolderError {
    /// The file or its folder cannot be written.
    #[error("{path}: {source}", path = path.display())]
    File {
        /// Path of the file or folder.
        path: PathBuf,
        /// Error of the operating system.
        source: io::Error,
    },
    /// The rows cannot be written.
    #[error("{path}: {source}", path = path.display())]
    Rows {
        /// Path of the file.
        path: PathBuf,
        /// Reason reported by the writer of the table.
        source: DeliveriesError,
    },
}

/// Folder with the runs of a sweep.
#[derive(Clone, Debug)]
pub struct SweepFolder {
    path: PathBuf,
}

impl SweepFolder {
    /// Opens a folder, which is created if absent.
    ///
    /// # Errors
    /// Fails if the folder cannot be created.
    pub fn open(path: &Path) -> Result<Self, SweepFolderError> {
        fs::create_dir_all(path).map_err(at(path))?;
        Ok(Self {
            path: path.to_owned(),
        })
    }

    /// Path of the file of a run.
    pub fn file(&self, name: &str) -> PathBuf {
        self.path.join(format!("{name}.parquet"))
    }

    /// Figures of a run; `None` if it is not in the folder, or its file is incomplete.
    pub fn figures(&self, name: &str) -> Option<RunFigures> {
        let reader = SerializedFileReader::new(File::open(self.file(name)).ok()?).ok()?;
        let metadata = reader.metadata().file_metadata().key_value_metadata()?;
        let figures = metadata.iter().find(|known| known.key == FIGURES)?;
        serde_json::from_str(figures.value.as_ref()?).ok()
    }

    /// Writes the rows of a run. The file gets its name only when it is complete.
    ///
    /// # Errors
    /// Fails if the file cannot be written.
    pub fn write(
        &self,
        name: &str,
        outcome: &Outcome,
        summary: &Summary,
    ) -> Result<RunFigures, SweepFolderError> {
        let partial = self.partial(name);
        let mut file = BufWriter::new(File::create(&partial).map_err(at(&partial))?);
        let figures = write_rows(outcome, summary, &mut file).map_err(|source| {
            let path = partial.clone();
            SweepFolderError::Rows { path, source }
        })?;
        file.flush().map_err(at(&partial))?;
        drop(file);
        self.complete(name, &partial)?;
        Ok(figures)
    }

    /// Stores the rows of a run that [`write_rows`] produced elsewhere.
    ///
    /// # Errors
    /// Fails if the file cannot be written.
    pub fn keep(&self, name: &str, rows: &[u8]) -> Result<(), SweepFolderError> {
        let partial = self.partial(name);
        fs::write(&partial, rows).map_err(at(&partial))?;
        self.complete(name, &partial)
    }

    /// Path of an incomplete file. Contains the process id, because another process may write the same
    /// run.
    fn partial(&self, name: &str) -> PathBuf {
        self.path
            .join(format!("{name}.{}.partial", std::process::id()))
    }

    fn complete(&self, name: &str, partial: &Path) -> Result<(), SweepFolderError> {
        let path = self.file(name);
        fs::rename(partial, &path).map_err(at(&path))
    }

    /// Writes a file of text.
    ///
    /// # Errors
    /// Fails if the file cannot be written.
    pub fn write_text(&self, name: &str, text: &str) -> Result<PathBuf, SweepFolderError> {
        let path = self.path.join(name);
        fs::write(&path, text).map_err(at(&path))?;
        Ok(path)
    }
}

fn at(path: &Path) -> impl FnOnce(io::Error) -> SweepFolderError {
    let path = path.to_owned();
    |source| SweepFolderError::File { path, source }
}
