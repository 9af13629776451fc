//! Programs in other languages on the library that cargo has built: generated sources, real compilers, real nodes.
//! Run by `cargo xtask test --only bindings`, because Python and, for Kotlin, Maven are needed.
#![allow(
    clippy::unwrap_used,
    reason = "only test functions are exempt, and these helpers serve them"
)]

use std::env::consts::{DLL_PREFIX, DLL_SUFFIX};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// Folder of the library that cargo has built for this test.
fn library_folder() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    test.parent().unwrap().to_owned()
}

fn library() -> PathBuf {
    let name = format!("{DLL_PREFIX}undertone_bindings{DLL_SUFFIX}");
    library_folder().join(name)
}

/// Folder of the sources for all languages and of a copy of the library, made once for all tests.
fn generated() -> &'static Path {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    FOLDER.get_or_init(|| {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("bindings");
        match fs::remove_dir_all(&folder) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => panic!("{error}"),
            _ => {}
        }
        let mut command = Command::new(env!("CARGO_BIN_EXE_undertone-bindgen"));
        command.args(["generate", "--no-format", "--language=kotlin"]);
        command.args(["--language=python", "--language=swift", "--out-dir"]);
        run(command.arg(&folder).arg(library()));
        let beside = folder.join(library().file_name().unwrap());
        fs::copy(library(), beside).unwrap();
        folder
    })
}

fn sources(language: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("..")
        .join(language)
}

/// Runs a program until it ends and returns what it has printed.
fn run(command: &mut Command) -> String {
    let output = command.output();
    let output = output.unwrap_or_else(|error| panic!("{command:?}: {error}; install it"));
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success(),
        "{command:?}: {}\n{printed}\n{errors}",
        output.status
    );
    printed
}

fn python(script: &str) -> String {
    let mut command = Command::new("python3");
    command.arg(sources("python").join(script));
    // Nothing is written beside the scripts.
    command
        .env("PYTHONPATH", generated())
        .env("PYTHONDONTWRITEBYTECODE", "1");
    run(&mut command)
}

#[test]
fn two_nodes_in_one_python_process_exchange_a_message() {
    let printed = python("two_nodes.py");
    assert!(printed.ends_with("received b'hello'\n"), "{printed}");
}

#[test]
fn python_gets_messages_history_and_errors_and_leaks_nothing() {
    python("test_undertone.py");
}

#[test]
#[ignore = "needs Maven and its repository: cargo xtask test --only bindings"]
fn two_nodes_in_one_kotlin_program_exchange_a_message() {
    let option = |name: &str, path: &Path| format!("-D{name}={}", path.display());
    let mut command = Command::new("mvn");
    command.args(["--batch-mode", "--quiet", "compile", "exec:java", "--file"]);
    command.arg(sources("kotlin").join("pom.xml"));
    command.arg(option("bindings.generated", generated()));
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join("kotlin");
    command.arg(option("bindings.target", &target));
    command.arg(option("jna.library.path", &library_folder()));
    let printed = run(&mut command);
    assert!(printed.contains("received hello"), "{printed}");
}

#[test]
fn swift_sources_are_generated() {
    let folder = generated();
    let swift = fs::read_to_string(folder.join("undertone.swift")).unwrap();
    assert!(swift.contains("class UndertoneNode"), "{swift}");
    let header = fs::read_to_string(folder.join("undertoneFFI.h")).unwrap();
    assert!(header.contains("uniffi_undertone_bindings_fn_constructor_undertonenode_start"));
    assert!(folder.join("undertoneFFI.modulemap").is_file());
}
