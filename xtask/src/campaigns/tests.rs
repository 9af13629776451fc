use std::fs;

use super::*;

/// A filter that matches no test passes without running anything, so the names must exist.
#[test]
fn campaigns_of_tests_name_tests_that_are_there() {
    let rln = Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates/rln");
    let derivation = fs::read_to_string(rln.join("src/rows/tests.rs")).unwrap();
    assert!(derivation.contains(&format!("fn {DERIVATION}()")));
    let random = fs::read_to_string(rln.join("tests/it/random_proofs.rs")).unwrap();
    assert!(random.contains(Campaign::RandomProofs.name()));
    assert!(random.contains("#[ignore"));
    let interop = Path::new(env!("CARGO_MANIFEST_DIR")).join("../interop");
    let light = fs::read_to_string(interop.join("tests/light/main.rs")).unwrap();
    assert!(light.contains("#[ignore") && light.contains("--only light"));
    let node = Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates/node");
    let killed = node.join("tests/it/assembled/sending_kill.rs");
    let killed = fs::read_to_string(killed).unwrap();
    assert!(killed.contains("--only send-kill"));
    for (variable, _) in Campaign::SendKill.variables() {
        assert!(killed.contains(variable), "{variable}");
    }
    for (variable, _) in Campaign::Light.variables() {
        assert!(light.contains(variable), "{variable}");
    }
    let program = Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates/undertone");
    let discovery = program.join("tests/it/discovery.rs");
    let discovery = fs::read_to_string(discovery).unwrap();
    assert!(discovery.contains("#[ignore") && discovery.contains("--only discovery"));
    let nwaku = fs::read_to_string(program.join("tests/it/nwaku.rs")).unwrap();
    assert!(nwaku.contains("#[ignore") && nwaku.contains("--only nwaku"));
    assert!(nwaku.contains(NWAKU));
    let upgrade = fs::read_to_string(
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../interop/tests/upgrade.rs"),
    )
    .unwrap();
    assert!(upgrade.contains("#[ignore") && upgrade.contains("--only upgrade"));
    assert!(upgrade.contains(EARLIER));
    let archive = Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates/archive");
    let crash = archive.join(format!("tests/{ARCHIVE}/{CRASH}.rs"));
    let killed = fs::read_to_string(crash).unwrap();
    for (variable, _) in Campaign::ArchiveKill.variables() {
        assert!(killed.contains(variable), "{variable}");
    }
    assert!(
        archive
            .join(format!("examples/{THROUGHPUT}/main.rs"))
            .is_file()
    );
    let speed = fs::read_to_string(node.join(format!("tests/{SYNC_SPEED}.rs"))).unwrap();
    assert!(speed.contains("#[ignore") && speed.contains(Campaign::Sync.name()));
}

#[test]
fn without_a_reference_node_the_campaign_says_how_to_get_one() {
    let error = REFERENCE.check(None).unwrap_err();
    assert!(
        error.contains(NWAKU) && error.contains("make wakunode2"),
        "{error}"
    );
    let error = REFERENCE
        .check(Some(OsStr::new("/no/such/file")))
        .unwrap_err();
    assert!(error.contains("/no/such/file"), "{error}");
    let present = env::current_exe().unwrap();
    assert_eq!(REFERENCE.check(Some(present.as_os_str())), Ok(()));
}
