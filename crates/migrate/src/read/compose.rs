//! Flags in a compose file: `command` and `environment` of the reference node's service.
//!
//! Read is a subset of YAML, by indentation: block maps, block lists, one-line lists and texts, anchors.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use super::words::{expand, split};
use super::{Found, ReadFault, Variables, at, flags_of, is_program, read_words, shell};

/// Most anchors that the variables of a service merge.
const MAX_MERGED: usize = 64;

/// A line that is not empty: number, indentation, text without comment.
type YamlLine<'a> = (usize, usize, &'a str);

/// Reads the flags of the service that runs the reference node; also of a script that the service runs.
pub(crate) fn read(path: &Path, environment: &Variables) -> Result<Found, ReadFault> {
    let text = super::text_of(path)?;
    if let Some(line) = text
        .lines()
        .position(|line| line.trim_start_matches(' ').starts_with('\t'))
    {
        let what = "a tab at the start of the line".to_owned();
        return Err(ReadFault::Yaml {
            place: at(path, line + 1),
            what,
        });
    }
    let lines: Vec<YamlLine<'_>> = text.lines().enumerate().filter_map(yaml_line).collect();
    let anchors = anchors(&lines);
    let services = block(&lines, "services");
    for service in children(services) {
        let image = child(service, "image").map(|(lines, _)| value_of(lines[0].2));
        let command = child(service, "command");
        let words = command.map(|(lines, number)| (listed(lines), number));
        let image = image
            .and_then(|image| expand(image, environment))
            .unwrap_or_default();
        let is_node = image
            .rsplit('/')
            .next()
            .is_some_and(|name| is_program(name.trim()));
        let runs =
            |(words, _): &(Vec<String>, usize)| words.first().is_some_and(|word| is_program(word));
        if is_node || words.as_ref().is_some_and(runs) {
            let reader = ServiceReader {
                path,
                service,
                anchors: &anchors,
                environment,
            };
            return reader.read(words);
        }
    }
    Err(ReadFault::NoService {
        path: path.to_owned(),
    })
}

struct ServiceReader<'a> {
    path: &'a Path,
    service: &'a [YamlLine<'a>],
    anchors: &'a BTreeMap<&'a str, &'a [YamlLine<'a>]>,
    environment: &'a Variables,
}

impl ServiceReader<'_> {
    fn read(&self, command: Option<(Vec<String>, usize)>) -> Result<Found, ReadFault> {
        let mut found = Found::default();
        let mut inner = Variables::new();
        if let Some((lines, number)) = child(self.service, "environment") {
            self.variables(&lines[1..], &mut BTreeSet::new(), &mut inner)?;
            found.flags.extend(flags_of(&inner, &at(self.path, number)));
        }
        let Some((words, number)) = command else {
            return Ok(found);
        };
        let place = at(self.path, number);
        if let Some(script) = words.iter().find(|word| word.ends_with(".sh")) {
            let Some(host) = self.mounted(script) else {
                let what = format!("the script {script} is in the image; give it with --flags");
                found.remarks.push((place, what));
                return Ok(found);
            };
            let script = shell::read(&host, &inner)?;
            found.flags.extend(script.flags);
            found.remarks.extend(script.remarks);
            return Ok(found);
        }
        let mut flags = Vec::new();
        for word in words.iter().skip_while(|word| !word.starts_with("--")) {
            match expand(word, self.environment) {
                Some(word) => flags.push(word),
                None => found
                    .remarks
                    .push((place.clone(), format!("{word} cannot be evaluated here"))),
            }
        }
        read_words(&flags, &place, &mut found);
        Ok(found)
    }

    /// Path on the host of a file that a volume mounts.
    fn mounted(&self, inside: &str) -> Option<PathBuf> {
        let (lines, _) = child(self.service, "volumes")?;
        let volumes = listed(lines);
        let host = volumes.iter().find_map(|volume| {
            let mut parts = volume.split(':');
            let host = parts.next()?;
            (parts.next()? == inside).then(|| host.to_owned())
        })?;
        let folder = self.path.parent().unwrap_or(Path::new("."));
        Some(folder.join(expand(&host, self.environment)?))
    }

    /// Reads variables of `environment`: `NAME: value`, `- NAME=value`, and merged maps `<<: *anchor`.
    /// Each anchor is merged once, as it gives the same each time: one that merges itself ends there.
    fn variables(
        &self,
        lines: &[YamlLine<'_>],
        merged: &mut BTreeSet<String>,
        into: &mut Variables,
    ) -> Result<(), ReadFault> {
        for (number, _, text) in lines {
            let item = text.strip_prefix("- ").unwrap_or(text).trim();
            let name = item.strip_prefix("<<:").unwrap_or(item).trim();
            let name = name.strip_prefix('*').unwrap_or_default();
            if let Some(anchor) = self.anchors.get(name) {
                if merged.len() == MAX_MERGED {
                    return Err(ReadFault::Yaml {
                        place: at(self.path, *number),
                        what: format!("more than {MAX_MERGED} anchors are merged"),
                    });
                }
                if merged.insert(name.to_owned()) {
                    self.variables(&anchor[1..], merged, into)?;
                }
                continue;
            }
            let pair = match text.starts_with("- ") {
                true => item.split_once('='),
                false => item.split_once(':'),
            };
            let Some((name, value)) = pair.filter(|(name, _)| *name != "<<") else {
                continue;
            };
            let value = value_of(value);
            let value = match value
                .strip_prefix('*')
                .and_then(|name| self.anchors.get(name))
            {
                Some(lines) => value_of(after_key(lines[0].2)),
                None => value,
            };
            into.insert(name.trim().to_owned(), expand(value, self.environment));
        }
        Ok(())
    }
}

