#![doc = include_str!("../README.md")]

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::time::{Instant, Sleep, sleep_until};

#[cfg(test)]
mod tests;

/// The name that libp2p imports.
pub use self::WheelTimer as Delay;

/// Longest wait, about 30 years. Deadlines beyond the clock's range are treated as if there were none.
const LONGEST: Duration = Duration::from_secs(30 * 365 * 24 * 3600);

/// Future that completes after a given time.
pub struct WheelTimer {
    deadline: Instant,
    /// Entry in the timer wheel. Created when the future is first polled, because the future itself may be
    /// created outside a runtime.
    sleep: Option<Pin<Box<Sleep>>>,
}

impl WheelTimer {
    /// Creates a future that completes after `duration`, counted from now.
    #[must_use]
    pub fn new(duration: Duration) -> Self {
        Self {
            deadline: deadline(duration),
            sleep: None,
        }
    }

    /// Sets the deadline to `duration` from now, even if the future has already completed.
    pub fn reset(&mut self, duration: Duration) {
        self.deadline = deadline(duration);
        if let Some(sleep) = &mut self.sleep {
            sleep.as_mut().reset(self.deadline);
        }
    }
}

fn deadline(duration: Duration) -> Instant {
    Instant::now() + duration.min(LONGEST)
}

impl Future for WheelTimer {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let deadline = self.deadline;
        let sleep = self
            .sleep
            .get_or_insert_with(|| Box::pin(sleep_until(deadline)));
        sleep.as_mut().poll(context)
    }
}

impl fmt::Debug for WheelTimer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WheelTimer").finish_non_exhaustive()
    }
}
