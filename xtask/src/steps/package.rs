//! Step that packs the libraries as for publication, and uploads nothing.

use std::env;
use std::fs;
use std::io;
use std::path::Path;
use std::process::Command;

use super::{Outcome, cargo, ended, target_folder};

#[cfg(test)]
mod tests;

/// Packages that others may use, each after those that it depends on.
const PACKAGES: [&str; 12] = [
    "undertone-compact",
    "undertone-wire",
    "undertone-link",
    "undertone-gossip",
    "undertone-message",
    "undertone-rln",
    "undertone-relay",
    "undertone-services",
    "undertone-peers",
    "undertone-sim",
    "undertone-payload",
    "undertone-discovery",
];

/// Packs all libraries, unpacks them in a workspace of their own, and lets cargo resolve it without this one: a missing
/// version, file or dependency is found. The packed code is not compiled, because it is that of the workspace.
pub(super) fn run(root: &Path) -> Outcome {
    // Without lock files, because cargo would look for the other packages in the registry.
    let options = [
        "--offline",
        "--no-verify",
        "--allow-dirty",
        "--exclude-lockfile",
        "--quiet",
    ];
    let mut args = vec!["package"];
    args.extend(options);
    args.extend(PACKAGES.iter().flat_map(|package| ["--package", *package]));
    let packed = cargo(root, &args, &[]);
    if packed != Outcome::Passed {
        return packed;
    }
    let target = target_folder(root);
    let folder = env::temp_dir().join(format!("undertone-packages-{}", std::process::id()));
    let outcome = match unpack(root, &target.join("package"), &folder) {
        Ok(Outcome::Passed) => {
            // `tree` resolves like a build and prints a line for each package.
            let tree = [
                "tree",
                "--offline",
                "--workspace",
                "--depth=0",
                "--edges=normal",
            ];
            cargo(&folder, &tree, &[])
        }
        Ok(failed) => failed,
        Err(error) => Outcome::Failed(format!("{}: {error}", folder.display())),
    };
    // A folder that is left behind does no harm.
    let _ = fs::remove_dir_all(&folder);
    outcome
}

/// Unpacks every package into a folder with the lock file of the workspace.
fn unpack(root: &Path, packed: &Path, folder: &Path) -> io::Result<Outcome> {
    fs::create_dir_all(folder)?;
    for package in PACKAGES {
        let file = packed.join(format!("{package}-{}.crate", env!("CARGO_PKG_VERSION")));
        let mut tar = Command::new("tar");
        tar.arg("-xzf").arg(&file).arg("-C").arg(folder);
        let unpacked = ended(tar.status());
        if unpacked != Outcome::Passed {
            return Ok(unpacked);
        }
        let unpacked = folder.join(directory(package));
        for needed in ["README.md", "src/lib.rs"] {
            if !unpacked.join(needed).is_file() {
                return Ok(Outcome::Failed(format!(
                    "{package} is packed without {needed}"
                )));
            }
        }
    }
    fs::copy(root.join("Cargo.lock"), folder.join("Cargo.lock"))?;
    fs::write(folder.join("Cargo.toml"), manifest())?;
    Ok(Outcome::Passed)
}

/// Name of the folder in a packed file.
fn directory(package: &str) -> String {
    format!("{package}-{}", env!("CARGO_PKG_VERSION"))
}

/// Manifest of a workspace of the unpacked packages, in which each takes the others from there instead of the registry.
fn manifest() -> String {
    let mut manifest =
        "[workspace]\nresolver = \"3\"\nmembers = [\"undertone-*\"]\n\n[patch.crates-io]\n"
            .to_owned();
    for package in PACKAGES {
        manifest += &format!("{package} = {{ path = \"{}\" }}\n", directory(package));
    }
    manifest
}
