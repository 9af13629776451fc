//! The terminal as a screen of its own, given back whatever happens.
//!
//! `ratatui::init` and `restore` would not do: each `init` adds a panic hook, also after each stop, and neither knows of
//! standard error and of pasting.

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

/// Number of SIGTSTP: somebody asks the program to stop.
pub(super) const SUSPEND: i32 = Signal::TSTP.as_raw();

/// Number of SIGCONT: the program goes on.
pub(super) const RESUME: i32 = Signal::CONT.as_raw();

/// State to give back, known to the panic hook too; `None` while the terminal is the user's.
static TAKEN: Mutex<Option<Taken>> = Mutex::new(None);

struct Taken {
    /// Standard error as it was, if it was the terminal.
    stderr: Option<OwnedFd>,
}

/// Hold on the terminal; dropping it gives the terminal back.
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

    /// Takes the terminal again, whoever had it.
    pub(super) fn retake(&self) -> io::Result<()> {
        release();
        self.acquire()
    }

    /// Gives the terminal back for now.
    pub(super) fn release(&self) {
        release();
    }

    fn acquire(&self) -> io::Result<()> {
        enable_raw_mode()?;
        // From here on there is something to give back.
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

/// Gives the terminal back if it is taken. Nothing can be done about an error: the terminal may be gone.
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

/// Stops this process until another one continues it. SIGTSTP is caught, so it is SIGSTOP that stops.
pub(super) fn stop_self() -> io::Result<()> {
    Ok(kill_process(getpid(), Signal::STOP)?)
}
