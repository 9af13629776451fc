//! The simulator beside what was measured.

use super::*;

const LINUX: &str = include_str!("../../measured/fan-out-linux.csv");

/// Errors of the simulated cases for which `selected` holds.
fn errors_of(text: &str, stack: FanStack, selected: impl Fn(&FanCase) -> bool) -> FanErrors {
    let measured = parse(text).unwrap();
    let cases = measured.iter().filter(|(case, _)| selected(case));
    let pairs: Vec<_> = cases
        .map(|(case, times)| (times, simulated(case, stack)))
        .collect();
    errors(
        pairs
            .iter()
            .map(|(measured, simulated)| (*measured, simulated)),
    )
}

/// Cells of one connection are left out: whether the kernel's send buffer holds a warm message differs from run to run.
#[test]
fn a_kernels_connections_share_its_device_as_they_do_here() {
    let is_quick =
        |case: &FanCase| (2..100).contains(&case.connections) && case.size_bytes < 1_000_000;
    let errors = errors_of(LINUX, FanStack::Linux, is_quick);
    assert!(errors.of >= 140, "{errors:?}");
    assert!(errors.within * 100 >= errors.of * 95, "{errors:?}");
    assert!(errors.mean_of_connections < 0.01, "{errors:?}");
}

#[test]
fn longer_turns_would_not_be_true() {
    let case = FanCase {
        mbit_per_s: 38,
        one_way_ms: 100,
        connections: 50,
        size_bytes: 250_000,
        turn_bytes: 0,
        idle_ms: 5_000,
    };
    let of_case = |stack| errors_of(LINUX, stack, |other| *other == case);
    let (device, shadow) = (of_case(FanStack::Linux), of_case(FanStack::Shadow));
    assert!(device.mean_of_connections < 0.01, "{device:?}");
    assert!(shadow.mean_of_connections > 0.1, "{shadow:?}");
}
