//! Clippy's driver as the compiler: one compilation of the workspace gives both the warnings and the programs that run. Cargo runs
//! this program, which runs the driver.

use std::env;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::sync::OnceLock;

use super::audit::TOOLS;

#[cfg(test)]
mod tests;

/// Arguments of clippy, as `cargo clippy` hands them to its driver.
const CLIPPY_ARGS: (&str, &str) = (
    "CLIPPY_ARGS",
    "-D__CLIPPY_HACKERY__warnings__CLIPPY_HACKERY__",
);

/// Variable with the path of clippy's driver, for this program when cargo runs it as the compiler.
const DRIVER: &str = "UNDERTONE_CLIPPY_DRIVER";

/// Name, in the folder for tools, of the copy of this program that cargo runs as the compiler. Its path is the same for all folders
/// of compiled files, because cargo compiles a package again for another compiler; and it is no file that cargo replaces.
const COMPILER: &str = "rustc-of-the-tests";

/// Test programs that are compiled without optimisation, each by its package and its name; without a name, all of the package. For
/// unit tests, the compiler compiles the whole library again, and for each test program code of others; what these do takes less
/// time than that (docs/building.md). The library that tests of other files use keeps its level. Cargo has no setting for it.
const UNOPTIMISED: [(&str, Option<&str>); 3] = [
    ("undertone-gossip", Some("undertone_gossip")),
    ("undertone-node", None),
    ("undertone-sim", Some("undertone_sim")),
];
/// Variable in which cargo tells the compiler the package.
const PACKAGE: &str = "CARGO_PKG_NAME";

/// Acts as the compiler, if cargo has started this program as that.
pub(crate) fn as_compiler() -> Option<ExitCode> {
    let mut args = env::args_os();
    let own = PathBuf::from(args.next()?);
    if own.file_name() != Some(OsStr::new(COMPILER)) {
        return None;
    }
    let mut args: Vec<OsString> = args.collect();
    let package = env::var_os(PACKAGE).unwrap_or_default();
    args.extend(level(&package, &args).map(OsString::from));
    let Some(driver) = env::var_os(DRIVER) else {
        eprintln!("error: {COMPILER} is for `cargo xtask test`, which sets {DRIVER}");
        return Some(ExitCode::FAILURE);
    };
    Some(match Command::new(&driver).args(&args).status() {
        Ok(status) if status.success() => ExitCode::SUCCESS,
        Ok(_) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: cannot run {}: {error}", driver.display());
            ExitCode::FAILURE
        }
    })
}

/// Returns the level of optimisation that overrides the one in the compiler's arguments.
fn level(package: &OsStr, args: &[OsString]) -> Option<&'static str> {
    let is_test = args.iter().any(|arg| arg == "--test");
    let has_name = |name: &str| {
        args.windows(2)
            .any(|pair| pair[0] == "--crate-name" && pair[1] == name)
    };
    let is_listed = UNOPTIMISED
        .iter()
        .any(|(listed, name)| package == *listed && name.is_none_or(has_name));
    (is_test && is_listed).then_some("-Copt-level=0")
}

/// Returns the variables of a cargo that compiles with [`options`].
pub(super) fn variables() -> impl Iterator<Item = (&'static str, &'static OsStr)> {
    let (clippy, args) = CLIPPY_ARGS;
    let driver = path().map(|driver| (DRIVER, driver.as_os_str()));
    [(clippy, OsStr::new(args))].into_iter().chain(driver)
}

/// Returns cargo's arguments with which it compiles the packages of the workspace through clippy's driver; none where the
/// toolchain has no clippy.
pub(super) fn options() -> impl Iterator<Item = String> {
    let compiler = path().map(|driver| COPY.get().map_or(driver, PathBuf::as_path));
    compiler
        .into_iter()
        .flat_map(|path| ["--config".to_owned(), setting(path)])
}

/// Path of the copy of this program that cargo runs as the compiler, once there is one.
static COPY: OnceLock<PathBuf> = OnceLock::new();

/// Copies this program to where cargo runs it as the compiler. Without the copy, cargo runs the driver itself, which takes longer
/// and is as good.
pub(crate) fn prepare(root: &Path) {
    let copy = |program: PathBuf| copy(&program, &root.canonicalize()?.join(TOOLS));
    match env::current_exe().and_then(copy) {
        Ok(path) => {
            let _ = COPY.set(path);
        }
        Err(error) => eprintln!("{TOOLS}/{COMPILER}: {error}"),
    }
}

/// Copies a program into a folder, unless it is there, and returns the path of the copy. Other processes may run the copy, or make
/// it too, at the same time.
fn copy(program: &Path, folder: &Path) -> io::Result<PathBuf> {
    let path = folder.join(COMPILER);
    let wanted = fs::read(program)?;
    if fs::read(&path).is_ok_and(|found| found == wanted) {
        return Ok(path);
    }
    fs::create_dir_all(folder)?;
    let begun = path.with_extension(std::process::id().to_string());
    fs::copy(program, &begun)?;
    fs::rename(&begun, &path)?;
    Ok(path)
}

/// Returns the setting of cargo for a compiler at a path, as TOML.
fn setting(compiler: &Path) -> String {
    // A literal string, in which a backslash is one.
    format!("build.rustc-workspace-wrapper='{}'", compiler.display())
}

/// Returns the path of clippy's driver, if the toolchain has one.
pub(super) fn path() -> Option<&'static Path> {
    static DRIVER: OnceLock<Option<PathBuf>> = OnceLock::new();
    let driver = DRIVER.get_or_init(|| {
        let driver = sysroot()?.join("bin/clippy-driver");
        driver.is_file().then_some(driver)
    });
    driver.as_deref()
}

/// Returns the folder of the toolchain.
pub(super) fn sysroot() -> Option<PathBuf> {
    let rustc = env::var_os("RUSTC");
    let rustc = rustc.as_deref().unwrap_or(OsStr::new("rustc"));
    let output = Command::new(rustc).args(["--print", "sysroot"]).output();
    let output = output.ok().filter(|output| output.status.success())?;
    let sysroot = String::from_utf8(output.stdout).ok()?;
    Some(PathBuf::from(sysroot.trim_end()))
}
