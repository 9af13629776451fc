use std::fs;

use super::*;

/// Keys of a manifest that a package registry or a reader of it needs.
const KEYS: [&str; 7] = [
    "description",
    "repository",
    "readme",
    "keywords",
    "categories",
    "license",
    "rust-version",
];

fn manifest_of(package: &str) -> String {
    let folder = package.strip_prefix("undertone-").unwrap();
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates");
    fs::read_to_string(crates.join(folder).join("Cargo.toml")).unwrap()
}

#[test]
fn every_library_has_what_a_registry_shows() {
    for package in PACKAGES {
        let manifest = manifest_of(package);
        for key in KEYS {
            let has = |line: &str| line.starts_with(key);
            assert!(manifest.lines().any(has), "{package} has no {key}");
        }
    }
}

#[test]
fn a_library_comes_after_those_that_it_depends_on() {
    for (at, package) in PACKAGES.iter().enumerate() {
        let manifest = manifest_of(package);
        let normal = manifest.split("[dependencies]").nth(1).unwrap_or_default();
        let normal = normal.split("\n[").next().unwrap();
        let names = normal
            .lines()
            .filter_map(|line| line.split(['.', ' ']).next());
        for own in names.filter(|name| name.starts_with("undertone-")) {
            assert!(PACKAGES[..at].contains(&own), "{package} needs {own} first");
        }
    }
}

#[test]
fn unpacked_packages_take_each_other_from_the_same_folder() {
    let manifest = manifest();
    let line = format!(
        "undertone-wire = {{ path = \"undertone-wire-{}\" }}\n",
        env!("CARGO_PKG_VERSION")
    );
    assert!(manifest.contains(&line), "{manifest}");
    assert_eq!(manifest.lines().count(), 5 + PACKAGES.len());
}
