use super::*;

const LOG: &str = "INFO: Seed: 1
#2\tINITED cov: 13 ft: 14 corp: 1/1b exec/s: 0 rss: 26Mb
#2097152\tpulse  cov: 411 ft: 1270 corp: 511/85Kb lim: 4096 exec/s: 198231 rss: 28Mb
thread '<unnamed>' panicked at a.rs:1:2:
artifact_prefix='artifacts/router/'; Test unit written to artifacts/router/crash-ab
Base64: AA==";

#[test]
fn figures_and_the_failed_input_are_read_from_the_log() {
    assert_eq!(figures(LOG), ["2097152", "411", "1270"]);
    assert_eq!(input(LOG), Some("artifacts/router/crash-ab"));
    assert_eq!(figures("error: could not compile"), ["none"; 3]);
    assert_eq!(input("error: could not compile"), None);
}

/// A target that its manifest leaves out is never built, and cargo would not find it by its path.
#[test]
fn each_target_stands_in_the_manifest() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fuzz");
    let manifest = fs::read_to_string(folder.join("Cargo.toml")).unwrap();
    let targets = targets(&folder).unwrap();
    assert!(!targets.is_empty());
    for name in targets {
        assert!(
            manifest.contains(&format!("path = \"fuzz_targets/{name}.rs\"")),
            "{name}"
        );
    }
}
