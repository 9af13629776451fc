//! Values of one key in a sweep.

use undertone_settings::{Error, Section, TomlEntry, TomlValue, keys};

/// Advice in error messages about unknown keys of a range.
const REFERENCE: &str = "a range has from, to, steps, scale and whole";
/// Maximum number of values of one key.
const MAX_STEPS: u64 = 10_000;

/// Spacing of the values of a range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SweepScale {
    /// Equal differences between neighbours.
    Linear,
    /// Equal ratios between neighbours.
    Log,
}

const SCALES: &[(&str, SweepScale)] = &[("linear", SweepScale::Linear), ("log", SweepScale::Log)];

/// A key of the scenario and the values it takes, or a name for variants that set several keys at once.
#[derive(Clone, Debug)]
pub struct SweptKey {
    /// Dotted path of the key, or a name for what distinguishes the variants.
    pub key: String,
    values: AxisValues,
}

#[derive(Clone, Debug)]
enum AxisValues {
    /// Values as the file states them, in TOML.
    Listed(Vec<String>),
    /// Names of variants, each with its overrides.
    Variants(Vec<(String, Vec<String>)>),
    Range {
        from: f64,
        to: f64,
        /// Number of values in a grid.
        steps: Option<u64>,
        scale: SweepScale,
        is_whole: bool,
    },
}

impl SweptKey {
    /// Reads the values of a key: a list, or a table that describes a range. In a grid (`in_grid`), a range needs
    /// `steps`.
    pub(super) fn read(key: String, entry: &TomlEntry, in_grid: bool) -> Result<Self, Error> {
        let values = match &entry.value {
            TomlValue::List(items) if items.iter().any(has_name) => variants(&key, items)?,
            TomlValue::List(items) if !items.is_empty() => {
                let items = items.iter().map(|item| item.value.to_toml().to_string());
                AxisValues::Listed(items.map(|item| item.trim().to_owned()).collect())
            }
            TomlValue::Table(_) => range(&key, entry, in_grid)?,
            value => {
                return Err(Error::BadValue {
                    origin: entry.origin.clone(),
                    value: value.to_string(),
                    expected: "a list of values, or a range { from, to, … }".to_owned(),
                    key,
                });
            }
        };
        Ok(Self { key, values })
    }

    /// Number of values in a grid.
    pub(super) fn steps(&self) -> usize {
        match &self.values {
            AxisValues::Listed(values) => values.len(),
            AxisValues::Variants(variants) => variants.len(),
            AxisValues::Range { steps, .. } => steps.unwrap_or(1) as usize,
        }
    }

    /// The overrides for a value returned by [`SweptKey::step`] or [`SweptKey::at_share`].
    pub(super) fn overrides(&self, value: &str) -> Vec<String> {
        if let AxisValues::Variants(variants) = &self.values {
            let named = variants.iter().find(|(name, _)| name == value);
            return named.map_or_else(Vec::new, |(_, overrides)| overrides.clone());
        }
        vec![format!("{}={value}", self.key)]
    }

    /// The value with index `at` in a grid, in TOML; for variants, the name.
    pub(super) fn step(&self, at: usize) -> String {
        match &self.values {
            AxisValues::Listed(values) => values[at].clone(),
            AxisValues::Variants(variants) => variants[at].0.clone(),
            AxisValues::Range { .. } => {
                let last = self.steps().saturating_sub(1).max(1);
                self.between(at as f64 / last as f64)
            }
        }
    }

    /// The value at a share of the range, 0 to less than 1, in TOML; for variants, the name.
    pub(super) fn at_share(&self, share: f64) -> String {
        match &self.values {
            AxisValues::Listed(_) | AxisValues::Variants(_) => {
                let at = (share * self.steps() as f64) as usize;
                self.step(at.min(self.steps() - 1))
            }
            AxisValues::Range { .. } => self.between(share),
        }
    }

