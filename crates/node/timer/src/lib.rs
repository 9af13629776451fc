#![doc = include_str!("../README.md")]

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::time::{Instant, Sleep, sleep_until};

#[cfg(test)]
mod tests;

/// The name by which libp2p asks for it.
pub use self::WheelTimer as Delay;

/// Longest wait, about 30 years: a deadline further away than clocks reach is as good as none.
const LONGEST: Duration = Duration::from_secs(30 * 365 * 24 * 3600);

/// Future that ends after a time.
pub struct WheelTimer {
    deadline: Instant,
    /// Entry in the timer wheel, made when the future is polled first: it may be created outside of a runtime.
    sleep: Option<Pin<Box<Sleep>>>,
}

impl WheelTimer {
    /// Creates a future that ends after `duration`, counted from now.
    #[must_use]
    pub fn new(duration: Duration) -> Self {
        Self {
            deadline: deadline(duration),
            sleep: None,
        }
    }

    /// Changes the time of the end to `duration` from now, also if the future has ended before.
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
