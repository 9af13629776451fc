//! The terminal in raw mode with the alternate screen, restored under all circumstances.
//!
//! `ratatui::init` and `restore` are not enough: each `init` adds another panic hook, also after each suspension, and
//! neither handles standard error or bracketed paste.

use std::fs::OpenOptions;
use std::io::{self, IsTerminal as _};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, Once, PoisonError};

use crossterm::event::{DisableBracketedPaste, EnableBracketedPaste};
use crossterm::terminal::{
    EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode,
};
use crossterm::{cursor, execute};
use rustix::process::{Signal, getpid, kill_process};

/// Number of SIGTSTP, which asks the program to stop.
pub(super) const SUSPEND: i32 = Signal::TSTP.as_raw();

/// Number of SIGCONT, after which the program continues.
pub(super) const RESUME: i32 = Signal::CONT.as_raw();

/// State to restore, also from the panic hook; `None` while the terminal is not taken.
static TAKEN: Mutex<Option<Taken>> = Mutex::new(None);

struct Taken {
    /// Original standard error, if it was the terminal.
    stderr: Option<OwnedFd>,
}

/// Guard of the terminal; dropping it restores the terminal.
pub(super) struct Guard {
    log: PathBuf,
}

impl Guard {
    /// Takes the terminal. Standard error goes to the file `log` if it would reach the terminal.
    pub(super) fn take(log: &Path) -> io::Result<Self> {
        static HOOK: Once = Once::new();
        HOOK.call_once(|| {
            let previous = std::panic::take_hook();
            std::panic::set_hook(Box::new(move |panic| {
                release();
                previous(panic);
            }));
        });
        let guard = Self {
            log: log.to_owned(),
        };
        guard.acquire()?;
        Ok(guard)
    }

    /// Takes the terminal again, whatever its present state.
    pub(super) fn retake(&self) -> io::Result<()> {
        release();
        self.acquire()
    }

    /// Restores the terminal temporarily.
    pub(super) fn release(&self) {
        release();
    }

    fn acquire(&self) -> io::Result<()> {
        enable_raw_mode()?;
        // From here on there is something to restore.
        *TAKEN.lock().unwrap_or_else(PoisonError::into_inner) = Some(Taken { stderr: None });
        execute!(io::stdout(), EnterAlternateScreen, EnableBracketedPaste)?;
        if io::stderr().is_terminal() {
            let mut options = OpenOptions::new();
            let log = options.create(true).append(true).open(&self.log)?;
            let before = rustix::io::dup(io::stderr())?;
            rustix::stdio::dup2_stderr(&log)?;
            *TAKEN.lock().unwrap_or_else(PoisonError::into_inner) = Some(Taken {
                stderr: Some(before),
            });
        }
        Ok(())
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        release();
    }
}

/// Restores the terminal if it is taken. Errors are ignored: the terminal may be gone.
fn release() {
    let mut taken = TAKEN.lock().unwrap_or_else(PoisonError::into_inner);
    let Some(taken) = taken.take() else { return };
    let _ = execute!(
        io::stdout(),
        DisableBracketedPaste,
        LeaveAlternateScreen,
        cursor::Show
    );
    let _ = disable_raw_mode();
    if let Some(stderr) = taken.stderr {
        let _ = rustix::stdio::dup2_stderr(stderr);
    }
}

/// Stops this process until another one continues it. Uses SIGSTOP, because SIGTSTP is caught.
pub(super) fn stop_self() -> io::Result<()> {
    Ok(kill_process(getpid(), Signal::STOP)?)
}
