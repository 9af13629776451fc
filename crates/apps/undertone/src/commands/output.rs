//! Results on standard output: text for people, one JSON object for programs.

use std::fmt::{self, Display};
use std::io::{self, Write};

use serde::Serialize;

use super::Failure;

/// Prints a result as one line of JSON, or in its text form.
pub(crate) fn print<T: Serialize + Display>(result: &T, json: bool) -> Result<(), Failure> {
    let text = if json {
        serde_json::to_string(result).expect("results have string keys and infallible fields")
    } else {
        result.to_string()
    };
    let mut stdout = io::stdout().lock();
    match writeln!(stdout, "{}", text.trim_end()).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(Failure::new(format!("standard output: {error}"))
                .with_help("the work itself was done; check where the output goes"))
        }
        // A closed pipe is not a failure: the reader stopped early on purpose, as `head` does.
        _ => Ok(()),
    }
}

/// Prints a note on standard error.
#[cfg(feature = "lab")]
pub(crate) fn note(what: &str) {
    // A closed standard error is not a reason to fail.
    let _ = writeln!(io::stderr().lock(), "note: {what}");
}

/// Writes one `name  value` line per field, with the values aligned.
pub(crate) fn fields(f: &mut fmt::Formatter<'_>, fields: &[(&str, &dyn Display)]) -> fmt::Result {
    let width = fields.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
    fields
        .iter()
        .try_for_each(|(name, value)| writeln!(f, "{name:width$}  {value}"))
}
