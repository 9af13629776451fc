use super::*;

#[test]
fn a_package_without_default_features_is_not_named() {
    let manifest = "[package]\nname = \"a\"\n\n[features]\nx = []\n";
    assert_eq!(package_with_defaults(manifest), None);
    let manifest = "[package]\nname = \"a\"\n\n[features]\ndefault = [\"x\"]\nx = []\n";
    assert_eq!(package_with_defaults(manifest), Some("a"));
}

#[test]
fn all_packages_but_the_program_keep_their_defaults() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let features = defaults_of_others(&root).unwrap();
    let features: Vec<&str> = features.split(',').collect();
    assert!(features.contains(&"undertone-node/default"), "{features:?}");
    assert!(!features.contains(&"undertone/default"), "{features:?}");
}
