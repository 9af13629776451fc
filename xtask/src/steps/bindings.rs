//! Step that uses the shared library from programs in other languages.

use std::path::Path;

use super::{BINDINGS, Outcome, apt, cargo, selection, version_of};

/// Compilers and interpreters without which the step proves nothing; rustc needs the first one too.
const NEEDED: [&str; 3] = ["cc", "c++", "python3"];

/// Program that compiles Kotlin, and Debian's package of the same name.
const MAVEN: &str = "mvn";
const MAVEN_PACKAGE: &str = "maven";

/// Variable that allows the test of Kotlin.
const KOTLIN: &str = "UNDERTONE_KOTLIN_TEST";

/// Said of every run: there is no compiler of Swift to be had from a package registry or Debian.
const SWIFT: &str = "the Swift sources were generated, not compiled";

/// Runs the tests, that of Kotlin only where Maven is or can be installed.
pub(super) fn run(root: &Path) -> Outcome {
    for program in NEEDED {
        if let Err(reason) = version_of(program) {
            return Outcome::Skipped(reason);
        }
    }
    let maven = version_of(MAVEN).or_else(|_| apt::install(MAVEN_PACKAGE));
    let kotlin = [(KOTLIN, "1")];
    let variables = if maven.is_ok() { &kotlin[..] } else { &[] };
    match cargo(root, &selection::named(&BINDINGS), variables) {
        Outcome::Passed => Outcome::PassedBut(match maven {
            Ok(()) => SWIFT.to_owned(),
            Err(reason) => {
                format!("{SWIFT}; Kotlin neither: no Maven ({reason}), install {MAVEN_PACKAGE}")
            }
        }),
        failed => failed,
    }
}
