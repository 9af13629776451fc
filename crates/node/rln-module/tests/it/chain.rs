//! The RLN module over a contract on a chain.

use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use parking_lot::Mutex;
use tokio::runtime::Runtime;
use undertone_contracts::{Account, ChainError, Membership};
use undertone_membership::evm::Mode;
use undertone_rln::{Fr, Key, RlnIdentifier};
use undertone_rln_module::{
    ChainRegistry, MembershipScope, MembershipStatus, ModuleConfig, ModuleError,
    RegistrationAccount, RegistrationOptions, RegistryName, RegistryTable, RlnModule, SubmitError,
};

use crate::rig::{LIMIT, PATIENCE, Rig};

/// Account of the chain that pays for registrations.
struct Payer {
    runtime: Runtime,
    membership: Membership,
    account: Account,
    /// Commitments that were registered.
    registered: Mutex<Vec<Fr>>,
}

impl RegistrationAccount for Payer {
    fn submit(
        &self,
        commitment: Fr,
        rate_limit: u32,
        options: &RegistrationOptions,
    ) -> Result<(), SubmitError> {
        let refused = |reason| SubmitError::Refused(Box::new(reason));
        options.only(&[]).map_err(refused)?;
        let membership = &self.membership;
        let submitted: Result<_, ChainError> = self.runtime.block_on(async {
            membership.approve(&self.account, rate_limit).await?;
            let registering = membership.register(&self.account, &commitment, rate_limit, &[]);
            registering.await
        });
        self.registered.lock().push(commitment);
        submitted.map(drop).map_err(|error| match error {
            ChainError::Refused(_) => SubmitError::Refused(Box::new(error)),
            _ => SubmitError::OutcomeUnknown(Box::new(error)),
        })
    }
}

fn now_ns() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    u64::try_from(now.as_nanos()).unwrap()
}

/// A member registers, proves, and is erased.
fn live(mode: Mode) {
    let rig = Rig::start();
    (1..=3).for_each(|other| rig.register(other));
    let payer = Arc::new(Payer {
        runtime: Runtime::new().unwrap(),
        membership: rig.membership.clone(),
        account: rig.chain.account(0).unwrap(),
        registered: Mutex::default(),
    });
    let account: Arc<dyn RegistrationAccount> = Arc::clone(&payer) as _;
    let config = rig.config(&[rig.chain.endpoint()]);
    let registry = Arc::new(ChainRegistry::start(config, mode, Some(account)).unwrap());
    let opened = Arc::clone(&registry);
    let table = RegistryTable::new().with("eip155", move |_| Ok(Arc::clone(&opened) as _));
    let scope = MembershipScope {
        registry: RegistryName::of_contract(&rig.contract()),
        identifier: RlnIdentifier::WAKU,
    };
    let names = vec![scope.registry.clone()];
    let config = ModuleConfig::new(rig.folder.path().join("module"), names);
    let module = RlnModule::new(config, table, Key::load().unwrap());
    module.start(b"password", now_ns()).unwrap();

    let options = RegistrationOptions::default();
    let member = module.register(&scope, LIMIT, &options, now_ns()).unwrap();
    let again = module.register(&scope, LIMIT, &options, now_ns()).unwrap();
    assert_eq!(again.membership_hash, member.membership_hash);
    assert_eq!(payer.registered.lock().len(), 1);

    let mut polls = PATIENCE.as_millis() / 100;
    let mut until = |wanted: MembershipStatus| {
        loop {
            let report = module.membership_state(&scope, now_ns()).unwrap();
            if report.status == wanted {
                return report.membership.unwrap();
            }
            polls = polls.checked_sub(1).unwrap_or_else(|| {
                panic!("{report:?}, {:?}", registry.chain().status());
            });
            let pause = Duration::from_millis(100);
            registry.chain().wait_until(pause, |_| false);
        }
    };
    let active = until(MembershipStatus::Active);
    assert_eq!((active.rate_limit, active.leaf_index), (LIMIT, Some(3)));
    let proof = module.generate_proof(&scope, b"hello", now_ns()).unwrap();
    assert!(
        module
            .verify_proof(&scope, b"hello", &proof, now_ns())
            .unwrap()
    );
    assert!(
        !module
            .verify_proof(&scope, b"hallo", &proof, now_ns())
            .unwrap()
    );

    rig.let_expire();
    rig.erase_all(&payer.registered.lock(), true);
    until(MembershipStatus::Erased);
    let refused = module.generate_proof(&scope, b"hello", now_ns());
    let refused = refused.unwrap_err();
    assert!(matches!(refused, ModuleError::Permanent(_)), "{refused:?}");
}

#[test]
#[ignore = "needs anvil; cargo xtask test --only contracts"]
fn a_member_lives_with_the_whole_tree() {
    live(Mode::Full);
}

#[test]
#[ignore = "needs anvil; cargo xtask test --only contracts"]
fn a_member_lives_with_recent_roots_only() {
    live(Mode::Light);
}
