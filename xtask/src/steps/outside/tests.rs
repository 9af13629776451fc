use super::*;

#[test]
fn a_package_outside_depends_by_path_and_has_the_profile_of_the_workspace() {
    let workspace = "[workspace]\n\n[profile.dev]\nopt-level = 1\n\n[profile.dev.package.x]\nopt-level = 3\n\n[profile.release]\ndebug = false\n";
    let manifest = manifest(Path::new("/w"), &PACKAGES[0], workspace);
    assert!(manifest.starts_with("[workspace]\n\n[package]\nname = \"outside-strategy\"\n"));
    assert!(
        manifest.contains(
            "undertone-gossip = { path = \"/w/crates/gossip\", default-features = true }\n"
        )
    );
    let profile = "\n[profile.dev]\nopt-level = 1\n\n[profile.dev.package.x]\nopt-level = 3\n\n";
    assert!(manifest.ends_with(profile), "{manifest}");
}

#[test]
fn the_crates_of_every_package_exist() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    for own in PACKAGES.iter().flat_map(|package| package.own) {
        assert!(root.join("crates").join(own).is_dir(), "{own}");
    }
}
