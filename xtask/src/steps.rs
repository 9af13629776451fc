//! Steps of `cargo xtask test`: the commands that they run, and the conditions for skipping them.

use std::env;
use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};
use std::thread;

use crate::tidy;

mod apt;
pub(crate) mod archive;
pub(crate) mod audit;
pub(crate) mod beside;
mod bindings;
pub(crate) mod contracts;
mod deploy;
pub(crate) mod documentation;
pub(crate) mod driver;
mod examples;
mod lints;
pub(crate) mod lossy;
pub(crate) mod mpi;
pub(crate) mod namespaces;
mod outside;
mod package;
mod page;
pub(crate) mod python;
mod selection;
pub(crate) mod walls;
mod wasm;

/// Program that contracts, interop and the check of the page need besides Rust.
pub(crate) const NPM: &str = "npm";

/// Variable of the number of tests of a program that run at a time.
const TEST_THREADS: &str = "RUST_TEST_THREADS";

/// Variable that makes `insta` compare snapshots and write none.
const SNAPSHOTS: (&str, &str) = ("INSTA_UPDATE", "no");

/// Integration tests of the testbed's devices.
const TESTBED: [&str; 2] = ["devices", "profiles"];

/// Integration tests with other implementations.
const INTEROP: [&str; 1] = ["peers"];

/// Integration tests that attack real nodes, kill and suspend those that light nodes depend on, or replace their program.
const HOSTILE: [&str; 3] = ["hostile", "light", "upgrade"];

/// Integration tests of the archive of messages, with a database.
const ARCHIVE: [&str; 1] = ["archive"];

/// Integration tests of nodes whose archive fails, with a database.
const STORE_FAULTS: &str = "store_faults::";

/// Tests that send generated requests to the REST API of a real node, and read its traces, and the variables that allow them.
const OPENAPI: [&str; 2] = ["openapi::", "traces::"];
const OPENAPI_ALLOWED: [(&str, &str); 2] = [
    ("UNDERTONE_OPENAPI_TEST", "1"),
    ("UNDERTONE_TRACES_TEST", "1"),
];

/// Tests of programs in other languages on the shared library.
const BINDINGS: [&str; 1] = ["bindings"];

/// Integration tests of clients that use the services of real nodes.
const SERVICES: [&str; 1] = ["services"];

/// Tests of clients that need Go.
const GO_TESTS: &str = "go_ethereum::";

/// Tests of clients that need a browser.
const PAGE_TESTS: &str = "page::";

/// Number of networks of the tests of clients that run in parallel, each of two nodes and a few clients.
const SERVICES_THREADS: &str = "--test-threads=2";

/// Variable with the path of the browser for those tests that need one.
const CHROMIUM: &str = "UNDERTONE_CHROMIUM";

/// Number of attacks that run in parallel, which is possible because they wait most of the time.
const HOSTILE_THREADS: &str = "--test-threads=4";

/// Step of the test run. All steps build with the dev profile, so that nothing is compiled twice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Step {
    Fmt,
    Tidy,
    Clippy,
    Doc,
    Package,
    Audit,
    Deploy,
    Contracts,
    Unit,
    Examples,
    Wasm,
    Outside,
    Page,
    Archive,
    Openapi,
    Bindings,
    Python,
    Mpi,
    Interop,
    Services,
    Browser,
    Testbed,
    Hostile,
}

/// Outcome of a step or campaign.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Outcome {
    Passed,
    /// All parts that could run on this machine passed; the text says which could not.
    PassedBut(String),
    Failed(String),
    /// The step could not run on this machine; the text says why.
    Skipped(String),
}

impl Step {
    /// All steps in the order in which they run, but for those that run beside others: the quickest first, but contracts before
    /// unit, whose tests use the chain that contracts installs, and at the end those that nothing runs beside.
    pub(crate) const ALL: [Self; 23] = [
        Self::Fmt,
        Self::Tidy,
        Self::Clippy,
        Self::Doc,
        Self::Package,
        Self::Audit,
        Self::Deploy,
        Self::Contracts,
        Self::Unit,
        Self::Examples,
        Self::Wasm,
        Self::Outside,
        Self::Page,
        Self::Archive,
        Self::Openapi,
        Self::Bindings,
        Self::Python,
        Self::Mpi,
        Self::Interop,
        Self::Services,
        Self::Browser,
        Self::Testbed,
        Self::Hostile,
    ];

