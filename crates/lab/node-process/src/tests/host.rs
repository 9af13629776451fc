use super::{cpu_us, monotonic_ns, rss_kib, vm_rss};

#[test]
fn the_kernel_reports_resident_memory_in_kib() {
    assert_eq!(
        vm_rss("Name:\tx\nVmHWM:\t  900 kB\nVmRSS:\t    1234 kB\nThreads:\t1\n"),
        Some(1234)
    );
    assert_eq!(vm_rss("Name:\tx\n"), None);
    assert_eq!(vm_rss("VmRSS:\t1 MB\n"), None);
}

#[test]
fn a_running_process_has_memory_and_spends_time() {
    assert!(rss_kib() > 100);
    let (time_ns, spent_us) = (monotonic_ns(), cpu_us());
    let mut turns = 0_u64;
    while cpu_us() < spent_us + 1_000 {
        turns = std::hint::black_box(turns + 1);
    }
    assert!(monotonic_ns() > time_ns);
}
