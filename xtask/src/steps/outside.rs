//! Step that uses the libraries as a stranger does: packages outside the workspace, which depend on it by path.

use std::env;
use std::fs;
use std::io;
use std::path::Path;

use super::{Outcome, cargo, target_folder};

#[cfg(test)]
mod tests;

/// Package that a stranger could have made.
struct Package {
    name: &'static str,
    /// Path of its only source file in the workspace.
    main: &'static str,
    /// Crates of the workspace that it depends on, by their folder in `crates`.
    own: &'static [&'static str],
    /// Whether it has those crates with their default features.
    default_features: bool,
    /// Other dependencies, as lines of its manifest.
    others: &'static str,
    proof: UsageProof,
}

/// UsageProof that a package can use the libraries.
#[derive(Debug, Clone, Copy)]
enum UsageProof {
    /// The package runs, and ends well.
    Runs,
    /// The package compiles. Its own choice of features makes cargo go through four hundred dependencies again, for which
    /// generating code would take minutes; its source is an example of the workspace, which the step `examples` runs.
    Compiles,
}

const PACKAGES: [Package; 3] = [
    Package {
        name: "outside-strategy",
        main: "xtask/outside/strategy.rs",
        own: &["gossip", "link"],
        default_features: true,
        others: "",
        proof: UsageProof::Runs,
    },
    Package {
        name: "outside-scenario",
        main: "xtask/outside/scenario.rs",
        own: &["gossip", "lab"],
        default_features: true,
        others: "",
        proof: UsageProof::Runs,
    },
    Package {
        name: "outside-node",
        main: "crates/node/examples/embedded_node.rs",
        own: &["message", "node"],
        // A node without QUIC, which no step of the workspace compiles.
        default_features: false,
        others: "tokio = { version = \"1\", features = [\"macros\", \"rt-multi-thread\"] }\n",
        proof: UsageProof::Compiles,
    },
];

/// Makes each package, and builds it or runs it. Versions and profiles of dependencies are those of the workspace, and so is
/// the folder of compiled files: a dependency is compiled again only if the package selects other features of it.
pub(super) fn run(root: &Path) -> Outcome {
    let target = target_folder(root);
    let mut missing = Vec::new();
    for package in &PACKAGES {
        if !root.join(package.main).is_file() {
            missing.push(package.main);
            continue;
        }
        let folder = env::temp_dir().join(format!("{}-{}", package.name, std::process::id()));
        if let Err(error) = make(root, package, &folder) {
            return Outcome::Failed(format!("{}: {error}", folder.display()));
        }
        let command = match package.proof {
            UsageProof::Runs => "run",
            UsageProof::Compiles => "check",
        };
        let target = target.to_string_lossy();
        let variables = [("CARGO_TARGET_DIR", &*target)];
        let outcome = cargo(&folder, &[command, "--offline", "--quiet"], &variables);
        // A folder that is left behind does no harm, and a failure is easier to look at with it.
        if outcome == Outcome::Passed {
            let _ = fs::remove_dir_all(&folder);
        } else {
            eprintln!("{} failed; it stands in {}", package.name, folder.display());
            return outcome;
        }
    }
    if missing.is_empty() {
        Outcome::Passed
    } else {
        Outcome::Failed(format!("{} is missing", missing.join(", ")))
    }
}

/// Writes a package to `folder`, with the workspace's lock file: nothing has to be downloaded.
fn make(root: &Path, package: &Package, folder: &Path) -> io::Result<()> {
    let root = root.canonicalize()?;
    fs::create_dir_all(folder.join("src"))?;
    fs::copy(root.join(package.main), folder.join("src/main.rs"))?;
    fs::copy(root.join("Cargo.lock"), folder.join("Cargo.lock"))?;
    let workspace = fs::read_to_string(root.join("Cargo.toml"))?;
    let profile = profile(&root, &workspace)?;
    fs::write(
        folder.join("Cargo.toml"),
        manifest(&root, package, &profile),
    )
}

fn manifest(root: &Path, package: &Package, profile: &str) -> String {
    let mut manifest = format!(
        "[workspace]\n\n[package]\nname = \"{}\"\nedition = \"2024\"\npublish = false\n\n[dependencies]\n",
        package.name
    );
    for own in package.own {
        let path = root.join("crates").join(own);
        let path = path.display();
        let defaults = package.default_features;
        manifest +=
            &format!("undertone-{own} = {{ path = \"{path}\", default-features = {defaults} }}\n");
    }
    manifest += package.others;
    if package.own.contains(&"node") {
        // As the workspace does: its lock file does not name the original, which would have to be downloaded.
        let timer = root.join("crates/timer");
        let timer = timer.display();
        manifest += &format!("\n[patch.crates-io]\nfutures-timer = {{ path = \"{timer}\" }}\n");
    }
    manifest + "\n" + profile
}

/// Returns the settings of the dev profile in the workspace's manifest, also those for single packages of others, so that
/// these need not be compiled again. Cargo warns of those that it does not find, which `--quiet` keeps silent. Packages of
/// the workspace are compiled again in any case, because their path in another workspace is another: without optimisation,
/// which would take longer than what the packages here compute.
fn profile(root: &Path, workspace: &str) -> io::Result<String> {
    let mut is_copied = false;
    let mut settings = String::new();
    for line in workspace.lines() {
        if line.starts_with('[') {
            is_copied = ["[profile.dev]", "[profile.dev.package]"].contains(&line);
        }
        let is_of_own = line.starts_with("undertone") || line.starts_with("xtask ");
        if is_copied && !is_of_own && !line.starts_with('#') {
            settings += &format!("{line}\n");
        }
    }
    for own in own_packages(root)? {
        settings += &format!("[profile.dev.package.{own}]\nopt-level = 0\n\n");
    }
    Ok(settings)
}

/// Returns `undertone-NAME` for each folder in `crates`, in their order. Cargo ignores settings of packages that do not exist.
pub(super) fn own_packages(root: &Path) -> io::Result<Vec<String>> {
    let folders = fs::read_dir(root.join("crates"))?;
    let names = folders.map(|folder| {
        let name = folder?.file_name();
        Ok(format!("undertone-{}", name.to_string_lossy()))
    });
    let mut names: Vec<_> = names.collect::<io::Result<_>>()?;
    names.sort_unstable();
    Ok(names)
}
