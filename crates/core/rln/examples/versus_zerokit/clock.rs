//! Processor time of the process: it includes all threads, but no other processes on the machine.

use rustix::time::{ClockId, clock_gettime};

fn now_ms() -> f64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    time.tv_sec as f64 * 1e3 + time.tv_nsec as f64 / 1e6
}

/// Returns the processor time of `work`, and its result.
pub(crate) fn once_ms<T>(work: impl FnOnce() -> T) -> (f64, T) {
    let before = now_ms();
    let result = work();
    (now_ms() - before, result)
}

/// Returns the median of `runs` runs after a warm-up run. `prepare` makes each run's input and is
/// not measured.
pub(crate) fn median_ms<I, T>(
    runs: usize,
    mut prepare: impl FnMut() -> I,
    mut work: impl FnMut(I) -> T,
) -> f64 {
    let mut times: Vec<f64> = (0..=runs)
        .map(|_| {
            let input = prepare();
            once_ms(|| std::hint::black_box(work(input))).0
        })
        .skip(1)
        .collect();
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}
