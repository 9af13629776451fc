//! Limit on repeated log lines, so that strangers who repeat an action under ever new identities cannot fill the
//! disk.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use tracing::callsite::Identifier;
use tracing::{Event, Level, Subscriber};
use tracing_subscriber::layer::{Context, Layer};

#[cfg(test)]
#[path = "tests/share.rs"]
mod tests;

/// Maximum number of lines per minute from one place in the source, for info and more severe levels.
const LINES_MAX: u32 = 60;

const WINDOW: Duration = Duration::from_secs(60);

/// Layer that drops lines beyond the limit of their place in the source and reports how many.
#[derive(Default)]
pub(super) struct LineShares(Mutex<HashMap<Identifier, LineShare>>);

/// Counts of lines from one place in the source.
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
    /// Written, as the first line after this number of dropped lines.
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
            return true; // Finer levels are not limited: whoever enables them wants all details.
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
