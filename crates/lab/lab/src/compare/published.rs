//! Published figures of the paper; `published/README.md` names their sources.

const RUNS: &str = include_str!("../../published/paper_runs.csv");
const FIRST: &str = include_str!("../../published/paper_first_message.csv");
const HOPS: &str = include_str!("../../published/paper_hops.csv");

/// Published figures of one run, milliseconds.
#[derive(Clone, Debug, PartialEq)]
pub struct PublishedRun {
    /// Scenario that reproduces the run.
    pub scenario: &'static str,
    /// Columns and values: `min`, `p5` … `p99`, `max`, `mean`.
    pub figures: Vec<(&'static str, f64)>,
    /// Mean latency of the first message.
    pub first_message_mean_ms: Option<f64>,
    /// Hops, and the number of nodes at that many hops.
    pub hops: Vec<(u16, f64)>,
}

impl PublishedRun {
    /// Returns a figure by the name of its column.
    pub fn figure(&self, name: &str) -> Option<f64> {
        let (_, value) = self.figures.iter().find(|(column, _)| *column == name)?;
        Some(*value)
    }
}

/// Returns the published figures that a scenario reproduces, if there are any.
pub fn published(scenario: &str) -> Option<PublishedRun> {
    let mut lines = RUNS.lines();
    let columns = lines.next()?.split(',').skip(1);
    let (scenario, cells) = rows(RUNS).find(|(name, _)| *name == scenario)?;
    Some(PublishedRun {
        scenario,
        figures: columns
            .zip(cells)
            .filter_map(|(column, cell)| Some((column, cell.parse().ok()?)))
            .collect(),
        first_message_mean_ms: rows(FIRST)
            .find(|(name, _)| *name == scenario)
            .and_then(|(_, mut cells)| cells.next()?.parse().ok()),
        hops: rows(HOPS)
            .filter(|(name, _)| *name == scenario)
            .filter_map(|(_, mut cells)| {
                Some((cells.next()?.parse().ok()?, cells.next()?.parse().ok()?))
            })
            .collect(),
    })
}

/// Names of the scenarios that have published figures.
pub fn published_names() -> impl Iterator<Item = &'static str> {
    rows(RUNS).map(|(name, _)| name)
}

/// First cell and other cells of each line, without the header.
fn rows(
    table: &'static str,
) -> impl Iterator<Item = (&'static str, impl Iterator<Item = &'static str>)> {
    table.lines().skip(1).filter_map(|line| {
        let mut cells = line.split(',');
        Some((cells.next()?, cells))
    })
}
