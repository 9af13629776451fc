//! `undertone lab report`: writes the HTML page of all records.

use std::fmt;
use std::fs;
use std::path::PathBuf;

use serde::Serialize;
use undertone_lab::experiment::EXPERIMENTS;
use undertone_lab::export;
use undertone_lab::record::{ExperimentRecord, FolderError, read_folder};
use undertone_pages::page;

use super::super::{Failure, output};
use super::RESULTS;

#[derive(clap::Args, Debug)]
pub(super) struct Args {
    /// Folder with the records of experiments, *.json
    #[arg(long, value_name = "DIR", default_value = RESULTS)]
    from: PathBuf,
    /// HTML file to write (report.html in the --from folder if not given)
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Also write figures.csv, figures.parquet and a CSV file per chart and table into this folder
    #[arg(long, value_name = "DIR")]
    csv: Option<PathBuf>,
}

#[derive(Serialize)]
struct Written {
    html: PathBuf,
    /// CSV and Parquet files written; only with `--csv`.
    files: Vec<PathBuf>,
    experiments: usize,
    /// Number of figures that have a tolerance.
    judged: usize,
    /// Figures outside their tolerance, as the experiment's id and the figure's name.
    differing: Vec<[String; 2]>,
}

pub(super) fn run(args: &Args, json: bool) -> Result<(), Failure> {
    let mut records = read_folder(&args.from).map_err(failure)?;
    // Sorts as in `lab list`, with records of unknown experiments last.
    let place =
        |record: &ExperimentRecord| EXPERIMENTS.iter().position(|known| known.id == record.id);
    records.sort_by_key(|record| place(record).unwrap_or(usize::MAX));
    let html = args
        .html
        .clone()
        .unwrap_or_else(|| args.from.join("report.html"));
    if let Some(folder) = html.parent() {
        fs::create_dir_all(folder).map_err(|error| Failure::at(folder, error))?;
    }
    fs::write(&html, page(&records)).map_err(|error| Failure::at(&html, error))?;
    let files = match &args.csv {
        Some(folder) => {
            export::write(&records, folder).map_err(|error| Failure::new(error.to_string()))?
        }
        None => Vec::new(),
    };
    let differing = records.iter().flat_map(|record| {
        let figures = record.differing();
        figures.map(|figure| [record.id.clone(), figure.name.clone()])
    });
    let written = Written {
        html,
        files,
        experiments: records.len(),
        judged: records.iter().map(ExperimentRecord::judged).sum(),
        differing: differing.collect(),
    };
    output::print(&written, json)
}

/// Converts an error: a missing or empty folder is wrong usage, an unusable file is not.
fn failure(error: FolderError) -> Failure {
    match &error {
        FolderError::Unreadable { .. } | FolderError::Empty { .. } => Failure::usage(
            error.to_string(),
        )
        .with_help("`undertone lab run` writes records; --from names the folder if it is another"),
        FolderError::TooMany { .. }
        | FolderError::TooLarge { .. }
        | FolderError::NoRecord { .. } => Failure::new(error.to_string()),
    }
}

impl fmt::Display for Written {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let agree = self.judged - self.differing.len();
        output::fields(
            f,
            &[
                ("page", &self.html.display()),
                ("experiments", &self.experiments),
                ("agree", &format!("{agree} of {} figures", self.judged)),
            ],
        )?;
        if let Some(folder) = self.files.first().and_then(|file| file.parent()) {
            writeln!(f, "{} files in {}", self.files.len(), folder.display())?;
        }
        for [experiment, figure] in &self.differing {
            writeln!(f, "DIFFERS: {experiment}: {figure}")?;
        }
        Ok(())
    }
}
