//! Reader of `[network.cities]`: a matrix of delays between named places.

use undertone_sim::scenario::Delay;

use super::super::ScenarioError;
use super::super::section::{MS, Section, as_number, ns};
use super::super::tree::{Entry, Value};
use super::network::{BYTES_PER_MBIT, MAX_MBIT};

const KEYS: &[&str] = &["names", "one_way_ms", "rtt_ms", "rate_mbit_per_s"];

/// Maximum number of places.
const MAX_PLACES: usize = 1_000;
/// Longest delay that the matrix may hold, milliseconds.
const MAX_MS: f64 = 1e6;

/// Reads the delays between the places, and the rate of each in bytes per second, empty if not stated.
pub(super) fn read(network: &Section<'_>) -> Result<(Delay, Vec<u64>), ScenarioError> {
    let section = network.below("cities", KEYS)?;
    let places = names(&section)?;
    let (key, unit_ns) = if section.has("rtt_ms") {
        ("rtt_ms", MS / 2.0)
    } else {
        ("one_way_ms", MS)
    };
    let expected = || format!("{places} rows of {places} milliseconds, row = from, column = to");
    let Some(Value::List(rows)) = section.get(key).map(|entry| &entry.value) else {
        return Err(section.bad(key, expected()));
    };
    if rows.len() != places {
        return Err(section.bad(key, expected()));
    }
    let one_way_ns = rows
        .iter()
        .map(|row| row_ns(row, places, unit_ns))
        .collect::<Result<_, _>>()
        .map_err(|entry| section.bad_entry(key, entry, expected()))?;
    let rates = rates(&section, places)?;
    section.check_all_read("either one_way_ms or rtt_ms is read")?;
    Ok((Delay::Places { one_way_ns }, rates))
}

/// Reads the rate of every place, the same for uplink and downlink.
fn rates(section: &Section<'_>, places: usize) -> Result<Vec<u64>, ScenarioError> {
    const KEY: &str = "rate_mbit_per_s";
    let expected = || format!("{places} rates in megabits per second, 0.001 to {MAX_MBIT}");
    let Some(entry) = section.get(KEY) else {
        return Ok(Vec::new());
    };
    let Value::List(cells) = &entry.value else {
        return Err(section.bad(KEY, expected()));
    };
    if cells.len() != places {
        return Err(section.bad(KEY, expected()));
    }
    let rate = |cell: &Entry| as_number(cell).filter(|mbit| (0.001..=MAX_MBIT).contains(mbit));
    cells
        .iter()
        .map(|cell| {
            rate(cell)
                .map(|mbit| (mbit * BYTES_PER_MBIT).round() as u64)
                .ok_or_else(|| section.bad_entry(KEY, cell, expected()))
        })
        .collect()
}

/// Checks the names of the places, and returns their number.
fn names(section: &Section<'_>) -> Result<usize, ScenarioError> {
    let expected = || format!("a list of 1 to {MAX_PLACES} names");
    let Some(Value::List(names)) = section.get("names").map(|entry| &entry.value) else {
        return Err(section.bad("names", expected()));
    };
    let is_name = |entry: &Entry| matches!(entry.value, Value::Text(_));
    if !(1..=MAX_PLACES).contains(&names.len()) || !names.iter().all(is_name) {
        return Err(section.bad("names", expected()));
    }
    Ok(names.len())
}

fn row_ns(row: &Entry, places: usize, unit_ns: f64) -> Result<Vec<u64>, &Entry> {
    let Value::List(cells) = &row.value else {
        return Err(row);
    };
    if cells.len() != places {
        return Err(row);
    }
    cells
        .iter()
        .map(|cell| {
            as_number(cell)
                .filter(|ms| (0.0..=MAX_MS).contains(ms))
                .map(|ms| ns(ms, unit_ns))
                .ok_or(cell)
        })
        .collect()
}
