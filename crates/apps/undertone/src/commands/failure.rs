//! The error that a failed command reports to its user.

use std::fmt::Display;
use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;

/// Failure of a command: a message for its user, an optional remedy and an exit code. Typed errors of the
/// libraries are converted to text here.
#[derive(Debug)]
pub(crate) struct Failure {
    message: String,
    remedy: Option<String>,
    code: u8,
}

impl Failure {
    /// Creates a failure with exit code 1 and no help text.
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            remedy: None,
            code: 1,
        }
    }

    /// Creates a failure with exit code 2: wrong usage that clap cannot detect.
    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Self {
            code: 2,
            ..Self::new(message)
        }
    }

    /// Creates a failure for an error that does not name its file itself.
    pub(crate) fn at(path: &Path, error: impl Display) -> Self {
        Self::new(format!("{}: {error}", path.display()))
    }

    /// Creates a failure with exit code 3: the data to verify could be read, but is not valid.
    pub(crate) fn invalid(message: impl Into<String>) -> Self {
        Self {
            code: 3,
            ..Self::new(message)
        }
    }

    /// Creates a failure for work stopped by its user, with the exit code that shells use for it.
    #[cfg(feature = "lab")]
    pub(crate) fn interrupted(message: impl Into<String>) -> Self {
        Self {
            code: super::interrupt::INTERRUPTED,
            ..Self::new(message)
        }
    }

    /// Adds a help text with advice.
    pub(crate) fn with_help(mut self, remedy: impl Into<String>) -> Self {
        self.remedy = Some(remedy.into());
        self
    }

    /// Returns the message alone, for a command that reports it as part of something larger.
    pub(crate) fn into_message(self) -> String {
        self.message
    }

    /// Prints message and help text on standard error; returns the exit code.
    pub(crate) fn report(self) -> ExitCode {
        let mut stderr = io::stderr().lock();
        // If standard error is closed, the exit code alone reports the failure.
        let _ = writeln!(stderr, "error: {}", self.message);
        if let Some(remedy) = self.remedy {
            let _ = writeln!(stderr, "help: {remedy}");
        }
        ExitCode::from(self.code)
    }
}
