//! Words and punctuation of Rust source, as far as counting needs them: comments, strings, characters and
//! numbers are left out.

/// Piece of source text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Lexeme<'a> {
    /// Identifier or keyword; a raw identifier without its prefix.
    Word(&'a str),
    /// Any other character that is not blank; `::` is two of them.
    Mark(char),
}

/// Splits source text into lexemes. Text that no compiler would accept gives some lexemes, never an error.
pub(super) fn lexemes(text: &str) -> Vec<Lexeme<'_>> {
    let mut lexemes = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let length = if first.is_whitespace() {
            first.len_utf8()
        } else if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if rest.starts_with("/*") {
            block_comment(rest)
        } else if let Some(length) = string(rest) {
            length
        } else if first == '\'' {
            character(rest)
        } else if first.is_ascii_digit() {
            word_length(rest)
        } else if is_of_word(first) {
            let length = word_length(rest);
            if !(rest.starts_with("r#") && length == 1) {
                lexemes.push(Lexeme::Word(&rest[..length]));
                length
            } else {
                "r#".len()
            }
        } else {
            lexemes.push(Lexeme::Mark(first));
            first.len_utf8()
        };
        rest = &rest[length..];
    }
    lexemes
}

fn is_of_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

fn word_length(rest: &str) -> usize {
    rest.find(|c| !is_of_word(c)).unwrap_or(rest.len())
}

/// Returns the length of the block comment at the start, with the comments inside it.
fn block_comment(rest: &str) -> usize {
    let mut depth = 0_usize;
    let mut at = 0;
    while at < rest.len() {
        let here = &rest[at..];
        if here.starts_with("/*") {
            depth += 1;
            at += 2;
        } else if here.starts_with("*/") {
            depth -= 1;
            at += 2;
            if depth == 0 {
                return at;
            }
        } else {
            at += here.chars().next().map_or(1, char::len_utf8);
        }
    }
    rest.len()
}

/// Returns the length of the string at the start, if there is one: with or without a prefix, raw or not.
fn string(rest: &str) -> Option<usize> {
    let prefix = rest.find(|c: char| !c.is_ascii_alphabetic())?;
    if !["", "b", "c", "r", "br", "cr"].contains(&&rest[..prefix]) {
        return None;
    }
    let hashes = rest[prefix..].chars().take_while(|c| *c == '#').count();
    let is_raw = rest[..prefix].ends_with('r');
    let opening = prefix + hashes;
    if !rest[opening..].starts_with('"') || (hashes > 0 && !is_raw) {
        return None;
    }
    let inside = &rest[opening + 1..];
    let length = if is_raw {
        let closing = format!("\"{}", "#".repeat(hashes));
        inside.find(&closing).map(|at| at + closing.len())
    } else {
        closing_quote(inside)
    };
    Some(length.map_or(rest.len(), |length| opening + 1 + length))
}

/// Returns the length up to and with the first quote that no backslash precedes.
fn closing_quote(inside: &str) -> Option<usize> {
    let mut is_escaped = false;
    for (at, c) in inside.char_indices() {
        match c {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            '"' => return Some(at + 1),
            _ => {}
        }
    }
    None
}

/// Returns the length of the character at the start, or of the mark of a lifetime.
fn character(rest: &str) -> usize {
    let mut inside = rest.char_indices().skip(1);
    match inside.next() {
        // The character after the backslash may be a quote.
        Some((_, '\\')) => inside
            .skip(1)
            .find(|(_, c)| *c == '\'')
            .map_or(rest.len(), |(at, _)| at + 1),
        Some(_) => match inside.next() {
            Some((at, '\'')) => at + 1,
            _ => 1,
        },
        None => 1,
    }
}

#[cfg(test)]
mod tests;
