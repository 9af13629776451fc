//! `undertone lab run`: runs experiments and writes their records.

use std::fmt;
use std::fs;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use comfy_table::presets::UTF8_BORDERS_ONLY;
use comfy_table::{CellAlignment, ContentArrangement, Table};
use serde::Serialize;
use undertone_fleet::experiments::RealMachine;
use undertone_lab::experiment::{Context, EXPERIMENTS, Experiment};
use undertone_lab::record::{ExperimentRecord, Scale};
use undertone_lab::run::threads;

use super::super::sim::COMMIT;
use super::super::{Failure, output};
use super::machine::ThisProgram;
use super::{RESULTS, out};

/// Name that stands for every experiment.
const ALL: &str = "all";
/// Name that stands for every experiment at the quick scale, which takes minutes.
const ALL_QUICK: &str = "all-quick";

#[derive(clap::Args, Debug)]
pub(super) struct Args {
    /// Ids of experiments, as `undertone lab list` shows them; `all` or `all-quick` runs every one
    #[arg(required = true, value_name = "ID")]
    ids: Vec<String>,
    /// Run at the published scale, with several seeds: a quarter of an hour for all experiments but attacks and anonymity,
    /// which take hours
    #[arg(long)]
    full: bool,
    /// Write the records into this folder, as ID.json
    #[arg(long, value_name = "DIR", default_value = RESULTS)]
    out: PathBuf,
    /// Threads of a simulation; its results do not depend on them (one per processor if not given)
    #[arg(long, value_name = "N")]
    threads: Option<NonZeroUsize>,
}

/// Results of all experiments that were run.
#[derive(Serialize)]
struct Finished {
    experiments: Vec<Item>,
}

/// Result of one experiment.
#[derive(Serialize)]
struct Item {
    id: &'static str,
    /// Path of the record; `None` if the experiment failed.
    record: Option<PathBuf>,
    /// Number of figures within their tolerance.
    agree: usize,
    /// Number of figures outside their tolerance.
    differ: usize,
    wall_s: f64,
    /// Error of an experiment without a record.
    error: Option<String>,
}

/// Runs the experiments one after another. A figure that differs is a result; only an experiment without a
/// record is a failure.
pub(super) fn run(args: &Args, json: bool) -> Result<(), Failure> {
    let chosen = choose(&args.ids, args.full)?;
    fs::create_dir_all(&args.out).map_err(|error| Failure::at(&args.out, error))?;
    let machine = RealMachine::new(ThisProgram);
    let scale = if args.full { Scale::Full } else { Scale::Quick };
    let mut context = Context::new(scale, COMMIT, threads(args.threads), !json, &machine);
    let mut experiments = Vec::new();
    for experiment in chosen {
        let item = match one(experiment, &mut context, &args.out) {
            Ok((path, record)) => {
                if !json {
                    output::print(&record, false)?;
                    println!();
                }
                Item::done(experiment.id, path, &record)
            }
            Err(error) => {
                eprintln!("error: {}: {error}", experiment.id);
                Item::failed(experiment.id, error)
            }
        };
        experiments.push(item);
    }
    let finished = Finished { experiments };
    output::print(&finished, json)?;
    match finished.failed() {
        failed if failed.is_empty() => Ok(()),
        failed => Err(Failure::new(format!(
            "no record of {} out of {}: {}",
            failed.len(),
            finished.experiments.len(),
            failed.join(", ")
        ))),
    }
}

fn one(
    experiment: &Experiment,
    context: &mut Context<'_>,
    folder: &Path,
) -> Result<(PathBuf, ExperimentRecord), String> {
    let record = experiment.run(context).map_err(|error| error.to_string())?;
    let path = out::write(folder, &record).map_err(Failure::into_message)?;
    Ok((path, record))
}

/// Returns the chosen experiments, each once, in the requested order.
fn choose(ids: &[String], full: bool) -> Result<Vec<&'static Experiment>, Failure> {
    let mut chosen: Vec<&Experiment> = Vec::new();
    for id in ids {
        let wanted = match id.as_str() {
            ALL_QUICK if full => {
                let what = "all-quick and --full contradict each other";
                return Err(Failure::usage(what).with_help("`all --full` runs everything in full"));
            }
            ALL | ALL_QUICK => EXPERIMENTS.iter().collect(),
            id => vec![Experiment::find(id).ok_or_else(|| unknown(id))?],
        };
        for experiment in wanted {
            if chosen.iter().all(|known| known.id != experiment.id) {
                chosen.push(experiment);
            }
        }
    }
    Ok(chosen)
}

fn unknown(id: &str) -> Failure {
    let known = EXPERIMENTS.iter().map(|experiment| experiment.id);
    let nearest = known
        .chain([ALL, ALL_QUICK])
        .min_by_key(|known| strsim::damerau_levenshtein(id, known))
        .expect("there are names, such as all");
    let what = format!("there is no experiment {id:?}; did you mean {nearest:?}?");
    Failure::usage(what).with_help("`undertone lab list` shows all")
}

impl Item {
    fn done(id: &'static str, path: PathBuf, record: &ExperimentRecord) -> Self {
        let differ = record.differing().count();
        Self {
            id,
            record: Some(path),
            agree: record.judged() - differ,
            differ,
            wall_s: record.measured.wall_s,
            error: None,
        }
    }

    fn failed(id: &'static str, error: String) -> Self {
        Self {
            id,
            record: None,
            agree: 0,
            differ: 0,
            wall_s: 0.0,
            error: Some(error),
        }
    }
}

impl Finished {
    fn failed(&self) -> Vec<&'static str> {
        let failed = self.experiments.iter().filter(|item| item.error.is_some());
        failed.map(|item| item.id).collect()
    }
}

impl fmt::Display for Finished {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut table = Table::new();
        let header = ["experiment", "agree", "differ", "s", "record"];
        table
            .load_preset(UTF8_BORDERS_ONLY)
            .set_content_arrangement(ContentArrangement::Dynamic)
            .set_header(header);
        for item in &self.experiments {
            let id = item.id.to_owned();
            match &item.record {
                Some(path) => table.add_row([
                    id,
                    item.agree.to_string(),
                    item.differ.to_string(),
                    format!("{:.1}", item.wall_s),
                    path.display().to_string(),
                ]),
                None => table.add_row([&id, "", "", "", "FAILED"]),
            };
        }
        for column in table.column_iter_mut().skip(1).take(3) {
            column.set_cell_alignment(CellAlignment::Right);
        }
        writeln!(f, "{table}")
    }
}
