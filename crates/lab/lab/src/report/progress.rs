//! One line on standard error that shows the progress of a run.

use std::cell::Cell;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};
use undertone_sim::Progress;

/// Number of steps of the progress bar.
const STEPS: u64 = 1_000;

/// Time between two progress lines where standard error is not a terminal, as in a job's log.
const LOG_EVERY: Duration = Duration::from_secs(30);

/// Progress line; silent when the output is for programs. Where standard error is not a terminal, a long run writes a
/// new line now and then instead of updating one.
#[derive(Debug)]
pub struct ProgressLine {
    bar: ProgressBar,
    log: Option<ProgressLog>,
    started: Instant,
    what: String,
}

impl ProgressLine {
    /// A progress line for the activity `what`, visible if `shown`.
    pub fn new(what: &str, shown: bool) -> Self {
        let bar = if shown {
            ProgressBar::new(STEPS)
        } else {
            ProgressBar::hidden()
        };
        let style = ProgressStyle::with_template("{bar:20} {msg}")
            .unwrap_or_else(|_| ProgressStyle::default_bar());
        bar.set_style(style);
        let log = (shown && bar.is_hidden()).then(|| ProgressLog::new(Instant::now()));
        Self {
            bar,
            log,
            started: Instant::now(),
            what: what.to_owned(),
        }
    }

    /// Shows the progress of the run.
    pub fn update(&self, progress: Progress) {
        if let Some(log) = &self.log
            && log.is_due(Instant::now())
        {
            let (_, message) = describe(progress, self.started.elapsed());
            eprintln!("{}: {message}", self.what);
        }
        if self.bar.is_hidden() {
            return;
        }
        let (position, message) = describe(progress, self.started.elapsed());
        self.bar.set_position(position);
        self.bar.set_message(format!("{}: {message}", self.what));
    }

    /// Shows only the activity, for work whose progress is unknown.
    pub fn wait(&self) {
        if let Ok(style) = ProgressStyle::with_template("{spinner} {msg}") {
            self.bar.set_style(style);
        }
        self.bar.set_message(self.what.clone());
        self.bar.enable_steady_tick(Duration::from_millis(200));
    }

    /// Shows the progress in words.
    pub fn tell(&self, how_far: &str) {
        self.bar.set_message(format!("{}: {how_far}", self.what));
    }

    /// Removes the progress line.
    pub fn finish(self) {
        self.bar.finish_and_clear();
    }
}

/// Time of the last line in a log.
#[derive(Debug)]
pub(super) struct ProgressLog {
    last: Cell<Instant>,
}

impl ProgressLog {
    /// A log whose first line is due [`LOG_EVERY`] after `now`.
    pub(super) fn new(now: Instant) -> Self {
        Self {
            last: Cell::new(now),
        }
    }

    /// Whether a line is due now. If so, the next one is due [`LOG_EVERY`] later.
    pub(super) fn is_due(&self, now: Instant) -> bool {
        let is_due = now.duration_since(self.last.get()) >= LOG_EVERY;
        if is_due {
            self.last.set(now);
        }
        is_due
    }
}

/// Returns the position of the bar and the text beside it.
pub(super) fn describe(progress: Progress, elapsed: Duration) -> (u64, String) {
    let done = progress.virtual_ns as f64 / progress.end_ns.max(1) as f64;
    let rate = progress.events as f64 / elapsed.as_secs_f64().max(1e-3);
    let message = format!(
        "{:.1} of {:.1} s, {:.2} M events/s, {} deliveries",
        progress.virtual_ns as f64 / 1e9,
        progress.end_ns as f64 / 1e9,
        rate / 1e6,
        progress.deliveries
    );
    ((done.min(1.0) * STEPS as f64) as u64, message)
}
