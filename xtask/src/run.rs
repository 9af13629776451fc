//! Run of the steps of `cargo xtask test`: one after another, some of them beside the others.

use std::env;
use std::path::Path;
use std::time::Instant;

use crate::processor;
use crate::report::Row;
use crate::steps::Step;
use crate::steps::audit::Installation;
use crate::steps::beside::BackgroundSteps;

/// Runs all steps even if an earlier one failed, so that one run shows all failures. Returns their results in the order of
/// [`Step::ALL`].
pub(crate) fn all(root: &Path, steps: &[Step]) -> Vec<Row> {
    // Known before cargo replaces the file with one that it has compiled for the tests, which does as well.
    let own = env::current_exe();
    let audits = steps.contains(&Step::Audit);
    let mut installation = audits.then(|| Installation::begin(root));
    let mut beside = None;
    let mut rows: Vec<Row> = Vec::new();
    let mut ahead = steps.to_vec();
    while !ahead.is_empty() {
        let step = ahead.remove(0);
        if step.is_quiet() {
            rows.extend(beside.take().into_iter().flat_map(BackgroundSteps::end));
        }
        let needed = installation.take_if(|_| step == Step::Audit);
        rows.push(run(root, step, needed));
        if step == Step::Clippy
            && let Ok(own) = &own
        {
            beside = BackgroundSteps::begin(own, root, &ahead);
            if let Some(beside) = &beside {
                ahead.retain(|step| !beside.runs(*step));
            }
        }
    }
    rows.extend(beside.into_iter().flat_map(BackgroundSteps::end));
    rows.sort_by_key(|row| Step::ALL.iter().position(|step| *step == row.step));
    rows
}

/// Runs one step after the installation that it needs, and measures its time and that of its commands on the processors.
fn run(root: &Path, step: Step, needed: Option<Installation>) -> Row {
    eprintln!("== {} ==", step.name());
    let began = Instant::now();
    let processor_before = processor::of_ended_commands();
    if let Some(installation) = needed {
        installation.end();
    }
    let outcome = step.run(root);
    let processor = processor::of_ended_commands();
    Row {
        step,
        outcome,
        took: began.elapsed(),
        processor: processor
            .zip(processor_before)
            .map(|(now, before)| now.saturating_sub(before)),
    }
}
