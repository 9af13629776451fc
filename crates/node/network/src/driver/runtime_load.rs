//! Load of the runtime: the share of time for which its threads were busy.

use std::time::{Duration, Instant};

use tokio::runtime::RuntimeMetrics;

/// Load of the runtime over the last interval.
#[derive(Debug)]
pub(crate) struct RuntimeLoad {
    sampled: Instant,
    busy: Duration,
    load: f64,
}

impl RuntimeLoad {
    /// Begins the first interval. Until its end, the load is 0.
    pub(crate) fn new(now: Instant, runtime: &RuntimeMetrics) -> Self {
        Self {
            sampled: now,
            busy: busy(runtime),
            load: 0.0,
        }
    }

    /// Ends an interval, and begins the next one.
    pub(crate) fn sample(&mut self, now: Instant, runtime: &RuntimeMetrics) {
        self.end_interval(now, busy(runtime), runtime.num_workers());
    }

    /// Returns the load of the last complete interval: 0 if the threads were always idle, 1 if they were always busy.
    pub(crate) fn load(&self) -> f64 {
        self.load
    }

    fn end_interval(&mut self, now: Instant, busy: Duration, threads: usize) {
        let worked = busy.saturating_sub(self.busy).as_secs_f64();
        let passed = now.duration_since(self.sampled).as_secs_f64();
        if passed > 0.0 && threads > 0 {
            // A thread reports the time of a task when the task yields, which may be in a later interval.
            self.load = (worked / passed / threads as f64).min(1.0);
        }
        self.sampled = now;
        self.busy = busy;
    }
}

/// Returns the total time for which the runtime's threads have been busy.
fn busy(runtime: &RuntimeMetrics) -> Duration {
    let threads = 0..runtime.num_workers();
    threads
        .map(|thread| runtime.worker_total_busy_duration(thread))
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_load_is_that_of_the_last_interval() {
        let at = Instant::now();
        let second = Duration::from_secs(1);
        let mut load = RuntimeLoad {
            sampled: at,
            busy: Duration::ZERO,
            load: 0.0,
        };
        load.end_interval(at + second, second, 2);
        assert!((load.load() - 0.5).abs() < 1e-9);
        load.end_interval(at + second * 3, second * 2, 2);
        assert!((load.load() - 0.25).abs() < 1e-9);
        // Work that began before the interval.
        load.end_interval(at + second * 4, second * 9, 2);
        assert!((load.load() - 1.0).abs() < 1e-9);
        load.end_interval(at + second * 4, second * 9, 2);
        assert!((load.load() - 1.0).abs() < 1e-9, "no time has passed");
    }
}
