//! A progress line on standard error.

use std::cell::RefCell;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

/// Progress line on standard error; hidden when the output is JSON. It appears with the first step after it was
/// created or finished.
pub(crate) struct Spinner {
    is_shown: bool,
    bar: RefCell<Option<ProgressBar>>,
}

impl Spinner {
    pub(crate) fn new(is_shown: bool) -> Self {
        Self {
            is_shown,
            bar: RefCell::default(),
        }
    }

    pub(crate) fn say(&self, what: impl Into<String>) {
        if self.is_shown {
            let mut bar = self.bar.borrow_mut();
            bar.get_or_insert_with(spinner).set_message(what.into());
        }
    }

    pub(crate) fn finish(&self) {
        if let Some(bar) = self.bar.take() {
            bar.finish_and_clear();
        }
    }
}

#[cfg(feature = "lab")]
impl undertone_fleet::Progress for Spinner {
    fn step(&self, what: &str) {
        self.say(what);
    }

    fn note(&self, what: &str) {
        match &*self.bar.borrow() {
            Some(bar) => bar.suspend(|| super::output::note(what)),
            None => super::output::note(what),
        }
    }

    fn finish(&self) {
        self.finish();
    }
}

fn spinner() -> ProgressBar {
    let bar = ProgressBar::new_spinner();
    let style = ProgressStyle::with_template("{spinner} [{elapsed}] {msg}")
        .unwrap_or_else(|_| ProgressStyle::default_spinner());
    bar.set_style(style);
    bar.enable_steady_tick(Duration::from_millis(100));
    bar
}
