//! Processor time of this process, which excludes other processes on the machine.

use rustix::time::{ClockId, clock_gettime};

fn now_ms() -> f64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    time.tv_sec as f64 * 1e3 + time.tv_nsec as f64 / 1e6
}

/// Returns the median of `runs` runs, each on its own input, which is prepared outside the measurement.
pub(super) fn median_ms<I, T>(
    runs: usize,
    mut prepare: impl FnMut() -> I,
    mut work: impl FnMut(I) -> T,
) -> f64 {
    let mut times: Vec<f64> = (0..runs)
        .map(|_| {
            let input = prepare();
            let before = now_ms();
            let result = std::hint::black_box(work(input));
            let after = now_ms();
            drop(result);
            after - before
        })
        .collect();
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}