    /// Returns the step's name in `--only` and in the report.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Fmt => "fmt",
            Self::Tidy => "tidy",
            Self::Clippy => "clippy",
            Self::Doc => "doc",
            Self::Package => "package",
            Self::Audit => "audit",
            Self::Deploy => "deploy",
            Self::Contracts => "contracts",
            Self::Unit => "unit",
            Self::Examples => "examples",
            Self::Wasm => "wasm",
            Self::Outside => "outside",
            Self::Page => "page",
            Self::Archive => "archive",
            Self::Openapi => "openapi",
            Self::Bindings => "bindings",
            Self::Python => "python",
            Self::Mpi => "mpi",
            Self::Testbed => "testbed",
            Self::Interop => "interop",
            Self::Services => "services",
            Self::Browser => "browser",
            Self::Hostile => "hostile",
        }
    }

    /// Returns a short description of what the step checks.
    pub(crate) fn about(self) -> &'static str {
        match self {
            Self::Fmt => "all code is formatted",
            Self::Tidy => "length of files, leftovers in code, dependencies explained",
            Self::Clippy => {
                "everything compiles without a warning of rustc or clippy, with and without the laboratory"
            }
            Self::Doc => "the documentation builds without a warning, and the examples in it run",
            Self::Package => "the libraries can be packed for publication",
            Self::Audit => "where dependencies come from, their licences, known advisories",
            Self::Deploy => {
                "linters and promtool accept the files in deploy/, alerts fire when they should; needs apt or promtool, Python 3, npm, Go"
            }
            Self::Contracts => "the contract's artifacts and its tests on a chain; needs npm",
            Self::Unit => "all tests but those of contracts, testbed and interop",
            Self::Examples => "the examples of the libraries run and do what they show",
            Self::Wasm => {
                "the libraries compile for browsers; needs rustup, or the target wasm32-unknown-unknown"
            }
            Self::Outside => "packages outside the workspace use the libraries",
            Self::Page => {
                "in a browser: the HTML report, and pages that attack a node; needs npm and Chromium"
            }
            Self::Archive => "the archive of messages on SQLite and PostgreSQL; needs PostgreSQL",
            Self::Openapi => {
                "generated requests to the REST API of a real node, and its traces at a collector; needs Python 3 with venv"
            }
            Self::Bindings => {
                "programs in Python, C and Kotlin on the shared library; needs Python 3, a C compiler, Maven"
            }
            Self::Python => {
                "the laboratory as a Python package; needs Python 3 with venv, and PyPI"
            }
            Self::Mpi => "one run on several processes has one trace; needs Open MPI and libclang",
            Self::Testbed => {
                "real TCP and real nodes in network namespaces; needs TUN devices and iproute2"
            }
            Self::Interop => "tests against other implementations; needs npm",
            Self::Services => {
                "js-waku's light clients, and discovery of others, on real nodes; needs npm, and Go for a part"
            }
            Self::Browser => {
                "a js-waku light client in a page, on real nodes; needs npm and Chromium"
            }
            Self::Hostile => {
                "attacks on real nodes and their restarts, and light nodes with dead and lying peers, in short"
            }
        }
    }

    /// Whether nothing runs beside the step, because it compares times and memory of real nodes with bounds.
    pub(crate) fn is_quiet(self) -> bool {
        matches!(self, Self::Testbed | Self::Hostile)
    }

    /// Runs the step in the workspace at `root`.
    pub(crate) fn run(self, root: &Path) -> Outcome {
        match self {
            Self::Fmt => match cargo(root, &["fmt", "--all", "--check"], &[]) {
                // A workspace of its own.
                Outcome::Passed => cargo(&root.join("fuzz"), &["fmt", "--check"], &[]),
                failed => failed,
            },
            Self::Tidy => tidy(root),
            Self::Clippy => lints::clippy(root),
            Self::Doc => documentation::run(root),
            Self::Package => package::run(root),
            Self::Audit => audit::run(root),
            Self::Deploy => deploy::run(root),
            Self::Contracts => match version_of(NPM) {
                Ok(()) => contracts::run(root, NPM),
                Err(reason) => Outcome::Skipped(reason),
            },
            Self::Unit => unit(root),
            Self::Examples => examples::run(root),
            Self::Wasm => wasm::run(root),
            Self::Outside => outside::run(root),
            Self::Page => match version_of(NPM).and_then(|()| page::browser()) {
                Ok(chromium) => match page::check(root, &chromium) {
                    Outcome::Passed => page::attack(root, &chromium),
                    failed => failed,
                },
                Err(reason) => Outcome::Skipped(reason),
            },
            Self::Archive => archive::run(root),
            Self::Openapi => match version_of("python3") {
                Ok(()) => cargo(root, &selection::modules(&OPENAPI), &OPENAPI_ALLOWED),
                Err(reason) => Outcome::Skipped(reason),
            },
            Self::Bindings => bindings::run(root),
            Self::Python => python::test(root),
            Self::Mpi => mpi::test(root),
            Self::Testbed => match namespaces::right_to_make() {
                Ok(right) => {
                    let mut args = selection::named(&TESTBED);
                    args.extend(right.cargo_options().iter().map(ToString::to_string));
                    match cargo(root, &args, &[]) {
                        Outcome::Passed => cargo(root, &with_nodes(right), &[]),
                        failed => failed,
                    }
                }
                Err(reason) => Outcome::Skipped(reason),
            },
            Self::Interop => match version_of(NPM) {
                Ok(()) => cargo(root, &selection::named(&INTEROP), &[]),
                Err(reason) => Outcome::Skipped(reason),
            },
            Self::Services => match version_of(NPM) {
                Ok(()) => services(root),
                Err(reason) => Outcome::Skipped(reason),
            },
            Self::Browser => match version_of(NPM).and_then(|()| page::browser()) {
                Ok(chromium) => {
                    let chromium = chromium.to_string_lossy();
                    let args = ["--ignored", "--skip", GO_TESTS];
                    on_nodes(root, &SERVICES, &args, &[(CHROMIUM, &chromium)])
                }
                Err(reason) => Outcome::Skipped(reason),
            },
            Self::Hostile => on_nodes(root, &HOSTILE, &[HOSTILE_THREADS], &[]),
        }
    }
}

