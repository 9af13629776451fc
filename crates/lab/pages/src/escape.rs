//! Escaping of text from files, for use between tags and inside quoted attributes.

use std::fmt::{self, Display, Write};

/// Displays its content with HTML escapes.
pub(super) struct Escaped<T>(pub(super) T);

impl<T: Display> Display for Escaped<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(Escaper(f), "{}", self.0)
    }
}

struct Escaper<'a, 'b>(&'a mut fmt::Formatter<'b>);

impl Write for Escaper<'_, '_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        text.chars().try_for_each(|c| self.write_char(c))
    }

    fn write_char(&mut self, c: char) -> fmt::Result {
        match c {
            '&' => self.0.write_str("&amp;"),
            '<' => self.0.write_str("&lt;"),
            '>' => self.0.write_str("&gt;"),
            '"' => self.0.write_str("&quot;"),
            '\'' => self.0.write_str("&#39;"),
            // HTML has no way to represent these characters.
            '\0'..='\u{8}' | '\u{b}'..='\u{1f}' | '\u{7f}' => self.0.write_char('\u{fffd}'),
            _ => self.0.write_char(c),
        }
    }
}
