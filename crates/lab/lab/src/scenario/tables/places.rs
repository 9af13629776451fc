//! `[network.cities]` and `[network.places]`: matrices of delays between places.

use undertone_settings::{Error, MS, SectionKey, TomlEntry, TomlValue, keys, ns};
use undertone_sim::scenario::{Delay, Network};

use super::key::{Key, Table};
use super::values::{list, matrix, shortest, time};
use crate::scenario::gml::MAX_PLACES as MAX_MATRIX_PLACES;

/// Rate of the fastest link, Mbit/s.
pub(super) const MAX_MBIT: f64 = 1e6;
/// Bytes per second in a megabit per second.
const BYTES_PER_MBIT: f64 = 125_000.0;

/// Maximum number of places.
const MAX_PLACES: usize = 1_000;
/// Longest delay that the matrix may hold, milliseconds.
const MAX_MS: f64 = 1e6;

/// A rate in megabits per second, held in bytes per second.
pub(super) fn rate(key: Key<'_>, bytes_per_s: &mut u64) -> Result<(), Error> {
    let read = |key: SectionKey<'_>| {
        let mbit = key.number(0.001, MAX_MBIT)?;
        Ok(mbit.map(|mbit| (mbit * BYTES_PER_MBIT).round() as u64))
    };
    key.both(bytes_per_s, read, |bytes_per_s| Some(mbit(*bytes_per_s)))
}

fn mbit(bytes_per_s: u64) -> TomlValue {
    shortest(bytes_per_s as f64 / BYTES_PER_MBIT)
}

/// Places with everything that a network graph can state about them.
#[derive(Default)]
pub(super) struct PlaceMatrix {
    /// One-way delays, `[from][to]`, nanoseconds.
    pub(super) one_way_ns: Vec<Vec<u64>>,
    /// Uplink and downlink of each place, bytes per second; empty if not stated.
    pub(super) rates: Vec<(u64, u64)>,
    /// Probability that a packet is lost, `[from][to]`; empty if not stated.
    pub(super) loss: Vec<Vec<f64>>,
}

impl PlaceMatrix {
    /// The places of a network; `None` if it has none.
    pub(super) fn of(network: &Network) -> Option<Self> {
        let Delay::Places { one_way_ns } = &network.delay else {
            return None;
        };
        Some(Self {
            one_way_ns: one_way_ns.clone(),
            rates: network.place_rates.clone(),
            loss: network.place_loss.clone(),
        })
    }
}

/// Reads places with names.
pub(super) fn read_cities(cities: SectionKey<'_>) -> Result<PlaceMatrix, Error> {
    let section = cities.table()?;
    keys!(section => names, one_way_ms, rtt_ms, rate_mbit_per_s);
    let places = count(names)?;
    let (key, unit_ns) = if rtt_ms.is_set() {
        (rtt_ms, MS / 2.0)
    } else {
        (one_way_ms, MS)
    };
    let expected = || format!("{places} rows of {places} milliseconds, row = from, column = to");
    let rows = key.list(expected)?.filter(|rows| rows.len() == places);
    let one_way_ns = rows
        .ok_or_else(|| key.bad(expected()))?
        .iter()
        .map(|row| row_ns(row, places, unit_ns))
        .collect::<Result<_, _>>()
        .map_err(|entry| key.bad_item(entry, expected()))?;
    let rates = read_rates(rate_mbit_per_s, places)?.unwrap_or_default();
    section.check_all_read("either one_way_ms or rtt_ms is read")?;
    Ok(PlaceMatrix {
        one_way_ns,
        rates: rates.into_iter().map(|rate| (rate, rate)).collect(),
        loss: Vec::new(),
    })
}

