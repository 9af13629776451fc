//! Words of a shell command: quotes, escapes and `${VAR}`, without running anything.

use super::Variables;

/// Maximum number of bytes that variables add to a line; anything beyond is unknown. Without the limit, variables
/// that repeat others could double the length with each line.
const MAX_VALUE_BYTES: usize = 8 << 10;

/// Maximum nesting of defaults, `${A:-${B:-…}}`; deeper ones are unknown.
const MAX_DEPTH: usize = 16;

/// Words of a command, and what is unknown about them.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct ShellWords {
    pub(super) words: Vec<String>,
    /// Names of variables and constructs whose value is unknown.
    pub(super) unknown: Vec<String>,
    /// Variables that are not set anywhere, each with the position of the word that contains it, if there is such a
    /// word.
    pub(super) unset: Vec<(String, Option<usize>)>,
}

impl ShellWords {
    /// Removes words with an unset variable; calls `tell` with each variable and its word.
    pub(super) fn drop_incomplete(&mut self, mut tell: impl FnMut(&str, Option<&str>)) {
        let lacking =
            |unset: &[(String, Option<usize>)], at| unset.iter().any(|(_, word)| *word == Some(at));
        for (name, at) in &self.unset {
            tell(name, at.map(|at| self.words[at].as_str()));
        }
        let mut at = 0..;
        self.words
            .retain(|_| !at.next().is_some_and(|at| lacking(&self.unset, at)));
    }
}

/// A word still being read.
#[derive(Default)]
struct OpenWord {
    text: String,
    is_started: bool,
    /// Whether a part is unknown; the word is then dropped.
    is_doubtful: bool,
    /// Variables in the word that are not set anywhere.
    unset: Vec<String>,
}

impl OpenWord {
    fn end(&mut self, out: &mut ShellWords) {
        let done = std::mem::take(self);
        let is_word = done.is_started && !done.is_doubtful;
        let at = is_word.then_some(out.words.len());
        out.unset
            .extend(done.unset.into_iter().map(|name| (name, at)));
        if is_word {
            out.words.push(done.text);
        }
    }
}

/// Splits a logical line into words, with variables replaced.
pub(super) fn split(line: &str, variables: &Variables) -> ShellWords {
    split_at(line, variables, 0)
}

/// Splits a line nested inside `depth` defaults.
fn split_at(line: &str, variables: &Variables, depth: usize) -> ShellWords {
    let mut value_bytes: usize = 0;
    let mut out = ShellWords::default();
    let mut word = OpenWord::default();
    let mut double = false;
    let mut rest = line;
    while let Some(c) = rest.chars().next() {
        rest = &rest[c.len_utf8()..];
        match c {
            '\'' if !double => {
                word.is_started = true;
                let (inner, after) = rest.split_once('\'').unwrap_or((rest, ""));
                word.text.push_str(inner);
                rest = after;
            }
            '"' => {
                double = !double;
                word.is_started = true;
            }
            '\\' => {
                word.is_started = true;
                if let Some(next) = rest.chars().next() {
                    word.text.push(next);
                    rest = &rest[next.len_utf8()..];
                }
            }
            '`' => {
                let (inner, after) = rest.split_once('`').unwrap_or((rest, ""));
                out.unknown.push(format!("`{inner}`"));
                (word.is_doubtful, word.is_started, rest) = (true, true, after);
            }
            '$' => {
                let lists = (&mut out.unknown, &mut word.unset);
                let (value, after) = variable(rest, variables, lists, depth);
                let text = &rest[..rest.len() - after.len()];
                rest = after;
                value_bytes += value.as_ref().map_or(0, String::len);
                let value = value.filter(|_| value_bytes <= MAX_VALUE_BYTES);
                if value_bytes > MAX_VALUE_BYTES {
                    out.unknown.push(format!("${text}"));
                }
                match value {
                    None => (word.is_doubtful, word.is_started) = (true, true),
                    Some(value) if double => word.text.push_str(&value),
                    // Without quotes, a value is split at spaces, and an empty one is not a word.
                    Some(value) => {
                        for (index, part) in value.split(' ').enumerate() {
                            if index > 0 {
                                word.end(&mut out);
                            }
                            word.text.push_str(part);
                            word.is_started |= !part.is_empty();
                        }
                    }
                }
            }
            '#' if !double && !word.is_started => break,
            c if c.is_whitespace() && !double => word.end(&mut out),
            c => {
                word.is_started = true;
                word.text.push(c);
            }
        }
    }
    word.end(&mut out);
    out
}

/// A text with its variables replaced, not split into words.
pub(super) struct Expanded {
    /// `None` if a part is unknown.
    pub(super) text: Option<String>,
    /// Variables that are not set anywhere; they count as empty.
    pub(super) unset: Vec<String>,
}

/// Replaces a text's variables without splitting it.
pub(super) fn expand(text: &str, variables: &Variables) -> Expanded {
    expand_at(text, variables, 0)
}

fn expand_at(text: &str, variables: &Variables, depth: usize) -> Expanded {
    if depth > MAX_DEPTH {
        return Expanded {
            text: None,
            unset: Vec::new(),
        };
    }
    let quoted = format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""));
    let words = split_at(&quoted, variables, depth);
    Expanded {
        text: words.unknown.is_empty().then(|| words.words.concat()),
        unset: words.unset.into_iter().map(|(name, _)| name).collect(),
    }
}

/// Reads what follows a `$`. Returns the value, `None` if it is unknown, and the rest of the text.
fn variable<'a>(
    text: &'a str,
    variables: &Variables,
    (unknown, unset): (&mut Vec<String>, &mut Vec<String>),
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
    let mut default = |text| {
        let default = expand_at(text, variables, depth + 1);
        unset.extend(default.unset);
        default.text
    };
    let value = match operator.strip_prefix(":-") {
        Some(text) if value.is_empty() => default(text),
        Some(_) => Some(value),
        None => match operator.strip_prefix('-') {
            Some(text) if !is_set => default(text),
            Some(_) => Some(value),
            None if operator.is_empty() || operator.starts_with(":?") => {
                if !is_set {
                    unset.push(name.to_owned());
                }
                Some(value)
            }
            None => None,
        },
    };
    if value.is_none() {
        unknown.push(format!("${{{inner}}}"));
    }
    (value, after)
}

/// Returns the position after the bracket that closes the one at the start.
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
