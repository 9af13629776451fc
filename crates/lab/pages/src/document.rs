//! Beginning and end of every page, with its style.

use std::fmt;

use super::escape::Escaped;

const STYLE: &str = include_str!("style.css");

/// Writes everything before the content of a page.
pub(super) fn begin(f: &mut fmt::Formatter<'_>, title: &str) -> fmt::Result {
    write!(
        f,
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <link rel=\"icon\" href=\"data:,\">\n\
         <title>{}</title>\n<style>\n",
        Escaped(title)
    )?;
    f.write_str(STYLE)?;
    f.write_str("</style>\n</head>\n<body>\n")
}

/// Writes everything after the content of a page.
pub(super) fn end(f: &mut fmt::Formatter<'_>) -> fmt::Result {
    f.write_str("</body>\n</html>\n")
}
