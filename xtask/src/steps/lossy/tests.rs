use super::*;

fn root() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

#[test]
fn the_runner_prepares_the_namespace_and_then_becomes_the_test() {
    let script = script(&root(), "10");
    assert!(script.contains("loss=10") && script.ends_with(r#"exec "$0" "$@""#));
    let options = options(RIGHTS[1], &script);
    assert_eq!(options[0], "--config");
    let runner = &options[1];
    assert!(
        runner.contains("'''--map-root-user'''") && runner.contains(&script),
        "{runner}"
    );
    assert!(root().join(RULES).is_file());
}
