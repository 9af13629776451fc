use super::*;

fn samples(memory_mib: impl Fn(usize) -> f64) -> NodeSamples {
    let mut samples = NodeSamples::new("node");
    for number in 0..40 {
        samples.add(ProcessLook {
            memory_mib: memory_mib(number),
            handles: 20 + number % 3,
            threads: 9,
            ..ProcessLook::default()
        });
    }
    samples
}

#[test]
fn memory_that_reaches_its_bound_is_bounded() {
    assert_eq!(samples(|n| 50.0 + n.min(15) as f64).defects(), [""; 0]);
}

#[test]
fn memory_that_grows_to_the_end_is_told() {
    assert_eq!(samples(|n| 50.0 + n as f64).defects(), ["memory grows"]);
}

#[test]
fn a_process_that_ended_is_no_bounded_one() {
    let mut samples = samples(|_| 50.0);
    samples.add(ProcessLook::default());
    assert_eq!(samples.defects(), ["the process ended"]);
}

#[test]
fn descriptors_and_threads_that_grow_are_told() {
    let mut samples = samples(|_| 50.0);
    for _ in 0..10 {
        samples.add(ProcessLook {
            memory_mib: 50.0,
            handles: 40,
            threads: 10,
            ..ProcessLook::default()
        });
    }
    assert_eq!(samples.defects(), ["descriptors grow", "threads grow"]);
}