/// Runs all unit and integration tests even if some fail, so that one report names all failures.
fn unit(root: &Path) -> Outcome {
    let args = match selection::unit(root) {
        Ok(args) => args,
        Err(error) => return Outcome::Failed(format!("{}: {error}", root.display())),
    };
    cargo(root, &args, &[SNAPSHOTS, (TEST_THREADS, &test_threads())])
}

/// Returns the number of tests of a program that run at a time: most wait for timers and for other processes, so that
/// twice as many as there are processors keep these busy.
fn test_threads() -> String {
    match env::var(TEST_THREADS) {
        Ok(wanted) => wanted,
        Err(_) => {
            let processors = thread::available_parallelism().map_or(1, usize::from);
            (2 * processors).to_string()
        }
    }
}

/// Builds the program `undertone`, which cargo does not build for another package's tests, and runs
/// integration tests with its nodes. `args` are those of the test programs.
fn on_nodes(root: &Path, names: &[&str], args: &[&str], variables: &[(&str, &str)]) -> Outcome {
    match cargo(root, &selection::program(), &[]) {
        Outcome::Passed => {
            let mut all = selection::named(names);
            all.push("--".to_owned());
            all.extend(args.iter().map(ToString::to_string));
            cargo(root, &all, variables)
        }
        failed => failed,
    }
}

/// Runs the tests of clients that use services, and those with programs in Go where there is Go.
fn services(root: &Path) -> Outcome {
    match on_nodes(root, &SERVICES, &[SERVICES_THREADS], &[]) {
        Outcome::Passed => match answers("go", "version").and_then(|()| go_modules(root)) {
            Ok(()) => {
                let args = ["--ignored", "--skip", PAGE_TESTS, SERVICES_THREADS];
                on_nodes(root, &SERVICES, &args, &[])
            }
            Err(reason) => Outcome::PassedBut(reason),
        },
        failed => failed,
    }
}