fn yaml_line((index, line): (usize, &str)) -> Option<YamlLine<'_>> {
    let text = line.trim_start_matches(' ');
    let indent = line.len() - text.len();
    let text = match text.starts_with('#') {
        true => "",
        false => text.split(" #").next().unwrap_or_default().trim_end(),
    };
    (!text.is_empty()).then_some((index + 1, indent, text))
}

/// Lines of each anchored entry, from its own line on.
fn anchors<'a>(lines: &'a [YamlLine<'a>]) -> BTreeMap<&'a str, &'a [YamlLine<'a>]> {
    let named = lines
        .iter()
        .enumerate()
        .filter_map(|(index, (_, _, text))| {
            let rest = after_key(text).strip_prefix('&')?;
            Some((rest.split(' ').next()?, entry(&lines[index..])))
        });
    named.collect()
}

/// The lines of the entry that begins with the first line.
fn entry<'a>(lines: &'a [YamlLine<'a>]) -> &'a [YamlLine<'a>] {
    let Some((_, indent, first)) = lines.first() else {
        return lines;
    };
    // A list may stand at the indentation of its key.
    let inside = |(_, at, text): &YamlLine<'_>| {
        at > indent || (at == indent && text.starts_with('-') && !first.starts_with('-'))
    };
    let more = lines[1..].iter().take_while(|line| inside(line)).count();
    &lines[..=more]
}

fn block<'a>(lines: &'a [YamlLine<'a>], key: &str) -> &'a [YamlLine<'a>] {
    let is_key =
        |(_, indent, text): &YamlLine<'_>| *indent == 0 && text.strip_suffix(':') == Some(key);
    lines
        .iter()
        .position(is_key)
        .map_or(&[], |at| &entry(&lines[at..])[1..])
}

/// The entries of a map, each with its lines.
fn children<'a>(lines: &'a [YamlLine<'a>]) -> impl Iterator<Item = &'a [YamlLine<'a>]> {
    let indent = lines.first().map(|line| line.1);
    let starts = lines
        .iter()
        .enumerate()
        .filter(move |(_, line)| Some(line.1) == indent);
    starts.map(|(at, _)| entry(&lines[at..]))
}

/// The entry of a map's key: its lines, of which the first has the key removed by [`value_of`], and its number.
fn child<'a>(map: &'a [YamlLine<'a>], key: &str) -> Option<(&'a [YamlLine<'a>], usize)> {
    let found = children(&map[1..]).find(|lines| {
        lines[0]
            .2
            .split_once(':')
            .is_some_and(|(name, _)| name == key)
    })?;
    Some((found, found[0].0))
}

fn after_key(text: &str) -> &str {
    text.split_once(':').map_or("", |(_, value)| value.trim())
}

/// A scalar without key, anchor and quotes.
fn value_of(text: &str) -> &str {
    let text = match text.split_once(": ") {
        Some((key, value))
            if key
                .bytes()
                .all(|b| b.is_ascii_alphanumeric() || b"_-".contains(&b)) =>
        {
            value
        }
        _ => text,
    };
    let text = text.trim();
    let text = match text.strip_prefix('&') {
        Some(anchored) => anchored
            .split_once(' ')
            .map_or("", |(_, value)| value.trim()),
        None => text,
    };
    let quoted = |quote: char| {
        text.strip_prefix(quote)
            .and_then(|inner| inner.strip_suffix(quote))
    };
    quoted('"').or_else(|| quoted('\'')).unwrap_or(text)
}

/// Items of a list, or words of a text; variables are not replaced yet.
fn listed(lines: &[YamlLine<'_>]) -> Vec<String> {
    let first = after_key(lines[0].2);
    if let Some(items) = first
        .strip_prefix('[')
        .and_then(|rest| rest.strip_suffix(']'))
    {
        return items
            .split(',')
            .map(|item| value_of(item).to_owned())
            .collect();
    }
    let rest = lines[1..].iter().map(|line| line.2);
    if lines
        .get(1)
        .is_some_and(|line| line.2.starts_with('-') && !line.2.starts_with("--"))
    {
        return rest
            .map(|item| value_of(item.trim_start_matches('-').trim_start_matches(' ')))
            .map(unstripped)
            .collect();
    }
    let first = match first {
        "|" | ">" | "|-" | ">-" => "",
        text => value_of(text),
    };
    let text: Vec<&str> = std::iter::once(first).chain(rest).collect();
    // Variables stay as they are: a dollar sign in single quotes is not special.
    let text = text.join(" ").replace('$', "\\$");
    split(&text, &Variables::new()).words
}

fn unstripped(text: &str) -> String {
    text.to_owned()
}
