//! The paper's latency figures, from the vendored table.

use undertone_lab::published::MULTIHOST_LATENCY;

/// Row of the paper's latency table, milliseconds.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct PaperRow {
    pub(crate) size_kb: usize,
    pub(crate) prove: f64,
    /// Transmission and validation times, hop by hop.
    pub(crate) hops: Vec<(f64, f64)>,
    pub(crate) total: f64,
}

/// Returns the paper's row for a message size, if there is one.
pub(crate) fn row(size_kb: usize) -> Option<PaperRow> {
    MULTIHOST_LATENCY
        .lines()
        .skip(1)
        .filter_map(parse)
        .find(|row| row.size_kb == size_kb)
}

fn parse(line: &str) -> Option<PaperRow> {
    let mut numbers = line.split(',').map(str::parse::<f64>);
    let mut next = || numbers.next()?.ok();
    let size_kb = next()? as usize;
    let prove = next()?;
    let mut hops = Vec::new();
    for _ in 0..4 {
        hops.push((next()?, next()?));
    }
    Some(PaperRow {
        size_kb,
        prove,
        hops,
        total: next()?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_size_of_the_paper_is_there() {
        for (size_kb, prove, total) in [
            (2, 236.0, 477.0),
            (25, 258.0, 945.0),
            (100, 223.0, 1689.0),
            (500, 247.0, 2468.0),
        ] {
            let row = row(size_kb).expect("the vendored table is whole");
            assert_eq!((row.prove, row.total, row.hops.len()), (prove, total, 4));
        }
        assert_eq!(row(3), None);
    }

    #[test]
    fn hops_keep_their_order() {
        let row = row(2).expect("the vendored table is whole");
        assert_eq!(
            row.hops,
            [(38.0, 6.0), (105.0, 7.0), (29.0, 5.0), (42.0, 6.0)]
        );
    }
}