/// Places without names.
pub(super) fn places(table: &Table<'_>, places: &mut PlaceMatrix) -> Result<(), Error> {
    keys!(table => one_way_ms, uplink_mbit_per_s, downlink_mbit_per_s, loss);
    one_way_ms.both(
        &mut places.one_way_ns,
        |key| read_delays(key).map(Some),
        |rows| Some(matrix(rows, |ns| time(ns, MS))),
    )?;
    let count = places.one_way_ns.len();
    let (mut up, mut down) = places.rates.iter().copied().unzip();
    for (key, rates) in [
        (uplink_mbit_per_s, &mut up),
        (downlink_mbit_per_s, &mut down),
    ] {
        let write = |rates: &Vec<u64>| {
            let is_some = !rates.is_empty();
            is_some.then(|| list(rates.iter().copied().map(mbit)))
        };
        key.both(rates, |key| read_rates(key, count), write)?;
    }
    let expected = "rates of both uplinks and downlinks, or of neither";
    uplink_mbit_per_s.refuse_if(up.len() != down.len(), expected)?;
    places.rates = up.into_iter().zip(down).collect();
    loss.both(
        &mut places.loss,
        |key| read_loss(key, count),
        |rows| (!rows.is_empty()).then(|| matrix(rows, shortest)),
    )
}

/// Reads the matrix of delays; its size is the number of places.
fn read_delays(one_way_ms: SectionKey<'_>) -> Result<Vec<Vec<u64>>, Error> {
    let expected =
        || format!("1 to {MAX_MATRIX_PLACES} rows of milliseconds, row = from, column = to");
    let rows = one_way_ms.list(expected)?;
    let rows = rows.filter(|rows| (1..=MAX_MATRIX_PLACES).contains(&rows.len()));
    let rows = rows.ok_or_else(|| one_way_ms.bad(expected()))?;
    let delays = rows.iter().map(|row| row_ns(row, rows.len(), MS));
    let delays = delays.collect::<Result<_, _>>();
    delays.map_err(|entry| one_way_ms.bad_item(entry, expected()))
}

/// Reads the loss between places.
fn read_loss(key: SectionKey<'_>, places: usize) -> Result<Option<Vec<Vec<f64>>>, Error> {
    let expected = || format!("{places} rows of {places} numbers from 0 to 1");
    let Some(rows) = key.list(expected)? else {
        return Ok(None);
    };
    let share = |cell: &TomlEntry| cell.as_number().filter(|loss| (0.0..=1.0).contains(loss));
    let row = |row: &TomlEntry| {
        let cells = row.as_list().filter(|cells| cells.len() == places)?;
        cells.iter().map(share).collect::<Option<Vec<_>>>()
    };
    let read: Option<Vec<_>> = rows.iter().map(row).collect();
    let read = read.filter(|rows| rows.len() == places);
    read.ok_or_else(|| key.bad(expected())).map(Some)
}

/// Reads the rate of every place.
fn read_rates(rate_mbit_per_s: SectionKey<'_>, places: usize) -> Result<Option<Vec<u64>>, Error> {
    let expected = || format!("{places} rates in megabits per second, 0.001 to {MAX_MBIT}");
    let Some(cells) = rate_mbit_per_s.list(expected)? else {
        return Ok(None);
    };
    if cells.len() != places {
        return Err(rate_mbit_per_s.bad(expected()));
    }
    let rate = |cell: &TomlEntry| {
        let mbit = cell.as_number();
        mbit.filter(|mbit| (0.001..=MAX_MBIT).contains(mbit))
            .map(|mbit| (mbit * BYTES_PER_MBIT).round() as u64)
            .ok_or_else(|| rate_mbit_per_s.bad_item(cell, expected()))
    };
    cells.iter().map(rate).collect::<Result<_, _>>().map(Some)
}

/// Checks the names of the places, and returns their number.
fn count(names: SectionKey<'_>) -> Result<usize, Error> {
    let expected = || format!("a list of 1 to {MAX_PLACES} names");
    let are_names = |items: &&[TomlEntry]| {
        (1..=MAX_PLACES).contains(&items.len()) && items.iter().all(|i| i.as_text().is_some())
    };
    let items = names.list(expected)?.filter(are_names);
    items.map(<[_]>::len).ok_or_else(|| names.bad(expected()))
}

fn row_ns(row: &TomlEntry, places: usize, unit_ns: f64) -> Result<Vec<u64>, &TomlEntry> {
    let cells = row.as_list().filter(|cells| cells.len() == places);
    let cells = cells.ok_or(row)?.iter().map(|cell| {
        cell.as_number()
            .filter(|ms| (0.0..=MAX_MS).contains(ms))
            .map(|ms| ns(ms, unit_ns))
            .ok_or(cell)
    });
    cells.collect()
}
