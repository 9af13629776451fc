//! Calls that cannot be served, stores that were changed, and what is never printed.

use std::fs;

use undertone_rln::Fr;

use super::script::ScriptedWorld;
use super::*;

#[test]
fn nothing_is_served_unless_the_module_runs() {
    let world = ScriptedWorld::new();
    let [scope, _] = world.scopes();
    let module = world.module();
    let running = world.start(NOW);
    register(&running, &scope, 5, NOW);
    let proof = running.generate_proof(&scope, b"x", NOW).unwrap();
    let is_refused = |module: &RlnModule| {
        let options = RegistrationOptions::default();
        let errors = [
            module.register(&scope, 5, &options, NOW).map(drop),
            module.membership_state(&scope, NOW).map(drop),
            module.epoch_quota(&scope, NOW).map(drop),
            module.generate_proof(&scope, b"x", NOW).map(drop),
            module.verify_proof(&scope, b"x", &proof, NOW).map(drop),
            module.maintain(NOW),
        ];
        for error in errors.map(Result::unwrap_err) {
            let not_running = NotReadyReason::NotRunning;
            assert!(
                matches!(&error, ModuleError::NotReady(reason) if *reason == not_running),
                "{error:?}"
            );
        }
    };
    is_refused(&module);
    let second = module.start(PASSWORD, NOW).unwrap_err();
    assert!(
        matches!(
            second,
            ModuleError::Transient(TransientFault::Store(ModuleStoreError::Locked(_)))
        ),
        "{second:?}"
    );
    running.stop();
    is_refused(&running);
    module.start(PASSWORD, NOW).unwrap();
    let twice = module.start(PASSWORD, NOW).unwrap_err();
    assert!(
        matches!(
            twice,
            ModuleError::Permanent(PermanentFault::AlreadyStarted)
        ),
        "{twice:?}"
    );
}

#[test]
fn registries_that_cannot_be_had_are_permanent_errors() {
    let folder = tempfile::tempdir().unwrap();
    let logos = format!("logos:testnet:{}", "0a".repeat(32)).parse();
    let logos: RegistryName = logos.unwrap();
    let file: RegistryName = format!("utone:file:{}", "0a".repeat(16)).parse().unwrap();
    let start = |name: &RegistryName| {
        let table = RegistryTable::new().with_files(Vec::new(), WINDOW);
        let module = module(folder.path().to_owned(), vec![name.clone()], table);
        module.start(PASSWORD, NOW).unwrap_err()
    };
    let unsupported = start(&logos);
    assert!(
        matches!(
            unsupported,
            ModuleError::Permanent(PermanentFault::Open(
                RegistryOpenError::UnsupportedNamespace { .. }
            ))
        ),
        "{unsupported:?}"
    );
    assert!(unsupported.to_string().contains("known: utone"));
    let missing = start(&file);
    assert!(
        matches!(
            missing,
            ModuleError::Permanent(PermanentFault::Open(
                RegistryOpenError::NotConfigured { .. }
            ))
        ),
        "{missing:?}"
    );
    let world = FileWorld::new();
    let elsewhere = world.start(NOW).membership_state(&scope(&logos), NOW);
    let elsewhere = elsewhere.unwrap_err();
    assert!(
        matches!(
            elsewhere,
            ModuleError::Permanent(PermanentFault::OtherRegistry { .. })
        ),
        "{elsewhere:?}"
    );
}

#[test]
fn bounds_and_options_are_the_registrys() {
    let world = FileWorld::new();
    let module = world.start(NOW);
    let options = RegistrationOptions::default();
    for limit in [0, 101] {
        let error = module.register(&world.scope, limit, &options, NOW);
        let error = error.unwrap_err();
        assert!(
            matches!(
                error,
                ModuleError::Permanent(PermanentFault::RateLimit { .. })
            ),
            "{error:?}"
        );
    }
    let mut options = RegistrationOptions::default();
    let values = &mut options.values;
    values.insert("allocation_service".to_owned(), "somebody".to_owned());
    let error = module.register(&world.scope, 5, &options, NOW).unwrap_err();
    assert!(
        matches!(error, ModuleError::Permanent(PermanentFault::Refused(_))),
        "{error:?}"
    );
    assert!(error.to_string().contains("allocation_service"));
    assert_eq!(world.file.members().unwrap(), []);
    assert_eq!(
        status(&module, &world.scope, NOW),
        MembershipStatus::Unknown
    );
}

/// Changes one digit after `key` in the first membership.
fn flip(json: &str, key: &str) -> String {
    let at = json.find(&format!("\"{key}\": \"")).unwrap() + key.len() + 5;
    let digit = if &json[at..=at] == "0" { "1" } else { "0" };
    format!("{}{digit}{}", &json[..at], &json[at + 1..])
}

