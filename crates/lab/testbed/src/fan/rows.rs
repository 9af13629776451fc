//! Measurements as rows of CSV: a row for each message on each connection.

use std::fmt::Write;
use std::str::FromStr;

use thiserror::Error;

use super::{FanCase, FanTime, FanTimes};
use crate::kernel::Moment;

#[cfg(test)]
#[path = "tests/rows.rs"]
mod tests;

/// Names of the columns.
pub const HEADER: &str = "mbit_per_s,one_way_ms,connections,size_bytes,idle_ms,\
moment,connection,begun_us,done_us";

/// Arrival of one message on one connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FanRow {
    /// Case to which the message belongs.
    pub case: FanCase,
    /// Moment of the message.
    pub moment: Moment,
    /// Connection, counted from 0 in the order in which they were opened.
    pub connection: u32,
    /// Times of its arrival.
    pub time: FanTime,
}

/// Error of a text that is not a table of measurements.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum FanRowError {
    /// A line does not have the columns of [`HEADER`].
    #[error("line {line} is {text:?}; expected the columns {HEADER}")]
    Columns {
        /// Number of the line, from 1.
        line: usize,
        /// Text of the line.
        text: String,
    },
    /// A message of a case is missing on some connection.
    #[error("line {line}: connection {connection} comes before those of lower numbers")]
    Order {
        /// Number of the line, from 1.
        line: usize,
        /// Connection of the line.
        connection: u32,
    },
}

impl FanRow {
    /// Formats the rows of a case, one per line.
    pub fn lines(case: &FanCase, times: &FanTimes) -> String {
        let mut text = String::new();
        for (moment, times) in Moment::ALL.into_iter().zip(times) {
            for (connection, time) in times.iter().enumerate() {
                let columns = format_args!(
                    "{},{},{},{},{},{},{connection},{},{}",
                    case.mbit_per_s,
                    case.one_way_ms,
                    case.connections,
                    case.size_bytes,
                    case.idle_ms,
                    moment.name(),
                    time.begun_us,
                    time.done_us,
                );
                writeln!(text, "{columns}").expect("writing to a string cannot fail");
            }
        }
        text
    }
}

impl FromStr for FanRow {
    type Err = ();

    fn from_str(line: &str) -> Result<Self, ()> {
        let columns: Vec<&str> = line.split(',').collect();
        let number = |at: usize| columns.get(at).and_then(|text| text.parse().ok()).ok_or(());
        let moment = columns.get(5).ok_or(())?;
        let moment = Moment::ALL
            .into_iter()
            .find(|known| known.name() == *moment);
        if columns.len() != 9 {
            return Err(());
        }
        Ok(Self {
            case: FanCase {
                mbit_per_s: number(0)?,
                one_way_ms: number(1)?,
                connections: u32::try_from(number(2)?).map_err(|_| ())?,
                size_bytes: number(3)?,
                idle_ms: number(4)?,
            },
            moment: moment.ok_or(())?,
            connection: u32::try_from(number(6)?).map_err(|_| ())?,
            time: FanTime {
                begun_us: number(7)?,
                done_us: number(8)?,
            },
        })
    }
}

/// Reads a table with its header. Lines that begin with `#` are comments on its origin. Cases keep their
/// order.
///
/// # Errors
/// [`FanRowError`] with the first line that is wrong.
pub fn parse(text: &str) -> Result<Vec<(FanCase, FanTimes)>, FanRowError> {
    let mut cases: Vec<(FanCase, FanTimes)> = Vec::new();
    for (at, text) in text.lines().enumerate() {
        let line = at + 1;
        if text.starts_with('#') || text == HEADER {
            continue;
        }
        let text_of_line = || text.to_owned();
        let row = FanRow::from_str(text).map_err(|()| FanRowError::Columns {
            line,
            text: text_of_line(),
        })?;
        let is_known = cases.iter().position(|(case, _)| *case == row.case);
        let place = is_known.unwrap_or_else(|| {
            cases.push((row.case, FanTimes::default()));
            cases.len() - 1
        });
        let times = &mut cases[place].1[row.moment as usize];
        if times.len() != row.connection as usize {
            let connection = row.connection;
            return Err(FanRowError::Order { line, connection });
        }
        times.push(row.time);
    }
    Ok(cases)
}
