//! Reads a password from a file, the environment or the terminal.

use std::env;
use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::Path;

use rustix::termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcsetattr};
use zeroize::Zeroizing;

use super::Failure;

const VARIABLE: &str = "UNDERTONE_KEYSTORE_PASSWORD";
const NEW_VARIABLE: &str = "UNDERTONE_KEYSTORE_NEW_PASSWORD";
const TERMINAL: &str = "/dev/tty";

/// Longest password, bytes; a longer first line suggests a file of another kind.
const MAX_BYTES: usize = 1024;

type Password = Zeroizing<Vec<u8>>;

/// Returns the present password of a keystore.
pub(crate) fn present(file: Option<&Path>) -> Result<Password, Failure> {
    get(file, VARIABLE, &["Password: "])
}

/// Returns the password of a new keystore, typed twice at a terminal.
pub(super) fn first(file: Option<&Path>) -> Result<Password, Failure> {
    get(file, VARIABLE, &["New password: ", "Again: "])
}

/// Returns the password that replaces the present one, typed twice at a terminal.
pub(super) fn new(file: Option<&Path>) -> Result<Password, Failure> {
    get(file, NEW_VARIABLE, &["New password: ", "Again: "])
}

fn get(file: Option<&Path>, variable: &str, prompts: &[&str]) -> Result<Password, Failure> {
    let password = match (file, env::var_os(variable)) {
        (Some(path), _) => from_file(path)?,
        (None, Some(value)) => Zeroizing::new(value.into_encoded_bytes()),
        (None, None) => typed(variable, prompts)?,
    };
    if password.is_empty() {
        return Err(Failure::usage("the password is empty").with_help("choose one that is not"));
    }
    Ok(password)
}

fn from_file(path: &Path) -> Result<Password, Failure> {
    let help = "give a file whose first line is the password";
    let failed = |error| Failure::at(path, error).with_help(help);
    let file = File::open(path).map_err(failed)?;
    line(file)
        .map_err(failed)?
        .ok_or_else(|| Failure::at(path, "the first line is too long").with_help(help))
}

/// Reads the first line without its line terminator; returns `None` if the line is too long.
fn line(source: impl Read) -> io::Result<Option<Password>> {
    let mut line = Zeroizing::new(Vec::with_capacity(MAX_BYTES + 2));
    let most = MAX_BYTES as u64 + 2;
    let mut source = BufReader::with_capacity(MAX_BYTES + 2, source.take(most));
    source.read_until(b'\n', &mut line)?;
    if line.last() == Some(&b'\n') {
        line.pop();
        if line.last() == Some(&b'\r') {
            line.pop();
        }
    }
    Ok((line.len() <= MAX_BYTES).then_some(line))
}

fn typed(variable: &str, prompts: &[&str]) -> Result<Password, Failure> {
    let no_terminal = |error| {
        Failure::usage(format!("no password: {TERMINAL}: {error}")).with_help(format!(
            "set {variable}, give a password file, or run this in a terminal"
        ))
    };
    let mut terminal = OpenOptions::new()
        .read(true)
        .write(true)
        .open(TERMINAL)
        .map_err(no_terminal)?;
    let mut password: Option<Password> = None;
    for prompt in prompts {
        let answer = ask(&mut terminal, prompt).map_err(no_terminal)?;
        match &password {
            Some(first) if *first != answer => {
                return Err(Failure::usage("the two passwords differ").with_help("try again"));
            }
            Some(_) => {}
            None => password = Some(answer),
        }
    }
    Ok(password.unwrap_or_default())
}

fn ask(terminal: &mut File, prompt: &str) -> io::Result<Password> {
    terminal.write_all(prompt.as_bytes())?;
    let answer = {
        let _silence = Silence::on(terminal)?;
        line(&*terminal)?
    };
    // Echo was off, so the user's line break was not shown.
    terminal.write_all(b"\n")?;
    let too_long = || io::Error::new(io::ErrorKind::InvalidInput, "the password is too long");
    answer.ok_or_else(too_long)
}

/// Guard that turns a terminal's echo off until dropped.
struct Silence {
    terminal: File,
    before: Termios,
}

impl Silence {
    fn on(terminal: &File) -> io::Result<Self> {
        let terminal = terminal.try_clone()?;
        let before = tcgetattr(&terminal)?;
        let mut silent = before.clone();
        silent.local_modes.remove(LocalModes::ECHO);
        tcsetattr(&terminal, OptionalActions::Flush, &silent)?;
        Ok(Self { terminal, before })
    }
}

impl Drop for Silence {
    fn drop(&mut self) {
        // Fails only if the terminal is gone, and then there is no echo to restore.
        let _ = tcsetattr(&self.terminal, OptionalActions::Now, &self.before);
    }
}
