//! Clippy's driver as the compiler: one compilation of the workspace gives both the warnings and the programs that run.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

#[cfg(test)]
mod tests;

/// Arguments of clippy, as `cargo clippy` hands them to its driver.
pub(super) const CLIPPY_ARGS: (&str, &str) = (
    "CLIPPY_ARGS",
    "-D__CLIPPY_HACKERY__warnings__CLIPPY_HACKERY__",
);

/// Returns cargo's arguments with which it compiles the packages of the workspace through clippy's driver; none where the
/// toolchain has no clippy.
pub(super) fn options() -> impl Iterator<Item = String> {
    let wrapper = path().map(setting);
    wrapper
        .into_iter()
        .flat_map(|setting| ["--config".to_owned(), setting])
}

/// Returns the setting of cargo for a driver at a path, as TOML.
fn setting(driver: &Path) -> String {
    // A literal string, in which a backslash is one.
    format!("build.rustc-workspace-wrapper='{}'", driver.display())
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
    let rustc = std::env::var_os("RUSTC");
    let rustc = rustc.as_deref().unwrap_or(OsStr::new("rustc"));
    let output = Command::new(rustc).args(["--print", "sysroot"]).output();
    let output = output.ok().filter(|output| output.status.success())?;
    let sysroot = String::from_utf8(output.stdout).ok()?;
    Some(PathBuf::from(sysroot.trim_end()))
}
