//! The chat on a terminal: messages, status and an input line on the alternate screen.

mod input;
mod terminal;
mod view;

use std::io;
use std::path::Path;

use crossterm::event::{self as term, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use crossterm::terminal::{Clear, ClearType};
use ratatui::Terminal;
use ratatui::backend::CrosstermBackend;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::mpsc;

use self::terminal::Guard;
use self::view::ScreenView;
use crate::events::ChatEvent;
use crate::session::Front;
use crate::typed::{Input, Typed};

/// Maximum number of terminal events in the queue.
const QUEUE: usize = 64;

/// Front end that draws on the terminal. Dropping it restores the terminal.
pub(crate) struct Screen {
    terminal: Terminal<CrosstermBackend<io::Stdout>>,
    view: ScreenView,
    guard: Guard,
}

impl Screen {
    /// Takes the terminal; log lines that would disturb the screen go to the file `log`.
    ///
    /// # Errors
    /// An error of the terminal or the file.
    pub(crate) fn open(log: &Path, nick: &str) -> io::Result<Self> {
        let guard = Guard::take(log)?;
        let terminal = Terminal::new(CrosstermBackend::new(io::stdout()))?;
        let view = ScreenView::new(nick);
        Ok(Self {
            terminal,
            view,
            guard,
        })
    }

    /// Takes the terminal again after a suspension, and redraws everything.
    fn resume(&mut self) -> io::Result<()> {
        self.guard.retake()?;
        self.redraw()
    }

    /// Redraws everything. `Terminal::clear` would query the terminal for the cursor position, and the answer would
    /// go to the thread that reads keys.
    fn redraw(&mut self) -> io::Result<()> {
        crossterm::execute!(io::stdout(), Clear(ClearType::All))?;
        self.terminal = Terminal::new(CrosstermBackend::new(io::stdout()))?;
        self.flush()
    }

    /// Restores the terminal and stops the program until it is continued.
    fn suspend(&mut self) -> io::Result<()> {
        self.guard.release();
        terminal::stop_self()?;
        self.resume()
    }

    fn key(&mut self, key: KeyEvent) -> io::Result<Option<Typed>> {
        if key.kind == KeyEventKind::Release {
            return Ok(None);
        }
        let is_control = key.modifiers.contains(KeyModifiers::CONTROL);
        match key.code {
            KeyCode::Char('c') if is_control => return Ok(Some(Typed::Quit)),
            KeyCode::Char('d') if is_control && self.view.input.text().is_empty() => {
                return Ok(Some(Typed::Quit));
            }
            KeyCode::Char('z') if is_control => self.suspend()?,
            KeyCode::Char('l') if is_control => self.redraw()?,
            KeyCode::PageUp => self.view.scroll_up(),
            KeyCode::PageDown => self.view.scroll_down(),
            KeyCode::Enter => {
                self.view.scroll_to_end();
                return Ok(Typed::read(&self.view.input.take()));
            }
            _ => self.view.input.key(key),
        }
        Ok(None)
    }
}

impl Front for Screen {
    fn show(&mut self, event: &ChatEvent) -> io::Result<()> {
        self.view.show(event);
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.terminal.draw(|frame| self.view.draw(frame))?;
        Ok(())
    }

    fn typed(&mut self, input: Input) -> io::Result<Option<Typed>> {
        match input {
            Input::Terminal(term::Event::Key(key)) => return self.key(key),
            Input::Terminal(term::Event::Paste(text)) => self.view.input.paste(&text),
            Input::Terminal(_) => {}
            Input::Suspend => self.suspend()?,
            Input::Resume => self.resume()?,
            Input::Line(line) => return Ok(Typed::read(&line)),
            Input::TooLong => {}
            // The terminal is gone.
            Input::End => return Ok(Some(Typed::Quit)),
        }
        Ok(None)
    }

    fn waits(&self) -> bool {
        false
    }
}

/// Reads the terminal in a separate thread, and listens for the signals that concern it.
///
/// # Errors
/// The operating system's error if the program cannot listen for a signal.
pub(crate) fn read_terminal() -> io::Result<mpsc::Receiver<Input>> {
    let (sender, receiver) = mpsc::channel(QUEUE);
    for (number, input) in [
        (terminal::SUSPEND, Input::Suspend),
        (terminal::RESUME, Input::Resume),
    ] {
        let mut signals = signal(SignalKind::from_raw(number))?;
        let sender = sender.clone();
        tokio::spawn(async move {
            while signals.recv().await.is_some() {
                if sender.send(input.clone()).await.is_err() {
                    return;
                }
            }
        });
    }
    std::thread::spawn(move || {
        while let Ok(event) = term::read() {
            if sender.blocking_send(Input::Terminal(event)).is_err() {
                return;
            }
        }
        // The chat may have ended.
        let _ = sender.blocking_send(Input::End);
    });
    Ok(receiver)
}
