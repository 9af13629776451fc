//! Sweep files: `[sweep]` defines what is run, `[keys]` the keys that vary and their values.

use std::path::Path;

use undertone_settings::{Section, TomlEntry, TomlTable, TomlValue, keys};

use super::axis::SweptKey;
use super::error::SweepError;
use super::limits::MAX_POINTS;
use crate::scenario::{BUILT_IN, parse_seeds, read_bounded};

/// Advice in error messages: where the keys are listed.
const REFERENCE: &str = "see docs/use/scenarios.md, Sweeps";

/// Choice of the points among all combinations of values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sampling {
    /// Every combination of the values.
    Grid,
    /// Points drawn independently.
    Random {
        /// Number of points.
        points: u32,
        /// Seed of the draw.
        seed: u64,
    },
    /// Latin hypercube: each key's range is split into as many equal parts as there are points, and each part is
    /// used once.
    LatinHypercube {
        /// Number of points.
        points: u32,
        /// Seed of the draw.
        seed: u64,
    },
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum SampleName {
    Grid,
    Random,
    Latin,
}

const SAMPLES: &[(&str, SampleName)] = &[
    ("grid", SampleName::Grid),
    ("random", SampleName::Random),
    ("latin-hypercube", SampleName::Latin),
];

/// A sweep as its file describes it.
#[derive(Clone, Debug)]
pub struct Sweep {
    /// Scenario that is run: a built-in one, or the path of a file.
    pub scenario: String,
    /// Overrides of every point.
    pub set: Vec<String>,
    /// Seeds of every point.
    pub seeds: Vec<u64>,
    /// Choice of the points.
    pub sampling: Sampling,
    /// Keys that take several values.
    pub axes: Vec<SweptKey>,
}

impl Sweep {
    /// Reads a sweep from its file.
    ///
    /// # Errors
    /// Returns the first mistake found.
    pub fn load(path: &Path) -> Result<Self, SweepError> {
        let folder = path.parent().unwrap_or(Path::new(""));
        Self::parse(&read_bounded(path)?, &path.to_string_lossy(), folder)
    }

    /// Reads a sweep from text; `place` names its file in messages, and file names in it are relative to
    /// `folder`.
    ///
    /// # Errors
    /// Returns the first mistake found.
    pub fn parse(text: &str, place: &str, folder: &Path) -> Result<Self, SweepError> {
        let entry = TomlEntry::read(text, place)?;
        let root = Section::new(&entry, "", REFERENCE)?;
        let (general, values) = (root.key("sweep"), root.key("keys"));
        root.check_known(&["sweep", "keys"])?;
        let section = general.table()?;
        keys!(section => scenario, seeds, set, sample, points, sample_seed);
        let reference = scenario.text("the name of a scenario, or the path of a file")?;
        let reference = reference
            .ok_or_else(|| scenario.bad("the name of a scenario, or the path of a file"))?;
        let is_built_in = BUILT_IN.iter().any(|found| found.name == reference);
        let given = seeds.text("seeds, such as \"1..5\" or \"1,4,9\"")?;
        let seeds = parse_seeds(given.unwrap_or("1")).map_err(|source| SweepError::Seeds {
            place: seeds
                .entry()
                .map_or_else(String::new, |entry| entry.origin.to_string()),
            source,
        })?;
        let overrides = || "a list of overrides, such as [\"relay.d=7\"]".to_owned();
        let set_key = set;
        let items = set_key.list(overrides)?.unwrap_or_default().iter();
        let set = items.map(|item| {
            let text = item.as_text().map(str::to_owned);
            text.ok_or_else(|| set_key.bad_item(item, overrides()))
        });
        let set = set.collect::<Result<_, _>>()?;
        let name = sample.word(SAMPLES)?.unwrap_or(SampleName::Grid);
        let sampling = match name {
            SampleName::Grid => Sampling::Grid,
            SampleName::Random | SampleName::Latin => {
                let expected = || format!("a number of points, 1 to {MAX_POINTS}");
                let number = points.whole(1, MAX_POINTS as u64)?;
                let points = number.ok_or_else(|| points.bad(expected()))?;
                let seed = sample_seed.whole(0, i64::MAX as u64)?.unwrap_or(1);
                match name {
                    SampleName::Random => Sampling::Random { points, seed },
                    _ => Sampling::LatinHypercube { points, seed },
                }
            }
        };
        section.check_all_read("another kind of sweep.sample would use it")?;
        let expected = || "a table [keys] of keys with their values".to_owned();
        let table = values.read(TomlEntry::as_table, expected)?;
        let table = table.ok_or_else(|| values.bad(expected()))?;
        let mut axes = Vec::new();
        collect(table, "", sampling == Sampling::Grid, &mut axes)?;
        Ok(Self {
            scenario: match is_built_in {
                true => reference.to_owned(),
                false => folder.join(reference).to_string_lossy().into_owned(),
            },
            set,
            seeds,
            sampling,
            axes,
        })
    }
}

/// Collects the keys of a table; a nested table that is not a range holds further keys.
fn collect(
    table: &TomlTable,
    above: &str,
    in_grid: bool,
    axes: &mut Vec<SweptKey>,
) -> Result<(), SweepError> {
    for (key, entry) in table {
        let key = match above {
            "" => key.clone(),
            above => format!("{above}.{key}"),
        };
        match &entry.value {
            TomlValue::Table(inner) if !inner.contains_key("from") => {
                collect(inner, &key, in_grid, axes)?;
            }
            _ => axes.push(SweptKey::read(key, entry, in_grid)?),
        }
    }
    Ok(())
}