#[test]
fn a_store_that_was_changed_is_not_used() {
    let world = ScriptedWorld::new();
    let [a, b] = world.scopes();
    let module = world.start(NOW);
    register(&module, &a, 5, NOW);
    register(&module, &b, 5, NOW);
    drop(module);
    let path = world.folder.path().join("memberships.json");
    let json = fs::read_to_string(&path).unwrap();
    let swapped = json
        .replace("test:1:a", "test:1:x")
        .replace("test:1:b", "test:1:a")
        .replace("test:1:x", "test:1:b");
    let changed = ["ciphertext", "iv", "mac", "salt", "commitment"];
    let changed = changed.map(|key| (key, flip(&json, key)));
    let start = |password: &[u8]| world.module().start(password, NOW);
    let is_refused = |what: &str, error: ModuleError| {
        assert!(
            matches!(
                error,
                ModuleError::Permanent(PermanentFault::Store(ModuleStoreError::Credential { .. }))
            ),
            "{what}: {error:?}"
        );
    };
    is_refused("password", start(b"another").unwrap_err());
    for (what, text) in changed.into_iter().chain([("places", swapped)]) {
        assert_ne!(text, json, "{what}");
        fs::write(&path, text).unwrap();
        is_refused(what, start(PASSWORD).unwrap_err());
    }
    fs::write(&path, &json).unwrap();
    start(PASSWORD).unwrap();
}

#[test]
fn secrets_are_neither_printed_nor_written() {
    let world = FileWorld::new();
    let module = world.start(NOW);
    let membership = register(&module, &world.scope, 5, NOW);
    let report = module.membership_state(&world.scope, NOW).unwrap();
    let proof = module.generate_proof(&world.scope, b"x", NOW).unwrap();
    let (store, secrets) = module.with_secrets(&world.scope.registry);
    let mut texts = vec![
        format!("{module:?}"),
        format!("{membership:?} {report:?} {proof:?}"),
        store,
    ];
    drop(module);
    let wrong = world.start_with(b"wrong", NOW).unwrap_err();
    texts.push(format!("{wrong:?} {wrong}"));
    for entry in fs::read_dir(world.store()).unwrap() {
        let bytes = fs::read(entry.unwrap().path()).unwrap();
        texts.push(String::from_utf8_lossy(&bytes).into_owned());
        texts.push(hex::encode(bytes));
    }
    let bytes = |secret: &Fr| hex::encode(undertone_rln::fr_to_le(secret));
    let password = String::from_utf8(PASSWORD.to_vec()).unwrap();
    let mut hidden = vec![password, hex::encode(PASSWORD)];
    for secret in &secrets {
        hidden.extend([secret.to_string(), bytes(secret)]);
    }
    for text in &texts {
        for secret in &hidden {
            assert!(!text.contains(secret), "{secret} in {text}");
        }
    }
}

#[test]
fn a_contract_serves_nothing_before_it_was_read() {
    let folder = tempfile::tempdir().unwrap();
    let contract = |chain: u64| -> RegistryName {
        let name = format!("eip155:{chain}:0x{}", "0a".repeat(20));
        name.parse().unwrap()
    };
    let start = |name: RegistryName| {
        let chains = ChainRegistries {
            // Nothing listens there.
            endpoints: [(1, vec!["http://127.0.0.1:1".to_owned()])].into(),
            folder: folder.path().to_owned(),
            window: WINDOW,
            mode: undertone_membership::evm::Mode::Light,
            account: None,
        };
        let table = RegistryTable::new().with_chains(chains);
        let module = module(folder.path().join("module"), vec![name], table);
        module.start(PASSWORD, NOW).map(|()| module)
    };
    let unknown = start(contract(2)).unwrap_err();
    assert!(
        matches!(
            unknown,
            ModuleError::Permanent(PermanentFault::Open(
                RegistryOpenError::NotConfigured { .. }
            ))
        ),
        "{unknown:?}"
    );
    let scope = scope(&contract(1));
    let module = start(scope.registry.clone()).unwrap();
    let world = ScriptedWorld::new();
    let [other, _] = world.scopes();
    let elsewhere = world.start(NOW);
    register(&elsewhere, &other, 5, NOW);
    let proof = elsewhere.generate_proof(&other, b"x", NOW).unwrap();
    let cold = module.verify_proof(&scope, b"x", &proof, NOW).unwrap_err();
    assert!(
        matches!(cold, ModuleError::NotReady(NotReadyReason::ColdView { .. })),
        "{cold:?}"
    );
    let options = RegistrationOptions::default();
    let unpaid = module.register(&scope, 5, &options, NOW).unwrap_err();
    assert!(
        matches!(unpaid, ModuleError::Permanent(PermanentFault::Refused(_))),
        "{unpaid:?}"
    );
}
