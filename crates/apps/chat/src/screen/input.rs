//! The line that the user edits.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use tui_input::{Input, InputRequest};

use crate::text;

#[cfg(test)]
#[path = "tests/input.rs"]
mod tests;

/// Most characters of a line.
const CHARS_MAX: usize = 8192;

/// A line of text with a cursor, of limited length.
#[derive(Debug, Default)]
pub(super) struct InputLine {
    line: Input,
}

impl InputLine {
    /// The text.
    pub(super) fn text(&self) -> &str {
        self.line.value()
    }

    /// Returns the text and empties the line.
    pub(super) fn take(&mut self) -> String {
        self.line.value_and_reset()
    }

    /// Inserts a text at the cursor, joined to one line.
    pub(super) fn paste(&mut self, pasted: &str) {
        let pasted = pasted.trim_end_matches(['\r', '\n']);
        let line = pasted.replace("\r\n", " ").replace(['\r', '\n'], " ");
        let line = text::harmless(&line, usize::MAX);
        for c in line.chars().take(self.room()) {
            self.line.handle(InputRequest::InsertChar(c));
        }
    }

    /// Applies a key to the line.
    pub(super) fn key(&mut self, key: KeyEvent) {
        let is_control = key.modifiers.contains(KeyModifiers::CONTROL);
        let request = match (key.code, is_control) {
            (KeyCode::Left, _) => InputRequest::GoToPrevChar,
            (KeyCode::Right, _) => InputRequest::GoToNextChar,
            (KeyCode::Home, _) | (KeyCode::Char('a'), true) => InputRequest::GoToStart,
            (KeyCode::End, _) | (KeyCode::Char('e'), true) => InputRequest::GoToEnd,
            (KeyCode::Backspace, _) => InputRequest::DeletePrevChar,
            (KeyCode::Delete, _) => InputRequest::DeleteNextChar,
            (KeyCode::Char('u'), true) => InputRequest::DeleteFromStart,
            (KeyCode::Char('w'), true) => InputRequest::DeletePrevWord,
            (KeyCode::Char(c), false) if !c.is_control() && self.room() > 0 => {
                InputRequest::InsertChar(c)
            }
            _ => return,
        };
        self.line.handle(request);
    }

    /// Returns the number of columns to skip at the left so that the cursor is within `width`, and its column
    /// then.
    pub(super) fn scroll(&self, width: u16) -> (u16, u16) {
        // One column is the cursor's own, at the end of the line.
        let left = self.line.visual_scroll(width.saturating_sub(1).into());
        let cursor = self.line.visual_cursor().saturating_sub(left);
        // At two columns per character, the line has fewer than 65,536.
        let columns = |n| u16::try_from(n).unwrap_or(u16::MAX);
        (columns(left), columns(cursor))
    }

    /// Returns the number of characters that still fit.
    fn room(&self) -> usize {
        CHARS_MAX - self.text().chars().count()
    }
}
