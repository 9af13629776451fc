//! Words of a shell command: quotes, escapes and `${VAR}`, without running anything.

use super::Variables;

/// Most bytes that variables add to a line; what they would add beyond is unknown. Variables that repeat others would
/// double with each line.
const MAX_VALUE_BYTES: usize = 8 << 10;

/// Deepest nesting of defaults, `${A:-${B:-…}}`; a deeper one is unknown.
const MAX_DEPTH: usize = 16;

/// Words of a command, and what of them cannot be known.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct ShellWords {
    pub(super) words: Vec<String>,
    /// Names of variables and constructs whose value is unknown.
    pub(super) unknown: Vec<String>,
}

/// Splits a logical line into words, with variables replaced.
pub(super) fn split(line: &str, variables: &Variables) -> ShellWords {
    split_at(line, variables, 0)
}

/// Splits a line that stands inside `depth` defaults.
fn split_at(line: &str, variables: &Variables, depth: usize) -> ShellWords {
    let mut value_bytes: usize = 0;
    let mut out = ShellWords::default();
    let mut word = String::new();
    let (mut started, mut double) = (false, false);
    // A word with an unknown part is not a word.
    let mut doubtful = false;
    let mut rest = line;
    while let Some(c) = rest.chars().next() {
        rest = &rest[c.len_utf8()..];
        match c {
            '\'' if !double => {
                started = true;
                let (inner, after) = rest.split_once('\'').unwrap_or((rest, ""));
                word.push_str(inner);
                rest = after;
            }
            '"' => {
                double = !double;
                started = true;
            }
            '\\' => {
                started = true;
                if let Some(next) = rest.chars().next() {
                    word.push(next);
                    rest = &rest[next.len_utf8()..];
                }
            }
            '`' => {
                let (inner, after) = rest.split_once('`').unwrap_or((rest, ""));
                out.unknown.push(format!("`{inner}`"));
                (doubtful, started, rest) = (true, true, after);
            }
            '$' => {
                let (value, after) = variable(rest, variables, &mut out.unknown, depth);
                let text = &rest[..rest.len() - after.len()];
                rest = after;
                value_bytes += value.as_ref().map_or(0, String::len);
                let value = value.filter(|_| value_bytes <= MAX_VALUE_BYTES);
                if value_bytes > MAX_VALUE_BYTES {
                    out.unknown.push(format!("${text}"));
                }
                match value {
                    None => (doubtful, started) = (true, true),
                    Some(value) if double => word.push_str(&value),
                    // Without quotes, a value is split at spaces, and an empty one is no word.
                    Some(value) => {
                        for (index, part) in value.split(' ').enumerate() {
                            if index > 0 {
                                end(&mut out, &mut word, &mut started, &mut doubtful);
                            }
                            word.push_str(part);
                            started |= !part.is_empty();
                        }
                    }
                }
            }
            '#' if !double && !started => break,
            c if c.is_whitespace() && !double => {
                end(&mut out, &mut word, &mut started, &mut doubtful);
            }
            c => {
                started = true;
                word.push(c);
            }
        }
    }
    end(&mut out, &mut word, &mut started, &mut doubtful);
    out
}

fn end(out: &mut ShellWords, word: &mut String, started: &mut bool, doubtful: &mut bool) {
    let done = std::mem::take(word);
    if std::mem::take(started) && !std::mem::take(doubtful) {
        out.words.push(done);
    }
    *doubtful = false;
}

/// Replaces a text's variables without splitting it; `None` if it has an unknown part.
pub(super) fn expand(text: &str, variables: &Variables) -> Option<String> {
    expand_at(text, variables, 0)
}

fn expand_at(text: &str, variables: &Variables, depth: usize) -> Option<String> {
    if depth > MAX_DEPTH {
        return None;
    }
    let quoted = format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""));
    let words = split_at(&quoted, variables, depth);
    words.unknown.is_empty().then(|| words.words.concat())
}

/// Reads what follows a `$`: the value, `None` if it is unknown, and the rest of the text.
fn variable<'a>(
    text: &'a str,
    variables: &Variables,
    unknown: &mut Vec<String>,
    depth: usize,
) -> (Option<String>, &'a str) {
    if text.starts_with('(') {
        let end = closing(text, '(', ')');
        unknown.push(format!("${}", &text[..end]));
        return (None, &text[end..]);
    }
    let (inner, after) = match text.starts_with('{') {
        true => {
            let end = closing(text, '{', '}');
            let inner = &text[1..end];
            (inner.strip_suffix('}').unwrap_or(inner), &text[end..])
        }
        false => {
            let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
            let end = text.find(|c| !is_name(c)).unwrap_or(text.len());
            if end == 0 {
                return (Some("$".to_owned()), text);
            }
            text.split_at(end)
        }
    };
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let end = inner.find(|c| !is_name(c)).unwrap_or(inner.len());
    let (name, operator) = inner.split_at(end);
    let value = match variables.get(name) {
        None => String::new(),
        Some(Some(value)) => value.clone(),
        Some(None) => {
            unknown.push(format!("${{{name}}}"));
            return (None, after);
        }
    };
    let is_set = variables.contains_key(name);
    let value = match operator.strip_prefix(":-") {
        Some(default) if value.is_empty() => expand_at(default, variables, depth + 1),
        Some(_) => Some(value),
        None => match operator.strip_prefix('-') {
            Some(default) if !is_set => expand_at(default, variables, depth + 1),
            _ if operator.is_empty() || operator.starts_with('-') || operator.starts_with(":?") => {
                Some(value)
            }
            _ => None,
        },
    };
    if value.is_none() {
        unknown.push(format!("${{{inner}}}"));
    }
    (value, after)
}

/// Position after the bracket that closes the one at the start.
fn closing(text: &str, open: char, close: char) -> usize {
    let mut depth = 0;
    for (at, c) in text.char_indices() {
        depth += i32::from(c == open) - i32::from(c == close);
        if depth == 0 {
            return at + c.len_utf8();
        }
    }
    text.len()
}
