//! Bound on equal log lines: what strangers do again and again, under ever new identities, does not fill a disk.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use tracing::callsite::Identifier;
use tracing::{Event, Level, Subscriber};
use tracing_subscriber::layer::{Context, Layer};

#[cfg(test)]
#[path = "tests/share.rs"]
mod tests;

/// Lines that one place in the source writes in a minute at most, at the levels from info on.
const LINES_MAX: u32 = 60;

const WINDOW: Duration = Duration::from_secs(60);

/// Layer that leaves out lines beyond the share of their place in the source, and says how many.
#[derive(Default)]
pub(super) struct LineShares(Mutex<HashMap<Identifier, LineShare>>);

/// Lines of one place in the source.
#[derive(Default)]
struct LineShare {
    since: Option<Instant>,
    lines: u32,
    left_out: u64,
}

/// Whether a line is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LineVerdict {
    Written,
    /// The first line after so many that were left out.
    WrittenAfter(u64),
    LeftOut,
}

impl LineShare {
    fn line(&mut self, now: Instant) -> LineVerdict {
        let since = *self.since.get_or_insert(now);
        let mut left_out = 0;
        if now.saturating_duration_since(since) >= WINDOW {
            left_out = std::mem::take(&mut self.left_out);
            (self.since, self.lines) = (Some(now), 0);
        }
        if self.lines >= LINES_MAX {
            self.left_out = self.left_out.saturating_add(1);
            return LineVerdict::LeftOut;
        }
        self.lines += 1;
        match left_out {
            0 => LineVerdict::Written,
            left_out => LineVerdict::WrittenAfter(left_out),
        }
    }
}

impl<S: Subscriber> Layer<S> for LineShares {
    fn event_enabled(&self, event: &Event<'_>, _: Context<'_, S>) -> bool {
        let metadata = event.metadata();
        if *metadata.level() > Level::INFO {
            return true; // Whoever asks for the details gets them all.
        }
        let verdict = {
            let mut shares = self.0.lock();
            let share = shares.entry(metadata.callsite()).or_default();
            share.line(Instant::now())
        };
        if let LineVerdict::WrittenAfter(lines) = verdict {
            tracing::warn!(
                lines,
                target = metadata.target(),
                line = metadata.line(),
                "left out further lines like the next one: there were more than {LINES_MAX} in a minute"
            );
        }
        verdict != LineVerdict::LeftOut
    }
}
