use super::*;

#[test]
fn the_toolchain_of_the_tests_has_a_driver() {
    let driver =
        path().expect("the tests of this project need clippy: rustup component add clippy");
    assert!(driver.ends_with("bin/clippy-driver"), "{driver:?}");
    assert!(variables().any(|variable| variable == (DRIVER, driver.as_os_str())));
}

#[test]
fn a_path_with_backslashes_is_one_setting() {
    let setting = setting(Path::new(r"C:\toolchain\bin\clippy-driver"));
    assert_eq!(
        setting,
        r"build.rustc-workspace-wrapper='C:\toolchain\bin\clippy-driver'"
    );
}

#[test]
fn only_listed_tests_lose_their_optimisation() {
    let level_of = |package: &str, line: &str| {
        let args: Vec<_> = line.split_whitespace().map(OsString::from).collect();
        level(OsStr::new(package), &args)
    };
    let lost = Some("-Copt-level=0");
    let unit = "rustc --crate-name undertone_sim --test -Copt-level=3";
    assert_eq!(level_of("undertone-sim", unit), lost);
    assert_eq!(level_of("undertone-node", unit), lost);
    assert_eq!(level_of("undertone-relay", unit), None);
    let it = "rustc --crate-name it --test";
    assert_eq!(level_of("undertone-sim", it), None);
    // The library itself, which tests of other files run in real time.
    let library = "rustc --crate-name undertone_node src/lib.rs";
    assert_eq!(level_of("undertone-node", library), None);
    assert_eq!(level_of("", "rustc -vV"), None);
}

#[test]
fn a_copy_is_made_once_and_again_when_the_program_has_changed() {
    let folder = tempfile::tempdir().expect("a folder for the test");
    let program = folder.path().join("program");
    let tools = folder.path().join("tools");
    for text in ["first", "second"] {
        fs::write(&program, text).expect("a program");
        let path = copy(&program, &tools).expect("a copy");
        assert_eq!(fs::read_to_string(&path).expect("the copy"), text);
        let made = fs::metadata(&path).and_then(|file| file.modified());
        copy(&program, &tools).expect("no copy");
        let still = fs::metadata(&path).and_then(|file| file.modified());
        assert_eq!(made.ok(), still.ok(), "{text}");
    }
    assert_eq!(fs::read_dir(&tools).expect("the folder").count(), 1);
}
