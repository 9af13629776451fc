use std::time::Duration;

use undertone_link::packet::Rate;

use super::*;
use crate::Congestion;
use crate::kernel::slow_start_ms;

/// The formula and the model are independent of each other.
#[test]
fn the_simulator_and_the_formula_agree() {
    for one_way_ms in [5, 75, 100, 150] {
        for size_bytes in [1, 2_000, 14_480, 14_481, 25_000, 100_000, 500_000] {
            let case = Case {
                size_bytes,
                one_way_ms,
                rate: Rate::mbit_per_s(100).unwrap(),
                congestion: Congestion::Cubic,
                idle: Duration::from_secs(30),
                send_buffer_bytes: None,
                sockets: false,
            };
            let formula = slow_start_ms(&case);
            let simulated = simulated_ms(&case);
            if one_way_ms == 5 && size_bytes > 100_000 {
                // A window fills the path, and a round lasts as long as its packets take: the
                // formula does not cover that.
                assert!(
                    simulated[0] > formula[0] + 5.0,
                    "{simulated:?} against {formula:?}"
                );
                continue;
            }
            for (simulated, formula) in simulated.into_iter().zip(formula) {
                let apart = (simulated - formula).abs();
                assert!(apart < 2.0, "{case:?}: {simulated} against {formula}");
            }
        }
    }
}
