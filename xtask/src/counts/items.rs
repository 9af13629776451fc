//! Items of a Rust file that counting looks at: modules, imports, definitions.

use super::lexer::{Lexeme, lexemes};

/// Items of one file, without those for tests only (`#[cfg(test)]`).
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Items {
    /// Names of modules in files of their own.
    pub(super) modules: Vec<String>,
    pub(super) imports: Vec<Import>,
    /// Names of structs, enums, traits, and type aliases outside implementations.
    pub(super) types: Vec<String>,
    /// Names of all items, types among them.
    pub(super) defined: Vec<String>,
}

/// One name brought into scope by `use`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Import {
    /// Segments of the path, without a `*` at the end.
    pub(super) path: Vec<String>,
    /// Name in this file; `None` for `*`, which brings all names.
    pub(super) name: Option<String>,
}

/// Reads the items of a file's text.
pub(super) fn items(text: &str) -> Items {
    let lexemes = lexemes(text);
    let mut items = Items::default();
    let mut depth = 0_usize;
    let mut is_for_tests = false;
    let mut at = 0;
    while let Some(lexeme) = lexemes.get(at) {
        let rest = &lexemes[at..];
        at += 1;
        match lexeme {
            Lexeme::Mark('#') if starts_test_item(rest) => is_for_tests = true,
            Lexeme::Mark('{') if is_for_tests => {
                at += block(&lexemes[at..]);
                is_for_tests = false;
            }
            Lexeme::Mark('{') => depth += 1,
            Lexeme::Mark('}') => depth = depth.saturating_sub(1),
            Lexeme::Mark(';') => is_for_tests = false,
            // `use<` in a return type lists what is captured.
            Lexeme::Word("use") if rest.get(1) != Some(&Lexeme::Mark('<')) => {
                let mut imports = Vec::new();
                let length = tree(&lexemes[at..], &[], &mut imports);
                at += length;
                if !is_for_tests {
                    items.imports.extend(imports);
                }
            }
            Lexeme::Word(keyword) if !is_for_tests => {
                if let Some(Lexeme::Word(name)) = rest.get(1) {
                    items.add(keyword, name, rest.get(2), depth);
                }
            }
            _ => {}
        }
    }
    items
}

impl Items {
    /// Records the item that a keyword, the name after it and the lexeme after that begin, if they do.
    fn add(&mut self, keyword: &str, name: &str, next: Option<&Lexeme<'_>>, depth: usize) {
        match keyword {
            "mod" if next == Some(&Lexeme::Mark(';')) => self.modules.push(name.to_owned()),
            "struct" | "enum" | "trait" => {
                self.types.push(name.to_owned());
                self.defined.push(name.to_owned());
            }
            // Inside a block it is an associated type.
            "type" if depth == 0 => {
                self.types.push(name.to_owned());
                self.defined.push(name.to_owned());
            }
            "fn" | "const" | "static" if depth == 0 => self.defined.push(name.to_owned()),
            _ => {}
        }
    }
}

/// Whether the lexemes begin with `#[cfg(test)]` or `#[cfg(all(test, ...))]`.
fn starts_test_item(lexemes: &[Lexeme<'_>]) -> bool {
    use Lexeme::{Mark, Word};
    let cfg = [Mark('#'), Mark('['), Word("cfg"), Mark('(')];
    let Some(condition) = lexemes.strip_prefix(&cfg) else {
        return false;
    };
    condition.starts_with(&[Word("test"), Mark(')')])
        || condition.starts_with(&[Word("all"), Mark('('), Word("test")])
}

/// Returns the number of lexemes up to and with the brace that closes the block.
fn block(lexemes: &[Lexeme<'_>]) -> usize {
    let mut depth = 1_usize;
    for (at, lexeme) in lexemes.iter().enumerate() {
        match lexeme {
            Lexeme::Mark('{') => depth += 1,
            Lexeme::Mark('}') => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return at + 1;
        }
    }
    lexemes.len()
}

/// Reads one tree of an import below `prefix`, up to its end (`,`, `;` or `}`, which is not consumed).
/// Returns the number of lexemes read.
fn tree(lexemes: &[Lexeme<'_>], prefix: &[String], imports: &mut Vec<Import>) -> usize {
    let mut path = prefix.to_vec();
    let mut name = None;
    let mut is_glob = false;
    let mut at = 0;
    while let Some(lexeme) = lexemes.get(at) {
        match lexeme {
            Lexeme::Mark(',' | ';' | '}') => break,
            Lexeme::Mark('{') => return at + group(&lexemes[at..], &path, imports),
            Lexeme::Mark('*') => is_glob = true,
            Lexeme::Word("as") => {
                if let Some(Lexeme::Word(alias)) = lexemes.get(at + 1) {
                    name = Some((*alias).to_owned());
                    at += 1;
                }
            }
            // In a group, `self` is the module before the brace.
            Lexeme::Word("self") if !path.is_empty() => {}
            Lexeme::Word(segment) => path.push((*segment).to_owned()),
            Lexeme::Mark(_) => {}
        }
        at += 1;
    }
    let name = if is_glob {
        None
    } else {
        name.or_else(|| path.last().cloned())
    };
    if is_glob || name.is_some() {
        imports.push(Import { path, name });
    }
    at
}

/// Reads the trees between braces; the first lexeme is the opening one. Returns the number of lexemes read.
fn group(lexemes: &[Lexeme<'_>], prefix: &[String], imports: &mut Vec<Import>) -> usize {
    let mut at = 1;
    while let Some(lexeme) = lexemes.get(at) {
        match lexeme {
            Lexeme::Mark('}') => return at + 1,
            Lexeme::Mark(',') => at += 1,
            _ => {
                let length = tree(&lexemes[at..], prefix, imports);
                // A stray `;` would otherwise be read for ever.
                if length == 0 {
                    return at;
                }
                at += length;
            }
        }
    }
    at
}

#[cfg(test)]
mod tests;
