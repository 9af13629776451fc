use std::path::PathBuf;

use super::*;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

#[test]
fn a_package_outside_depends_by_path() {
    let manifest = manifest(Path::new("/w"), &PACKAGES[0], "[profile.dev]\n");
    assert!(manifest.starts_with("[workspace]\n\n[package]\nname = \"outside-strategy\"\n"));
    assert!(
        manifest.contains(
            "undertone-gossip = { path = \"/w/crates/gossip\", default-features = true }\n"
        )
    );
    assert!(manifest.ends_with("\n[profile.dev]\n"), "{manifest}");
}

#[test]
fn packages_of_others_have_the_profile_of_the_workspace_and_ours_no_optimisation() {
    let workspace = "\
[workspace]

[profile.dev]
opt-level = 1

[profile.dev.package]
# Of others.
x = { opt-level = 3 }

undertone-rln = { opt-level = 3 }

[profile.release]
debug = false
";
    let profile = profile(&root(), workspace).unwrap();
    let copied = "\
[profile.dev]
opt-level = 1

[profile.dev.package]
x = { opt-level = 3 }


[profile.dev.package.undertone-";
    assert!(profile.starts_with(copied), "{profile}");
    assert!(profile.contains("[profile.dev.package.undertone-rln]\nopt-level = 0\n"));
    assert_eq!(profile.matches("undertone-rln").count(), 1, "{profile}");
}

#[test]
fn the_crates_of_every_package_exist() {
    for own in PACKAGES.iter().flat_map(|package| package.own) {
        assert!(root().join("crates").join(own).is_dir(), "{own}");
    }
}
