use std::fs;

use super::*;

#[test]
fn steps_that_compile_run_beside_those_that_wait() {
    let ahead = [Step::Doc, Step::Unit, Step::Mpi, Step::Hostile];
    assert_eq!(chosen(&ahead), [Step::Doc, Step::Mpi]);
}

#[test]
fn without_others_to_run_beside_steps_run_after_each_other() {
    assert_eq!(chosen(&[Step::Doc, Step::Mpi]), []);
    assert_eq!(chosen(&[Step::Unit]), []);
    assert_eq!(chosen(&[]), []);
}

#[test]
fn no_step_that_wants_quiet_runs_beside_others() {
    assert!(!STEPS.iter().any(|step| step.is_quiet()));
}

#[test]
fn a_step_without_a_result_has_failed() {
    let row = without_result(Step::Mpi, "signal: 9 (SIGKILL)");
    assert!(
        matches!(&row.outcome, Outcome::Failed(reason) if reason.contains("SIGKILL")),
        "{row:?}"
    );
}

#[cfg(target_os = "linux")]
#[test]
fn compiled_files_are_shared_and_what_is_written_in_place_is_not() {
    use std::os::unix::fs::MetadataExt;

    let folder = tempfile::tempdir().expect("a folder for the test");
    let from = folder.path().join("debug");
    for name in [".fingerprint/a", "build/b", "deps"] {
        fs::create_dir_all(from.join(name)).expect("a folder");
        fs::write(from.join(name).join("file"), "first").expect("a file");
    }
    fs::write(from.join(".cargo-lock"), "").expect("a file");
    let to = folder.path().join("beside/debug");
    share(&from, &to).expect("a first time");
    let inode = |path: PathBuf| fs::metadata(path).expect("a shared file").ino();
    let modified = |path: PathBuf| fs::metadata(path).and_then(|file| file.modified());
    for name in [".fingerprint/a/file", "build/b/file"] {
        assert_ne!(inode(from.join(name)), inode(to.join(name)), "{name}");
        let times = [from.join(name), to.join(name)].map(|path| modified(path).ok());
        assert!(times[0].is_some() && times[0] == times[1], "{name}");
    }
    assert_eq!(inode(from.join("deps/file")), inode(to.join("deps/file")));
    // With it, cargo would wait for those that compile in the other folder.
    assert!(!to.join(".cargo-lock").exists());

    // Compiled again there, and something else here.
    fs::remove_file(from.join("deps/file")).expect("the file");
    for name in ["deps/file", "build/b/file"] {
        fs::write(from.join(name), "second").expect("a file");
    }
    fs::write(to.join("deps/own"), "own").expect("a file");
    share(&from, &to).expect("a second time");
    share(&from, &to).expect("a third time, with nothing new");
    let content = |name: &str| fs::read_to_string(to.join(name)).expect("a file");
    assert_eq!(content("deps/file"), "second");
    assert_eq!(content("build/b/file"), "second");
    assert_eq!(content("deps/own"), "own");
}
