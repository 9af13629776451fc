//! The module under `kill -9`: no message id is used twice in an epoch, whenever the process is killed.

#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a failed step is a failed test")]

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use undertone_membership::{MembershipLog, SqliteRegistry};
use undertone_rln::{Key, RlnIdentifier};
use undertone_rln_module::{
    MembershipScope, ModuleConfig, ModuleError, RegistrationOptions, RegistryName, RegistryTable,
    RlnModule,
};

/// Environment variable with the folder's path, set for the child only.
const FOLDER: &str = "UNDERTONE_MODULE_FOLDER";
const LIMIT: u32 = 20;
const ROUNDS: usize = 3;
const NOW_NS: u64 = 1_700_000_000_000_000_000;

/// Child process of the test below: registers, and proves until the budget is used up.
#[test]
#[ignore = "child process of no_id_is_used_twice, a test of cargo xtask test --only unit"]
fn child_proves_until_killed() {
    let folder = std::env::var_os(FOLDER).expect("started by no_id_is_used_twice");
    let folder = Path::new(&folder);
    let file = folder.join("registry.sqlite");
    let registry = RegistryName::of_file(SqliteRegistry::open(&file).unwrap().id());
    let table = RegistryTable::new().with_files(vec![file], 50);
    let config = ModuleConfig::new(folder.join("module"), vec![registry.clone()]);
    let scope = MembershipScope {
        registry,
        identifier: RlnIdentifier::WAKU,
    };
    let module = RlnModule::new(config, table, Key::load().unwrap());
    module.start(b"password", NOW_NS).unwrap();
    let options = RegistrationOptions::default();
    let member = module.register(&scope, LIMIT, &options, NOW_NS).unwrap();
    println!("member {} end", member.membership_hash);
    loop {
        match module.generate_proof(&scope, b"signal", NOW_NS) {
            Ok(proof) => println!("nullifier {:?} end", proof.nullifier),
            Err(ModuleError::BudgetExhausted(_)) => break,
            Err(error) => panic!("{error}"),
        }
        std::io::stdout().flush().unwrap();
    }
    println!("budget spent end");
}

#[test]
fn no_id_is_used_twice() {
    let folder = tempfile::tempdir().unwrap();
    let (mut members, mut nullifiers) = (BTreeSet::new(), BTreeSet::new());
    for round in 0..ROUNDS {
        let mut child = start(folder.path());
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut take = |line: String| {
            if let Some(member) = field(&line, "member ") {
                members.insert(member);
            }
            if let Some(nullifier) = field(&line, "nullifier ") {
                assert!(nullifiers.insert(nullifier), "round {round}: {line}");
                return true;
            }
            false
        };
        // The child goes on while this process decides, so the kill hits any instruction after a proof.
        let mut proofs = 0;
        while proofs <= round {
            let line = lines.next().expect("the child proves until it is killed");
            proofs += usize::from(take(line.unwrap()));
        }
        child.kill().unwrap();
        assert_eq!(child.wait().unwrap().signal(), Some(9));
        for line in lines.map_while(Result::ok) {
            take(line);
        }
    }
    // The last child spends what is left.
    let output = start(folder.path()).wait_with_output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{text}");
    assert!(text.contains("budget spent end"), "{text}");
    for line in text.lines() {
        members.extend(field(line, "member "));
        if let Some(nullifier) = field(line, "nullifier ") {
            assert!(nullifiers.insert(nullifier), "{line}");
        }
    }
    assert_eq!(members.len(), 1, "one membership over all crashes");
    let proofs = nullifiers.len();
    assert!((1..=LIMIT as usize).contains(&proofs), "{proofs}");
}

fn start(folder: &Path) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args([
            "--ignored",
            "--exact",
            "kill::child_proves_until_killed",
            "--nocapture",
        ])
        .env(FOLDER, folder)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap()
}

/// The text between `name` and the end of a line that was printed completely.
fn field(line: &str, name: &str) -> Option<String> {
    let (_, rest) = line.split_once(name)?;
    Some(rest.strip_suffix(" end")?.to_owned())
}
