//! The Python package: built and installed into a fresh virtual environment, tested there, its types checked.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::{Outcome, outside, target_folder, version_of};

/// Folder of the package.
const PACKAGE: &str = "crates/python";
/// Interpreter that makes the environment.
const PYTHON: &str = "python3";

/// Optional dependencies of the package that a use of it needs.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Extra {
    /// Tests and the check of types.
    Test,
    /// Tests on a Ray cluster of this machine.
    Ray,
    /// Notebooks and the figures that they draw.
    Plots,
}

impl Extra {
    const fn names(self) -> &'static str {
        match self {
            Self::Test => "test",
            Self::Ray => "test,ray",
            Self::Plots => "test,plots",
        }
    }
}

/// Installs the package with the dev profile, of which the other steps have compiled much, and runs its tests.
pub(super) fn test(root: &Path) -> Outcome {
    let environment = match Environment::make(root, Extra::Test, "dev") {
        Ok(environment) => environment,
        Err(outcome) => return outcome,
    };
    let package = "python/undertone";
    let checks: [&[&str]; 3] = [
        &["-m", "pytest", "tests"],
        &["-m", "mypy", package, "tests", "campaigns", "notebooks"],
        &["-m", "mypy.stubtest", "undertone._native"],
    ];
    environment.run_all(&checks)
}

/// Runs the tests on a Ray cluster of this machine.
pub(crate) fn ray(root: &Path) -> Outcome {
    match Environment::make(root, Extra::Ray, "release") {
        Ok(environment) => environment.run_all(&[&["-m", "pytest", "campaigns/test_ray.py"]]),
        Err(outcome) => outcome,
    }
}

/// Runs the notebooks, which write their figures into `target/python/figures`.
pub(crate) fn notebooks(root: &Path) -> Outcome {
    match Environment::make(root, Extra::Plots, "release") {
        Ok(environment) => {
            environment.run_all(&[&["notebooks/all.py", "../../target/python/figures"]])
        }
        Err(outcome) => outcome,
    }
}

/// Returns the arguments of maturin for a profile. With the dev profile, packages of the workspace are compiled without
/// optimisation: other features of what they need make cargo compile them again, and the tests simulate little.
fn maturin_args(root: &Path, profile: &str) -> Result<String, Outcome> {
    let mut args = format!("--profile {profile}");
    if profile == "dev" {
        let own = outside::own_packages(root)
            .map_err(|error| Outcome::Failed(format!("{}: {error}", root.display())))?;
        for package in own {
            args += &format!(" --config profile.dev.package.{package}.opt-level=0");
        }
    }
    Ok(args)
}

/// Virtual environment with the package.
struct Environment {
    python: PathBuf,
    package: PathBuf,
}

impl Environment {
    /// Makes a fresh environment, and installs the package as its users do.
    fn make(root: &Path, extra: Extra, profile: &str) -> Result<Self, Outcome> {
        version_of(PYTHON).map_err(Outcome::Skipped)?;
        let root = root
            .canonicalize()
            .map_err(|error| Outcome::Failed(format!("{}: {error}", root.display())))?;
        let target = target_folder(&root);
        let folder = target.join("python");
        // A folder that is not there is no environment to take away.
        let _ = fs::remove_dir_all(folder.join("venv"));
        let made = Command::new(PYTHON)
            .args(["-m", "venv"])
            .arg(folder.join("venv"))
            .status();
        if !made.is_ok_and(|status| status.success()) {
            let reason = "`python3 -m venv` fails: install Python's venv (Debian: python3-venv)";
            return Err(Outcome::Skipped(reason.to_owned()));
        }
        let environment = Self {
            python: folder.join("venv/bin/python"),
            package: root.join(PACKAGE),
        };
        let what = format!(".[{}]", extra.names());
        let mut install = environment.command(&["-m", "pip", "install", "--quiet", &what]);
        install
            .env("CARGO_TARGET_DIR", &target)
            .env("MATURIN_PEP517_ARGS", maturin_args(&root, profile)?);
        match install.status() {
            Ok(status) if status.success() => Ok(environment),
            Ok(status) => Err(Outcome::Failed(format!(
                "pip install {what}: {status}; it needs access to PyPI, and what its message above names"
            ))),
            Err(error) => Err(Outcome::Failed(format!("cannot run pip: {error}"))),
        }
    }

    /// Returns a command of the environment's interpreter in the folder of the package.
    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(&self.python);
        command.args(args).current_dir(&self.package);
        command.env("PIP_DISABLE_PIP_VERSION_CHECK", "1");
        command
    }

    /// Runs one command after another until one fails.
    fn run_all(&self, commands: &[&[&str]]) -> Outcome {
        for args in commands {
            eprintln!("python {}", args.join(" "));
            match self.command(args).status() {
                Ok(status) if status.success() => {}
                Ok(status) => {
                    return Outcome::Failed(format!("python {}: {status}", args.join(" ")));
                }
                Err(error) => return Outcome::Failed(format!("cannot run Python: {error}")),
            }
        }
        Outcome::Passed
    }
}
