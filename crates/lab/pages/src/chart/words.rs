//! Wrapping and shortening of text.

/// Splits text into lines of at most `max_chars` characters, where the words allow it.
pub(super) fn wrap(text: &str, max_chars: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if chars(line) + 1 + chars(word) <= max_chars => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

/// Returns the text, or its beginning and an ellipsis, in at most `max_chars` characters.
pub(super) fn shorten(text: &str, max_chars: usize) -> String {
    if chars(text) <= max_chars {
        return text.to_owned();
    }
    let kept: String = text.chars().take(max_chars.saturating_sub(1)).collect();
    kept.trim_end().to_owned() + "…"
}

/// Number of characters in a text.
pub(super) fn chars(text: &str) -> usize {
    text.chars().count()
}
