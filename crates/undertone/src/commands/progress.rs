//! A progress line on standard error.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

/// Progress line on standard error; hidden when the output is JSON.
pub(crate) struct Progress(ProgressBar);

impl Progress {
    pub(crate) fn new(shown: bool) -> Self {
        let bar = if shown {
            ProgressBar::new_spinner()
        } else {
            ProgressBar::hidden()
        };
        let style = ProgressStyle::with_template("{spinner} [{elapsed}] {msg}")
            .unwrap_or_else(|_| ProgressStyle::default_spinner());
        bar.set_style(style);
        bar.enable_steady_tick(Duration::from_millis(100));
        Self(bar)
    }

    pub(crate) fn say(&self, what: impl Into<String>) {
        let what = what.into();
        if self.0.is_hidden() {
            return;
        }
        self.0.set_message(what);
    }

    pub(crate) fn finish(&self) {
        self.0.finish_and_clear();
    }
}
