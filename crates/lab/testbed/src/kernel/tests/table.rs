use undertone_link::packet::Rate;

use super::*;
use crate::{Congestion, PumpReport};

fn run(ms: [u64; 3]) -> Measured {
    Measured {
        took: ms.map(Duration::from_millis),
        packets: PumpReport::default(),
        sockets: Vec::new(),
    }
}

fn row(size_bytes: usize, one_way_ms: u64, runs: Vec<Measured>) -> Row {
    let case = Case {
        size_bytes,
        one_way_ms,
        rate: Rate::mbit_per_s(100).unwrap(),
        congestion: Congestion::Cubic,
        idle: Duration::from_secs(10),
        send_buffer_bytes: None,
        sockets: false,
    };
    Row {
        case,
        runs,
        predicted_ms: None,
    }
}

#[test]
fn the_median_is_the_middle_one() {
    let of = |ms: &[u64]| median_ms(ms.iter().copied().map(Duration::from_millis));
    assert_eq!(of(&[9, 1, 5]), Some(5.0));
    assert_eq!(of(&[]), None);
}

#[test]
fn a_line_for_each_size_and_gaps_where_nothing_was_measured() {
    let far = Row {
        predicted_ms: Some([151.0, 152.0, 153.5]),
        ..row(2000, 150, vec![run([150, 151, 152])])
    };
    let near = row(
        1_000_000,
        75,
        vec![run([900, 100, 3]), run([901, 90, 2]), run([800, 110, 1])],
    );
    assert_eq!(
        table(&[near, far]),
        "| size | 75 ms cold | 75 ms warm | 75 ms idle | 150 ms cold | 150 ms warm | 150 ms idle |\n\
         | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n\
         | 2 KB |  |  |  | 150.0 / 151.0 | 151.0 / 152.0 | 152.0 / 153.5 |\n\
         | 1 MB | 900.0 | 100.0 | 2.0 |  |  |  |\n"
    );
}
