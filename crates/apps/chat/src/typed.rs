//! The user's input: texts and commands.

use std::io::{self, BufRead};

use tokio::sync::mpsc;

#[cfg(test)]
#[path = "tests/typed.rs"]
mod tests;

/// Longest line of the input, bytes.
pub(crate) const LINE_BYTES_MAX: usize = 64 * 1024;

/// Maximum number of input lines in the queue.
const QUEUE: usize = 16;

/// Commands and their descriptions.
pub(crate) const COMMANDS: [(&str, &str); 5] = [
    ("/help", "these commands"),
    ("/peers", "the connected peers"),
    ("/status", "connection and messages left"),
    ("/quit", "end the chat"),
    ("//text", "send a text that begins with a slash"),
];

/// Input from the user to the program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Input {
    /// A line of standard input.
    Line(String),
    /// A line longer than [`LINE_BYTES_MAX`]; it was dropped.
    TooLong,
    /// The end of the standard input.
    End,
    /// A key, a paste or a resize of the terminal.
    Terminal(crossterm::event::Event),
    /// SIGTSTP: the program must give up the terminal.
    Suspend,
    /// SIGCONT: the program continues after having been stopped.
    Resume,
}

/// Parsed request of the user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Typed {
    /// Sends a text.
    Text(String),
    /// Lists the commands.
    Help,
    /// Lists the peers.
    Peers,
    /// Shows the status.
    Status,
    /// Ends the chat now.
    Quit,
    /// Ends the chat once every message has reached somebody or failed.
    End,
    /// An unknown command, or a text that cannot be sent; with the reason.
    Refused(String),
}

impl Typed {
    /// Parses a line as text or command; returns `None` for an empty line.
    pub(crate) fn read(line: &str) -> Option<Self> {
        let line = line.trim_end();
        if line.is_empty() {
            return None;
        }
        let Some(command) = line.strip_prefix('/') else {
            return Some(Self::Text(line.to_owned()));
        };
        Some(match command {
            "help" => Self::Help,
            "peers" => Self::Peers,
            "status" => Self::Status,
            "quit" | "exit" => Self::Quit,
            text if text.starts_with('/') => Self::Text(text.to_owned()),
            _ => Self::Refused(format!("no command {line:?}; /help lists them")),
        })
    }
}

/// Reads standard input in a separate thread.
pub(crate) fn read_lines() -> mpsc::Receiver<Input> {
    let (sender, receiver) = mpsc::channel(QUEUE);
    std::thread::spawn(move || {
        let mut stdin = io::stdin().lock();
        while let Ok(Some(input)) = next_line(&mut stdin) {
            if sender.blocking_send(input).is_err() {
                return;
            }
        }
        // The chat may have ended.
        let _ = sender.blocking_send(Input::End);
    });
    receiver
}

/// Reads the next line; returns `None` at the end.
fn next_line(source: &mut impl BufRead) -> io::Result<Option<Input>> {
    let mut line = Vec::new();
    let mut is_too_long = false;
    loop {
        let buffer = source.fill_buf()?;
        if buffer.is_empty() {
            return Ok(match (line.is_empty(), is_too_long) {
                (_, true) => Some(Input::TooLong),
                (true, false) => None,
                (false, false) => Some(text_of(&line)),
            });
        }
        let end = buffer.iter().position(|byte| *byte == b'\n');
        let part = &buffer[..end.unwrap_or(buffer.len())];
        is_too_long |= line.len() + part.len() > LINE_BYTES_MAX;
        if !is_too_long {
            line.extend_from_slice(part);
        }
        let used = part.len() + usize::from(end.is_some());
        source.consume(used);
        if end.is_some() {
            return Ok(Some(match is_too_long {
                true => Input::TooLong,
                false => text_of(&line),
            }));
        }
    }
}

fn text_of(line: &[u8]) -> Input {
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    Input::Line(String::from_utf8_lossy(line).into_owned())
}
