//! Processor time of the process: other processes on the machine do not count, threads do.

use rustix::time::{ClockId, clock_gettime};

fn now_ms() -> f64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    time.tv_sec as f64 * 1e3 + time.tv_nsec as f64 / 1e6
}

/// The processor time of `work`, and what it returns.
pub(crate) fn once_ms<T>(work: impl FnOnce() -> T) -> (f64, T) {
    let before = now_ms();
    let result = work();
    (now_ms() - before, result)
}

/// The median of `runs` runs after one that does not count. `prepare` makes each run's input and
/// is not counted.
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
