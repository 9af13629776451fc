//! Programs in C on the library that cargo has built: a real compiler, real nodes. Run by `cargo xtask test --only bindings`.
#![allow(
    clippy::unwrap_used,
    reason = "only test functions are exempt, and these helpers serve them"
)]

use std::path::{Path, PathBuf};
use std::process::Command;

/// Warnings are errors in the examples, and in the header.
const STRICT: [&str; 6] = [
    "-std=c11",
    "-D_POSIX_C_SOURCE=200809L",
    "-pthread",
    "-Wall",
    "-Wextra",
    "-Werror",
];

/// Report what is used after it was freed or not freed, and what C leaves undefined.
const SANITIZERS: [&str; 3] = [
    "-g",
    "-fsanitize=address,undefined",
    "-fno-sanitize-recover=all",
];

fn folder() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Runs a program until it ends and returns what it has printed.
fn run(command: &mut Command) -> String {
    let output = command.output();
    let output = output.unwrap_or_else(|error| panic!("{command:?}: {error}; install it"));
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    let errors = String::from_utf8_lossy(&output.stderr);
    let status = output.status;
    assert!(
        status.success(),
        "{command:?}: {status}\n{printed}\n{errors}"
    );
    printed
}

/// Compiles a program of this folder with the library, and returns its path.
fn compile(name: &str, more: &[&str]) -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let library = test.parent().unwrap();
    let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let mut command = Command::new("cc");
    command.args(STRICT).args(more).arg("-I").arg(folder());
    command.arg(folder().join(format!("{name}.c")));
    command.arg("-o").arg(&program);
    command.arg("-L").arg(library).arg("-lundertone");
    command.arg(format!("-Wl,-rpath,{}", library.display()));
    run(&mut command);
    program
}

#[test]
fn two_nodes_in_one_program_exchange_a_message() {
    let folders = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
    let program = compile("two_nodes", &[]);
    let printed = run(Command::new(program).args(folders.iter().map(tempfile::TempDir::path)));
    assert!(printed.ends_with("received aGVsbG8=\n"), "{printed}");
}

#[test]
fn mistakes_are_errors_and_the_sanitizers_find_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let program = compile("check", &SANITIZERS);
    assert_eq!(run(Command::new(program).arg(folder.path())), "good\n");
}

#[test]
fn the_header_is_one_for_cpp_too() {
    let mut command = Command::new("c++");
    command.args(["-std=c++17", "-Wall", "-Wextra", "-Werror", "-fsyntax-only"]);
    run(command
        .args(["-x", "c++"])
        .arg(folder().join("undertone.h")));
}

/// Writes the header anew, so that the second run passes.
#[test]
fn the_header_is_that_of_the_calls() {
    let is_changed = cbindgen::generate(folder())
        .unwrap()
        .write_to_file(folder().join("undertone.h"));
    assert!(
        !is_changed,
        "undertone.h was not that of the calls, and is now; commit it"
    );
}
