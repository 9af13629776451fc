use super::*;

#[test]
fn a_run_removes_what_killed_runs_left_and_nothing_else() {
    let base = tempfile::tempdir().unwrap();
    let base = base.path().join("undertone-testbed");
    fs::create_dir_all(base.join("run-killed/node-0")).unwrap();
    // Killed before it had locked its folder, and after.
    fs::create_dir_all(base.join("run-early")).unwrap();
    File::create(base.join("run-killed").join(LOCK)).unwrap();
    fs::create_dir_all(base.join("run-alive")).unwrap();
    let alive = File::create(base.join("run-alive").join(LOCK)).unwrap();
    alive.lock().unwrap();
    let run = RunFolder::make(&base).unwrap();
    let node = run.folder("node-0").unwrap();
    assert!(node.is_dir());
    assert!(!base.join("run-killed").exists());
    assert!(!base.join("run-early").exists());
    assert!(base.join("run-alive").is_dir());
    let own = run.path().to_owned();
    drop(run);
    assert!(!own.exists());
}