/// Downloads the modules of the program in Go, which its checksums in `go.sum` check.
fn go_modules(root: &Path) -> Result<(), String> {
    let mut download = Command::new("go");
    download.args(["mod", "download"]);
    let status = download
        .current_dir(root.join("interop/go/discv5"))
        .status();
    match status {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!(
            "without go-ethereum, whose modules cannot be downloaded (go mod download: {status})"
        )),
        Err(error) => Err(format!("without go-ethereum: cannot run go: {error}")),
    }
}

/// Returns cargo's arguments for the tests of `undertone testbed`, which a plain `cargo test` skips.
fn with_nodes(right: namespaces::Right) -> Vec<String> {
    let mut args = selection::named(&[selection::IT]);
    args.extend(right.cargo_options().iter().map(ToString::to_string));
    args.extend(["--", "--ignored", "testbed::"].map(str::to_owned));
    args
}

/// Checks that a program can be run.
fn version_of(program: &str) -> Result<(), String> {
    answers(program, "--version")
}

/// Checks that a program can be run with the argument that asks for its version.
fn answers(program: &str, argument: &str) -> Result<(), String> {
    let remedy = match program {
        NPM => "install Node.js 20+",
        _ => "install it",
    };
    match Command::new(program).arg(argument).output() {
        Ok(output) if output.status.success() => Ok(()),
        Ok(output) => Err(format!(
            "`{program} {argument}` fails ({}): {remedy} again",
            output.status
        )),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            Err(format!("{program} not found: {remedy}"))
        }
        Err(error) => Err(format!("cannot run {program}: {error}")),
    }
}

/// Returns the path of a file that cargo builds with the dev profile.
pub(crate) fn built_file(root: &Path, name: &str) -> PathBuf {
    target_folder(root).join("debug").join(name)
}

/// Returns the folder of what cargo compiles.
pub(crate) fn target_folder(root: &Path) -> PathBuf {
    env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), PathBuf::from)
}

fn tidy(root: &Path) -> Outcome {
    match tidy::check(root) {
        Ok(findings) if findings.is_empty() => Outcome::Passed,
        Ok(findings) => {
            for finding in &findings {
                eprintln!("{finding}");
            }
            Outcome::Failed(format!("{} findings", findings.len()))
        }
        Err(error) => Outcome::Failed(error.to_string()),
    }
}

pub(crate) fn cargo(
    root: &Path,
    args: &[impl AsRef<OsStr>],
    variables: &[(&str, &str)],
) -> Outcome {
    let mut command = cargo_command(root, args);
    command.envs(variables.iter().copied());
    ended(command.status())
}

/// Returns a cargo command in the workspace at `root`, ready to be run.
pub(crate) fn cargo_command(root: &Path, args: &[impl AsRef<OsStr>]) -> Command {
    let program = env::var_os("CARGO").unwrap_or_else(|| OsString::from("cargo"));
    let mut command = Command::new(program);
    command.current_dir(root).args(args);
    command.envs(driver::variables());
    // `cargo run` describes xtask's own package in the environment. Build scripts that watch these
    // variables would otherwise see a change after a plain `cargo test`, and cause recompilation.
    for (name, _) in env::vars_os() {
        if name.to_str().is_some_and(describes_a_package) {
            command.env_remove(name);
        }
    }
    command
}

fn describes_a_package(variable: &str) -> bool {
    ["CARGO_PKG_", "CARGO_MANIFEST_"]
        .iter()
        .any(|prefix| variable.starts_with(prefix))
}

fn ended(result: io::Result<ExitStatus>) -> Outcome {
    match result {
        Ok(status) if status.success() => Outcome::Passed,
        Ok(status) => Outcome::Failed(status.to_string()),
        Err(error) => Outcome::Failed(format!("cannot run cargo: {error}")),
    }
}

#[cfg(test)]
mod tests;
