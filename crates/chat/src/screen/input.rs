//! The line that the user edits.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use unicode_width::UnicodeWidthChar as _;

use crate::text;

#[cfg(test)]
mod tests;

/// Most characters of a line.
const CHARS_MAX: usize = 8192;

/// A line of text with a cursor.
#[derive(Debug, Default)]
pub(super) struct InputLine {
    chars: Vec<char>,
    /// Number of characters before the cursor.
    cursor: usize,
}

impl InputLine {
    /// Whether nothing is written.
    pub(super) fn is_empty(&self) -> bool {
        self.chars.is_empty()
    }

    /// Returns the text and empties the line.
    pub(super) fn take(&mut self) -> String {
        self.cursor = 0;
        self.chars.drain(..).collect()
    }

    /// Inserts a text at the cursor, as one line.
    pub(super) fn paste(&mut self, pasted: &str) {
        let pasted = pasted.trim_end_matches(['\r', '\n']);
        let line = pasted.replace("\r\n", " ").replace(['\r', '\n'], " ");
        let room = CHARS_MAX - self.chars.len();
        let line: Vec<char> = text::harmless(&line, usize::MAX)
            .chars()
            .take(room)
            .collect();
        let end = self.cursor + line.len();
        self.chars.splice(self.cursor..self.cursor, line);
        self.cursor = end;
    }

    /// Changes the line as a key asks.
    pub(super) fn key(&mut self, key: KeyEvent) {
        let is_control = key.modifiers.contains(KeyModifiers::CONTROL);
        match (key.code, is_control) {
            (KeyCode::Left, _) => self.cursor = self.cursor.saturating_sub(1),
            (KeyCode::Right, _) => self.cursor = (self.cursor + 1).min(self.chars.len()),
            (KeyCode::Home, _) | (KeyCode::Char('a'), true) => self.cursor = 0,
            (KeyCode::End, _) | (KeyCode::Char('e'), true) => self.cursor = self.chars.len(),
            (KeyCode::Backspace, _) => self.erase(self.cursor.saturating_sub(1)),
            (KeyCode::Delete, _) if self.cursor < self.chars.len() => {
                self.chars.remove(self.cursor);
            }
            (KeyCode::Char('u'), true) => self.erase(0),
            (KeyCode::Char('w'), true) => self.erase(self.start_of_word()),
            (KeyCode::Char(c), false) if !c.is_control() && self.chars.len() < CHARS_MAX => {
                self.chars.insert(self.cursor, c);
                self.cursor += 1;
            }
            _ => {}
        }
    }

    /// Returns the part of the line that fits `width` columns around the cursor, and the cursor's column in it.
    pub(super) fn window(&self, width: usize) -> (String, usize) {
        let columns = |c: &char| c.width().unwrap_or(0);
        // One column is the cursor's own, at the end of the line.
        let most = width.saturating_sub(1);
        let mut column = 0;
        let before = self.chars[..self.cursor].iter().rev();
        let shown = before.take_while(|c| {
            column += columns(c);
            column <= most
        });
        let start = self.cursor - shown.count();
        let cursor: usize = self.chars[start..self.cursor].iter().map(columns).sum();
        let mut end = 0;
        let fits = |c: &&char| {
            end += columns(c);
            end <= width
        };
        let text = self.chars[start..].iter().take_while(fits).collect();
        (text, cursor)
    }

    /// Erases what is between a place and the cursor.
    fn erase(&mut self, from: usize) {
        self.chars.drain(from..self.cursor);
        self.cursor = from;
    }

    fn start_of_word(&self) -> usize {
        let before = &self.chars[..self.cursor];
        let end = before.iter().rposition(|c| !c.is_whitespace());
        let word = before[..end.unwrap_or(0)].iter();
        word.rev()
            .position(|c| c.is_whitespace())
            .map_or(0, |length| end.unwrap_or(0) - length)
    }
}
