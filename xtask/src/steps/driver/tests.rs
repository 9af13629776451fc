use super::*;

#[test]
fn the_toolchain_of_the_tests_has_a_driver() {
    let driver =
        path().expect("the tests of this project need clippy: rustup component add clippy");
    assert!(driver.ends_with("bin/clippy-driver"), "{driver:?}");
    let options: Vec<String> = options().collect();
    assert_eq!(options, ["--config", &setting(driver)]);
}

#[test]
fn a_path_with_backslashes_is_one_setting() {
    let setting = setting(Path::new(r"C:\toolchain\bin\clippy-driver"));
    assert_eq!(
        setting,
        r"build.rustc-workspace-wrapper='C:\toolchain\bin\clippy-driver'"
    );
}