    fn between(&self, share: f64) -> String {
        let AxisValues::Range {
            from,
            to,
            scale,
            is_whole,
            ..
        } = self.values
        else {
            return String::new();
        };
        let value = match scale {
            SweepScale::Linear => from + share * (to - from),
            SweepScale::Log => from * (to / from).powf(share),
        };
        match is_whole {
            true => format!("{}", value.round() as i64),
            // The last digits are rounding noise, and would appear in every name.
            false => format!("{}", rounded(value)),
        }
    }
}

/// Rounds to twelve significant digits.
fn rounded(value: f64) -> f64 {
    format!("{value:.11e}").parse().unwrap_or(value)
}

/// Whether an item is one of several variants.
fn has_name(item: &TomlEntry) -> bool {
    item.as_table()
        .is_some_and(|table| table.contains_key("name"))
}

fn variants(key: &str, items: &[TomlEntry]) -> Result<AxisValues, Error> {
    let mut variants: Vec<(String, Vec<String>)> = Vec::new();
    for item in items {
        let table = item.as_table();
        let name = table.and_then(|table| table.get("name")?.as_text());
        let is_new = |name: &&str| variants.iter().all(|(known, _)| known != name);
        let (Some(table), Some(name)) = (table, name.filter(is_new)) else {
            return Err(Error::BadValue {
                origin: item.origin.clone(),
                value: item.value.to_string(),
                expected: "variants, each a table with a name of its own and the keys that it sets"
                    .to_owned(),
                key: key.to_owned(),
            });
        };
        let mut overrides = Vec::new();
        let others = table.iter().filter(|(key, _)| *key != "name");
        flatten(others, "", &mut overrides);
        variants.push((name.to_owned(), overrides));
    }
    Ok(AxisValues::Variants(variants))
}

/// Lists the keys of a table and of its nested tables as overrides; an empty text removes a key.
fn flatten<'a>(
    table: impl Iterator<Item = (&'a String, &'a TomlEntry)>,
    above: &str,
    overrides: &mut Vec<String>,
) {
    for (key, entry) in table {
        let key = format!("{above}{key}");
        match &entry.value {
            TomlValue::Table(inner) => flatten(inner.iter(), &format!("{key}."), overrides),
            TomlValue::Text(text) if text.is_empty() => overrides.push(format!("{key}=")),
            value => overrides.push(format!("{key}={}", value.to_toml().to_string().trim())),
        }
    }
}

fn range(key: &str, entry: &TomlEntry, in_grid: bool) -> Result<AxisValues, Error> {
    let section = Section::new(entry, format!("keys.{key}"), REFERENCE)?;
    keys!(section => from, to, steps, scale, whole);
    let (first, last) = (from, to);
    let bound = |key: undertone_settings::SectionKey<'_>| {
        let number = key.any_number()?;
        number.ok_or_else(|| key.bad("a number, a bound of the range"))
    };
    let (from, to) = (bound(first)?, bound(last)?);
    let scale = scale.word(SCALES)?.unwrap_or(SweepScale::Linear);
    if scale == SweepScale::Log && (from <= 0.0 || to <= 0.0) {
        return Err(first.bad("bounds above 0 for a scale of equal ratios"));
    }
    let are_whole = [first, last]
        .iter()
        .all(|key| matches!(key.entry().map(|e| &e.value), Some(TomlValue::Integer(_))));
    let steps = match in_grid {
        true => {
            let expected = || format!("a number of values, 2 to {MAX_STEPS}");
            let number = steps.whole(2, MAX_STEPS)?;
            Some(number.ok_or_else(|| steps.bad(expected()))?)
        }
        false => None,
    };
    let is_whole = whole.flag()?.unwrap_or(are_whole);
    section.check_all_read("a sample has as many values as points")?;
    Ok(AxisValues::Range {
        from,
        to,
        steps,
        scale,
        is_whole,
    })
}
