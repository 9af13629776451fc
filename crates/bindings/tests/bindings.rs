//! Programs in other languages on the library that cargo has built: generated sources, real compilers, real nodes.
//! Run by `cargo xtask test --only bindings`, because Python, a C compiler and, for Kotlin, Maven are needed.
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

/// Warnings are errors in what is generated and in the examples.
const STRICT: [&str; 5] = [
    "-std=c11",
    "-D_POSIX_C_SOURCE=200809L",
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

/// Folder of the library that cargo has built for this test.
fn library_folder() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    test.parent().unwrap().to_owned()
}

fn library() -> PathBuf {
    let name = format!("{DLL_PREFIX}undertone_bindings{DLL_SUFFIX}");
    library_folder().join(name)
}

/// Folder of the sources for all languages, made once for all tests; Python's has the library too.
fn generated() -> &'static Path {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    FOLDER.get_or_init(|| {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("bindings");
        match fs::remove_dir_all(&folder) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => panic!("{error}"),
            _ => {}
        }
        undertone_bindgen::write_sources(&library(), &folder).unwrap();
        let beside = folder.join("python").join(library().file_name().unwrap());
        fs::copy(library(), beside).unwrap();
        folder
    })
}

fn sources(language: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(language)
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
        .env("PYTHONPATH", generated().join("python"))
        .env("PYTHONDONTWRITEBYTECODE", "1");
    run(&mut command)
}

/// Compiles a program with the generated source, and returns its path.
fn compile(name: &str, more: &[&str]) -> PathBuf {
    let folder = generated().join("c");
    let program = folder.join(name);
    let mut command = Command::new("cc");
    command.args(STRICT).args(more).arg("-I").arg(&folder);
    command
        .arg(sources("c").join(format!("{name}.c")))
        .arg(folder.join("undertone.c"));
    command
        .arg("-o")
        .arg(&program)
        .arg("-L")
        .arg(library_folder());
    command
        .arg("-lundertone_bindings")
        .arg("-Wl,-rpath")
        .arg("-Wl,".to_owned() + library_folder().to_str().unwrap());
    run(&mut command);
    program
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
fn two_nodes_in_one_c_program_exchange_a_message() {
    let folders = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
    let program = compile("two_nodes", &[]);
    let printed = run(Command::new(program).args(folders.iter().map(tempfile::TempDir::path)));
    assert!(printed.ends_with("received \"hello\"\n"), "{printed}");
}

#[test]
fn mistakes_in_c_are_errors_and_the_sanitizers_find_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let program = compile("check", &SANITIZERS);
    assert_eq!(run(Command::new(program).arg(folder.path())), "good\n");
}

#[test]
fn the_header_is_one_for_cpp_too() {
    let header = generated().join("c/undertone.h");
    let mut command = Command::new("c++");
    command.args([
        "-std=c++17",
        "-Wall",
        "-Wextra",
        "-Werror",
        "-fsyntax-only",
        "-x",
        "c++",
    ]);
    run(command.arg(header));
}

#[test]
#[ignore = "needs Maven and its repository: cargo xtask test --only bindings"]
fn two_nodes_in_one_kotlin_program_exchange_a_message() {
    let option = |name: &str, path: &Path| format!("-D{name}={}", path.display());
    let mut command = Command::new("mvn");
    command.args(["--batch-mode", "--quiet", "compile", "exec:java", "--file"]);
    command.arg(sources("kotlin").join("pom.xml"));
    command.arg(option("bindings.generated", &generated().join("kotlin")));
    command.arg(option(
        "bindings.target",
        &generated().join("kotlin-target"),
    ));
    command.arg(option("jna.library.path", &library_folder()));
    let printed = run(&mut command);
    assert!(printed.contains("received hello"), "{printed}");
}

#[test]
fn swift_sources_are_generated() {
    let folder = generated().join("swift");
    let swift = fs::read_to_string(folder.join("undertone.swift")).unwrap();
    assert!(swift.contains("class UndertoneNode"), "{swift}");
    let header = fs::read_to_string(folder.join("undertoneFFI.h")).unwrap();
    // The same functions as those that C calls.
    assert!(header.contains("uniffi_undertone_bindings_fn_constructor_undertonenode_start"));
    assert!(folder.join("undertoneFFI.modulemap").is_file());
}
