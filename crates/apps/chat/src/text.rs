//! Text of strangers, made safe to print on a terminal.
//!
//! A message may contain escape sequences that move the cursor or change the title. Other characters reverse the
//! direction of writing, break lines to imitate other lines, or pile up combining marks that cover their neighbours.

use std::borrow::Cow;

use unicode_width::UnicodeWidthChar as _;

#[cfg(test)]
#[path = "tests/text.rs"]
mod tests;

/// Maximum number of characters shown of a message.
pub(crate) const TEXT_CHARS_MAX: usize = 2000;

/// Maximum number of characters shown of a sender's name.
pub const NICK_CHARS_MAX: usize = 32;

/// Maximum number of consecutive zero-width characters (accents, variation selectors).
const MARKS_MAX: usize = 3;

/// Returns a message's text as a single line that is safe to print on a terminal, cut at [`TEXT_CHARS_MAX`].
pub(crate) fn message(bytes: &[u8]) -> String {
    harmless(&String::from_utf8_lossy(bytes), TEXT_CHARS_MAX)
}

/// Returns a sender's name, safe to print on a terminal and without the brackets that mark names.
pub fn nick(bytes: &[u8]) -> String {
    let name = harmless(String::from_utf8_lossy(bytes).trim(), NICK_CHARS_MAX);
    let name: String = name
        .chars()
        .map(|c| match c {
            '<' => '‹',
            '>' => '›',
            c => c,
        })
        .collect();
    match name.trim() {
        "" => "(no nick)".to_owned(),
        name => name.to_owned(),
    }
}

/// Replaces or drops every character that could have an effect beyond its own place.
pub(crate) fn harmless(text: &str, chars_max: usize) -> String {
    let mut out = String::new();
    let mut marks = 0;
    let mut chars = text.chars();
    let mut shown = 0;
    for c in chars.by_ref() {
        let Some(c) = replaced(c) else { continue };
        if c.width().unwrap_or(0) == 0 {
            marks += 1;
            if marks > MARKS_MAX {
                continue;
            }
        } else {
            marks = 0;
        }
        if shown == chars_max {
            let left = 1 + chars.count();
            out.push_str(&format!(" … ({left} characters more)"));
            return out;
        }
        shown += 1;
        out.push(c);
    }
    out
}

/// Returns the character shown in place of `c`; `None` if `c` is dropped.
fn replaced(c: char) -> Option<char> {
    match c {
        '\t' => Some(' '),
        '\n' => Some('↵'),
        '\r' => None,
        c if c.is_control() => Some('\u{fffd}'),
        // Line and paragraph separators.
        '\u{2028}' | '\u{2029}' => Some('↵'),
        c if is_invisible(c) => None,
        c => Some(c),
    }
}

/// Whether a character is invisible but affects how others are shown: direction, joining, annotation, tags.
fn is_invisible(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
        | '\u{180b}'..='\u{180f}'
        | '\u{200b}'..='\u{200f}'
        | '\u{202a}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}'
        | '\u{3164}' | '\u{feff}' | '\u{ffa0}'
        | '\u{fff0}'..='\u{fffb}'
        | '\u{1bca0}'..='\u{1bca3}'
        | '\u{1d173}'..='\u{1d17a}'
        | '\u{e0000}'..='\u{e0fff}')
}

/// Escapes every character in JSON that is not ASCII, so that the text is exact for a program and safe to print on a
/// terminal.
pub(crate) fn ascii_json(json: &str) -> Cow<'_, str> {
    // Outside of strings JSON is ASCII, and DEL is the only ASCII control character that JSON leaves unescaped.
    let is_plain = |c: char| c.is_ascii() && c != '\u{7f}';
    if json.chars().all(is_plain) {
        return Cow::Borrowed(json);
    }
    let mut out = String::with_capacity(2 * json.len());
    for c in json.chars() {
        if is_plain(c) {
            out.push(c);
            continue;
        }
        let units = &mut [0; 2];
        for unit in c.encode_utf16(units) {
            out.push_str(&format!("\\u{unit:04x}"));
        }
    }
    Cow::Owned(out)
}
