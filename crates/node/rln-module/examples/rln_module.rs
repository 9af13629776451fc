//! A member registers in a registry file, proves, and a verifier without a membership verifies.
//!
//! `cargo run -p undertone-rln-module --example rln_module`

use std::error::Error;
use std::time::{SystemTime, UNIX_EPOCH};

use undertone_membership::{MembershipLog as _, SqliteRegistry};
use undertone_rln::{Key, RlnIdentifier};
use undertone_rln_module::{
    MembershipScope, MembershipStatus, ModuleConfig, ModuleError, RegistrationOptions,
    RegistryName, RegistryTable, RlnModule,
};

const LIMIT: u32 = 2;

fn main() -> Result<(), Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("registry.sqlite");
    let name = RegistryName::of_file(SqliteRegistry::open(&file)?.id());
    let scope = MembershipScope {
        registry: name.clone(),
        identifier: RlnIdentifier::WAKU,
    };
    let key = Key::load()?;
    let module = |at: &str| {
        let table = RegistryTable::new().with_files(vec![file.clone()], 50);
        let config = ModuleConfig::new(folder.path().join(at), vec![name.clone()]);
        RlnModule::new(config, table, key.clone())
    };
    // The module has no clock: its caller passes the time.
    let now_ns = u64::try_from(SystemTime::now().duration_since(UNIX_EPOCH)?.as_nanos())?;

    let member = module("member");
    member.start(b"not for real use", now_ns)?;
    let options = RegistrationOptions::default();
    let membership = member.register(&scope, LIMIT, &options, now_ns)?;
    let report = member.membership_state(&scope, now_ns)?;
    assert_eq!(report.status, MembershipStatus::Active);
    println!("{name}: {}", membership.membership_hash);

    let verifier = module("verifier");
    verifier.start(b"", now_ns)?;
    for _ in 0..LIMIT {
        let proof = member.generate_proof(&scope, b"hello", now_ns)?;
        assert!(verifier.verify_proof(&scope, b"hello", &proof, now_ns)?);
        assert!(!verifier.verify_proof(&scope, b"hallo", &proof, now_ns)?);
    }
    match member.generate_proof(&scope, b"hello", now_ns) {
        Err(ModuleError::BudgetExhausted(reason)) => println!("{reason}"),
        other => return Err(format!("{LIMIT} messages were spent, and then: {other:?}").into()),
    }
    Ok(())
}
