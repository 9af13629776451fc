use super::super::memory::{estimated_bytes, mem_available_bytes};
use crate::scenario::load;

#[test]
fn the_estimate_is_near_what_was_measured() {
    // Megabytes from docs/measurements/benchmarks.md.
    for (name, measured) in [("scale-10k", 168.0), ("scale-100k", 1629.0)] {
        let scenario = load(name, &[]).unwrap().scenario;
        let ratio = estimated_bytes(&scenario) as f64 / 1e6 / measured;
        assert!((0.7..1.5).contains(&ratio), "{name}: {ratio}");
    }
    // A million nodes with two hundred connections each do not fit anywhere.
    let scenario = load("scale-1m", &["topology.dials=100".to_owned()])
        .unwrap()
        .scenario;
    assert!(estimated_bytes(&scenario) > 50_000_000_000);
}

#[test]
fn free_memory_is_what_the_system_says() {
    let meminfo = "MemTotal:       24000000 kB\nMemFree:  1 kB\nMemAvailable:   1000 kB\n";
    assert_eq!(mem_available_bytes(meminfo), Some(1_024_000));
    assert_eq!(mem_available_bytes("MemTotal: 1 kB\n"), None);
}
