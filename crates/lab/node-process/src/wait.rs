use std::thread;
use std::time::{Duration, Instant};

/// Interval between two attempts.
const POLL: Duration = Duration::from_millis(20);

/// Calls `look` until it returns a result; returns `None` after `limit`.
pub fn wait_for<T>(limit: Duration, mut look: impl FnMut() -> Option<T>) -> Option<T> {
    let begun = Instant::now();
    loop {
        let found = look();
        if found.is_some() || begun.elapsed() >= limit {
            return found;
        }
        thread::sleep(POLL);
    }
}
