//! Flags in shell scripts such as `run_node.sh`, and in plain lists of flags.
//!
//! Assignments and `if [ -n … ]`, `if [ -z … ]` are evaluated. Nothing is run: whatever depends on a command's
//! output is unknown, and reported with its line.

use std::path::Path;

use super::words::{expand, split};
use super::{Found, ReadFault, Variables, at, flags_of, read_words, unset};
use crate::release::Releases;

/// Whether the lines of a block are executed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Branch {
    Taken,
    Skipped,
    Unknown,
}

/// Reads the flags of the script's command that starts the reference node.
pub(crate) fn read(path: &Path, environment: &Variables) -> Result<Found, ReadFault> {
    let text = super::text_of(path)?;
    let mut script = ShellScript {
        path,
        variables: environment.clone(),
        branches: Vec::new(),
        found: Found::default(),
        set: Variables::new(),
    };
    let mut pending = String::new();
    let mut first = 0;
    for (index, line) in text.lines().enumerate() {
        if pending.is_empty() {
            first = index + 1;
        }
        match line.strip_suffix('\\') {
            Some(part) => {
                pending.push_str(part);
                pending.push(' ');
            }
            None => {
                pending.push_str(line);
                script.line(pending.trim(), first);
                pending.clear();
            }
        }
    }
    script.line(pending.trim(), first);
    let mut found = flags_of(&script.set, &path.display().to_string());
    found.overlay(script.found);
    if found.flags.is_empty() {
        return Err(ReadFault::NoCommand {
            path: path.to_owned(),
        });
    }
    Ok(found)
}

struct ShellScript<'a> {
    path: &'a Path,
    variables: Variables,
    branches: Vec<Branch>,
    found: Found,
    /// Variables that set flags, from the script or its command line.
    set: Variables,
}

impl ShellScript<'_> {
    fn branch(&self) -> Branch {
        let is = |wanted| self.branches.contains(&wanted);
        match (is(Branch::Skipped), is(Branch::Unknown)) {
            (true, _) => Branch::Skipped,
            (false, true) => Branch::Unknown,
            (false, false) => Branch::Taken,
        }
    }

    fn line(&mut self, line: &str, number: usize) {
        let keyword = line.split([' ', ';']).next().unwrap_or_default();
        match keyword {
            "" => {}
            "if" => self.branches.push(condition(line, &self.variables)),
            "while" | "for" | "until" | "case" => self.branches.push(Branch::Unknown),
            "elif" => self.replace_branch(|_| Branch::Unknown),
            "else" => self.replace_branch(|branch| match branch {
                Branch::Taken => Branch::Skipped,
                Branch::Skipped => Branch::Taken,
                Branch::Unknown => Branch::Unknown,
            }),
            "fi" | "done" | "esac" => {
                self.branches.pop();
            }
            _ if line.starts_with('#') || self.branch() == Branch::Skipped => {}
            _ => self.command(line, number),
        }
    }

    fn replace_branch(&mut self, of: impl FnOnce(Branch) -> Branch) {
        if let Some(last) = self.branches.last_mut() {
            *last = of(*last);
        }
    }

    fn command(&mut self, line: &str, number: usize) {
        let place = at(self.path, number);
        let is_taken = self.branch() == Branch::Taken;
        let assigned = assignment(line).filter(|(name, _)| Releases::of_variable(name).is_none());
        if let Some((name, value)) = assigned {
            let words = split(value, &self.variables);
            for (name, _) in words.unset.iter().filter(|_| is_taken) {
                self.found.remark(&place, unset(name, None));
            }
            let is_known = words.unknown.is_empty() && is_taken;
            let value = is_known.then(|| words.words.join(" "));
            self.variables.insert(name.to_owned(), value);
            return;
        }
        if let Some(name) = line.strip_prefix("unset ") {
            let value = is_taken.then(String::new);
            self.variables.insert(name.trim().to_owned(), value);
            return;
        }
        let mut words = split(line, &self.variables);
        let has_flags = |words: &[String], start: usize| {
            words.get(start).is_some_and(|word| word.starts_with("--"))
        };
        let runs =
            start_of_flags(&words.words).is_some_and(|(start, _)| has_flags(&words.words, start));
        let is_flag = |word: &String| {
            let name = word.split_once('=').map(|(name, _)| name);
            name.is_some_and(|name| Releases::of_variable(name).is_some())
        };
        if !runs && !words.words.iter().any(is_flag) {
            return;
        }
        for unknown in &words.unknown {
            let what =
                format!("{unknown} cannot be evaluated here; add what it stands for by hand");
            self.found.remark(&place, what);
        }
        if !is_taken {
            let what = "this command depends on a condition that cannot be evaluated here; its flags are taken";
            self.found.remark(&place, what.to_owned());
        }
        words.drop_incomplete(|name, word| self.found.remark(&place, unset(name, word)));
        // NAME=value before the program, after `export`, or after `docker run -e`.
        for word in words.words.iter().filter(|word| is_flag(word)) {
            if let Some((name, value)) = word.split_once('=') {
                self.set.insert(name.to_owned(), Some(value.to_owned()));
            }
        }
        words.words.retain(|word| !is_flag(word));
        if let Some((start, releases)) = start_of_flags(&words.words) {
            self.found.is_of(releases, &place);
            if has_flags(&words.words, start) {
                read_words(&words.words[start..], &place, &mut self.found);
            }
        }
    }
}

/// Returns the position after the reference node's program, where its flags begin, and its releases; `None` for
/// another command.
fn start_of_flags(words: &[String]) -> Option<(usize, Releases)> {
    if words.first()?.starts_with("--") {
        return Some((0, Releases::default()));
    }
    // The program itself, or the image of `docker run`, whose name contains the program's.
    let runs = matches!(
        words.first()?.as_str(),
        "docker" | "podman" | "sudo" | "exec" | "nohup"
    );
    let is_program =
        |word: &String| !word.starts_with("--") && Releases::of_program(word).is_some();
    let program = match runs {
        true => words.iter().rposition(is_program)?,
        false => words.first().filter(|word| is_program(word)).map(|_| 0)?,
    };
    Some((program + 1, Releases::of_program(&words[program])?))
}

fn assignment(line: &str) -> Option<(&str, &str)> {
    let line = line.strip_prefix("export ").unwrap_or(line);
    let (name, value) = line.split_once('=')?;
    let is_name = !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
    is_name.then_some((name, value))
}

/// Evaluates `if [ -n "…" ]` and `if [ -z "…" ]`; other conditions are unknown.
fn condition(line: &str, variables: &Variables) -> Branch {
    let inside = line
        .split_once('[')
        .and_then(|(_, rest)| rest.rsplit_once(']'));
    let Some((inside, _)) = inside.filter(|_| !line.contains("||") && !line.contains("&&")) else {
        return Branch::Unknown;
    };
    let inside = inside.trim();
    let (wants_empty, text) = match (inside.strip_prefix("-z "), inside.strip_prefix("-n ")) {
        (Some(text), _) => (true, text),
        (_, Some(text)) => (false, text),
        _ => return Branch::Unknown,
    };
    match expand(text.trim().trim_matches('"'), variables).text {
        None => Branch::Unknown,
        Some(value) if value.is_empty() == wants_empty => Branch::Taken,
        Some(_) => Branch::Skipped,
    }
}
