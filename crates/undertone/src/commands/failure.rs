//! How a command that failed says so.

use std::fmt::Display;
use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;

/// The work failed. The errors of the crates below say whose fault it is; by the time that one
/// arrives here, all that is left is to tell a person.
#[derive(Debug)]
pub(crate) struct Failure {
    message: String,
    remedy: Option<String>,
    code: u8,
}

impl Failure {
    /// A failure that needs no advice beyond its message.
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            remedy: None,
            code: 1,
        }
    }

    /// It was asked for wrongly, in a way that the flags alone do not show.
    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Self {
            code: 2,
            ..Self::new(message)
        }
    }

    /// What went wrong with a file, for errors that do not name it themselves.
    pub(crate) fn at(path: &Path, error: impl Display) -> Self {
        Self::new(format!("{}: {error}", path.display()))
    }

    /// Adds what to do about it.
    pub(crate) fn with_help(mut self, remedy: impl Into<String>) -> Self {
        self.remedy = Some(remedy.into());
        self
    }

    /// What went wrong, for a command that reports it as part of something larger.
    pub(crate) fn into_message(self) -> String {
        self.message
    }

    /// Tells the person at standard error; gives the exit code.
    pub(crate) fn report(self) -> ExitCode {
        let mut stderr = io::stderr().lock();
        // When standard error is closed, the exit code is all that is left to say.
        let _ = writeln!(stderr, "error: {}", self.message);
        if let Some(remedy) = self.remedy {
            let _ = writeln!(stderr, "help: {remedy}");
        }
        ExitCode::from(self.code)
    }
}
