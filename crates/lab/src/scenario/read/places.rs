//! TreeReader of `[network.cities]` and `[network.places]`: matrices of delays between places.

use undertone_settings::{Error, MS, SectionKey, TomlEntry, keys, ns};
use undertone_sim::scenario::Delay;

use crate::scenario::gml::MAX_PLACES as MAX_MATRIX_PLACES;

/// Rate of the fastest link, Mbit/s.
pub(super) const MAX_MBIT: f64 = 1e6;
/// Bytes per second in a megabit per second.
pub(in crate::scenario) const BYTES_PER_MBIT: f64 = 125_000.0;

/// Maximum number of places.
const MAX_PLACES: usize = 1_000;
/// Longest delay that the matrix may hold, milliseconds.
const MAX_MS: f64 = 1e6;

/// Reads the delays between the places, and the rate of each in bytes per second, empty if not stated.
pub(super) fn read(cities: SectionKey<'_>) -> Result<(Delay, Vec<u64>), Error> {
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
    let rates = rates(rate_mbit_per_s, places)?;
    section.check_all_read("either one_way_ms or rtt_ms is read")?;
    Ok((Delay::Places { one_way_ns }, rates))
}

/// Places without names, with all that a network graph can say about them.
pub(super) struct PlaceMatrix {
    pub(super) delay: Delay,
    /// Uplink and downlink of each place, bytes per second; empty if not stated.
    pub(super) rates: Vec<(u64, u64)>,
    /// Probability that a packet is lost, `[from][to]`; empty if not stated.
    pub(super) loss: Vec<Vec<f64>>,
}

/// Reads places without names; `None` without the table.
pub(super) fn read_matrix(places: SectionKey<'_>) -> Result<Option<PlaceMatrix>, Error> {
    let section = places.table()?;
    keys!(section => one_way_ms, uplink_mbit_per_s, downlink_mbit_per_s, loss);
    if !section.is_present() {
        return Ok(None);
    }
    let expected =
        || format!("1 to {MAX_MATRIX_PLACES} rows of milliseconds, row = from, column = to");
    let rows = one_way_ms.list(expected)?;
    let rows = rows.filter(|rows| (1..=MAX_MATRIX_PLACES).contains(&rows.len()));
    let rows = rows.ok_or_else(|| one_way_ms.bad(expected()))?;
    let count = rows.len();
    let one_way_ns = rows.iter().map(|row| row_ns(row, count, MS));
    let one_way_ns = one_way_ns.collect::<Result<_, _>>();
    let one_way_ns = one_way_ns.map_err(|entry| one_way_ms.bad_item(entry, expected()))?;
    let (up, down) = (
        rates(uplink_mbit_per_s, count)?,
        rates(downlink_mbit_per_s, count)?,
    );
    if up.len() != down.len() {
        return Err(uplink_mbit_per_s.bad("rates of both uplinks and downlinks, or of neither"));
    }
    Ok(Some(PlaceMatrix {
        delay: Delay::Places { one_way_ns },
        rates: up.into_iter().zip(down).collect(),
        loss: read_loss(loss, count)?,
    }))
}

/// Reads the loss between places; empty if not stated.
fn read_loss(key: SectionKey<'_>, places: usize) -> Result<Vec<Vec<f64>>, Error> {
    let expected = || format!("{places} rows of {places} numbers from 0 to 1");
    let Some(rows) = key.list(expected)? else {
        return Ok(Vec::new());
    };
    let share = |cell: &TomlEntry| cell.as_number().filter(|loss| (0.0..=1.0).contains(loss));
    let row = |row: &TomlEntry| {
        let cells = row.as_list().filter(|cells| cells.len() == places)?;
        cells.iter().map(share).collect::<Option<Vec<_>>>()
    };
    let read: Option<Vec<_>> = rows.iter().map(row).collect();
    let read = read.filter(|rows| rows.len() == places);
    read.ok_or_else(|| key.bad(expected()))
}

/// Reads the rate of every place, the same for uplink and downlink.
fn rates(rate_mbit_per_s: SectionKey<'_>, places: usize) -> Result<Vec<u64>, Error> {
    let expected = || format!("{places} rates in megabits per second, 0.001 to {MAX_MBIT}");
    let Some(cells) = rate_mbit_per_s.list(expected)? else {
        return Ok(Vec::new());
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
    cells.iter().map(rate).collect()
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
