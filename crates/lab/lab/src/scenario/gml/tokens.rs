//! Tokens of GML as blocks and fields; times and rates with units.

use super::error::{GmlError, GmlErrorAt};

/// A line of the form `key value`.
#[derive(Clone, Debug)]
pub(super) struct GmlField {
    pub(super) key: String,
    pub(super) value: String,
    pub(super) line: usize,
}

/// Entry directly within `graph [ … ]`.
#[derive(Clone, Debug)]
pub(super) enum GmlItem {
    Field(GmlField),
    Block {
        key: String,
        line: usize,
        fields: Vec<GmlField>,
    },
}

/// Reads the entries of the graph.
pub(super) fn read(text: &str) -> Result<Vec<GmlItem>, GmlErrorAt> {
    let mut words = Words { text, line: 1 };
    expect(&mut words, "graph", "graph [ … ]")?;
    expect(&mut words, "[", "graph [ … ]")?;
    let mut items = Vec::new();
    while let Some((line, key)) = key(&mut words)? {
        match value(&mut words)? {
            Some(value) => items.push(GmlItem::Field(GmlField { key, value, line })),
            None => {
                let fields = fields(&mut words)?;
                items.push(GmlItem::Block { key, line, fields });
            }
        }
    }
    match words.next() {
        None => Ok(items),
        Some((line, found)) => Err(syntax(line, found, "nothing after the graph")),
    }
}

fn fields(words: &mut Words<'_>) -> Result<Vec<GmlField>, GmlErrorAt> {
    let mut fields = Vec::new();
    while let Some((line, key)) = key(words)? {
        match value(words)? {
            Some(value) => fields.push(GmlField { key, value, line }),
            None => return Err(syntax(words.line, "[", "a value")),
        }
    }
    Ok(fields)
}

/// Reads a key; `None` at the end of a block.
fn key(words: &mut Words<'_>) -> Result<Option<(usize, String)>, GmlErrorAt> {
    const EXPECTED: &str = "a key or ]";
    match words.next() {
        Some((_, "]")) => Ok(None),
        Some((line, word)) if word.starts_with(|c: char| c.is_ascii_alphabetic()) => {
            Ok(Some((line, word.to_owned())))
        }
        Some((line, word)) => Err(syntax(line, word, EXPECTED)),
        None => Err(syntax(words.line, "the end", EXPECTED)),
    }
}

/// Reads a value without its quotes; `None` where a block begins.
fn value(words: &mut Words<'_>) -> Result<Option<String>, GmlErrorAt> {
    const EXPECTED: &str = "a number, a text in quotes or [";
    match words.next() {
        Some((_, "[")) => Ok(None),
        Some((line, "]")) => Err(syntax(line, "]", EXPECTED)),
        Some((line, word)) if word.starts_with('"') => {
            let inner = word.strip_prefix('"').and_then(|w| w.strip_suffix('"'));
            match inner {
                Some(inner) if word.len() > 1 => Ok(Some(inner.to_owned())),
                _ => Err(syntax(line, word, "a closing quote")),
            }
        }
        Some((_, word)) => Ok(Some(word.to_owned())),
        None => Err(syntax(words.line, "the end", EXPECTED)),
    }
}

fn expect(words: &mut Words<'_>, wanted: &str, expected: &'static str) -> Result<(), GmlErrorAt> {
    match words.next() {
        Some((_, word)) if word == wanted => Ok(()),
        Some((line, word)) => Err(syntax(line, word, expected)),
        None => Err(syntax(words.line, "the end", expected)),
    }
}

fn syntax(line: usize, found: &str, expected: &'static str) -> GmlErrorAt {
    const SHOWN: usize = 40;
    let found = found.chars().take(SHOWN).collect();
    (line, GmlError::Syntax { found, expected })
}

/// Splits text into words, brackets and quoted texts (including the quotes), each with its line.
struct Words<'a> {
    text: &'a str,
    line: usize,
}

impl<'a> Iterator for Words<'a> {
    type Item = (usize, &'a str);

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let word = self.text.trim_start();
            let skipped = &self.text[..self.text.len() - word.len()];
            self.line += newlines(skipped);
            self.text = word;
            if !word.starts_with('#') {
                break;
            }
            let end = word.find('\n').unwrap_or(word.len());
            self.text = &word[end..];
        }
        let first = self.text.chars().next()?;
        let length = match first {
            '[' | ']' => 1,
            '"' => self.text[1..]
                .find('"')
                .map_or(self.text.len(), |end| end + 2),
            _ => self
                .text
                .find(|c: char| c.is_whitespace() || matches!(c, '[' | ']' | '"'))
                .unwrap_or(self.text.len()),
        };
        let (word, rest) = self.text.split_at(length);
        let line = self.line;
        self.line += newlines(word);
        self.text = rest;
        Some((line, word))
    }
}

fn newlines(text: &str) -> usize {
    text.bytes().filter(|byte| *byte == b'\n').count()
}

/// Parses a time such as `75 ms` or `1.5 s`; returns nanoseconds, above 0.
pub(super) fn time_ns(text: &str) -> Option<u64> {
    let (number, unit) = number_and_unit(text)?;
    let unit_ns = match unit {
        "ns" | "nanosecond" | "nanoseconds" => 1.0,
        "us" | "μs" | "microsecond" | "microseconds" => 1e3,
        "ms" | "millisecond" | "milliseconds" => 1e6,
        "s" | "sec" | "secs" | "second" | "seconds" | "" => 1e9,
        _ => return None,
    };
    let ns = (number * unit_ns).round();
    (1.0..1e18).contains(&ns).then_some(ns as u64)
}

/// Parses a rate such as `100 Mbit` or `1 Gbit`; returns bytes per second, above 0.
pub(super) fn bytes_per_s(text: &str) -> Option<u64> {
    let (number, unit) = number_and_unit(text)?;
    let bits = match unit {
        "bit" | "bits" | "" => 1.0,
        "Kbit" | "kbit" | "kilobit" | "kilobits" => 1e3,
        "Mbit" | "megabit" | "megabits" => 1e6,
        "Gbit" | "gigabit" | "gigabits" => 1e9,
        "Tbit" | "terabit" | "terabits" => 1e12,
        "Kibit" | "kibibit" | "kibibits" => 1024.0,
        "Mibit" | "mebibit" | "mebibits" => 1024.0 * 1024.0,
        "Gibit" | "gibibit" | "gibibits" => 1024.0 * 1024.0 * 1024.0,
        _ => return None,
    };
    let rate = (number * bits / 8.0).round();
    (1.0..1e15).contains(&rate).then_some(rate as u64)
}

fn number_and_unit(text: &str) -> Option<(f64, &str)> {
    let text = text.trim();
    let end = text
        .find(|c: char| !c.is_ascii_digit() && c != '.')
        .unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    Some((number.parse().ok()?, unit.trim()))
}
