use undertone_gossip::RequestId;
use undertone_membership::{MemberIndex, MembershipView, SqliteRegistry, Version, View};
use undertone_rln::{
    Generation, Identity, Key, MerklePath, MessageIdCounter, Policy, PoolSnapshot, ProofStatement,
    Prover, RootWindow, Verifier, Work, external_nullifier, fr_from_le,
};

use super::*;
use crate::driver::MemberClock;
use crate::driver::rln::{ProveJob, SkipTaken, prove};

const LIMIT: u32 = 20;

/// An epoch so long that no test sees its end.
const POLICY: Policy = Policy {
    generation: Generation::Hashed,
    identifier: RlnIdentifier::WAKU,
    epoch_size_s: 1 << 40,
    max_clock_gap_ns: 20_000_000_000,
};

struct Setup {
    folder: tempfile::TempDir,
    key: Arc<Key>,
    registry: SqliteRegistry,
    view: Arc<Mutex<MembershipView>>,
}

impl Setup {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let registry =
            SqliteRegistry::open_or_create(folder.path().join("registry"), LIMIT).unwrap();
        Self {
            folder,
            key: Key::load().unwrap(),
            registry,
            view: Arc::new(Mutex::new(MembershipView::new(50))),
        }
    }

    fn source(&self, config: PoolConfig) -> PooledProofs {
        let identity = Identity::from_seed(b"pooled");
        let index = self
            .registry
            .register(identity.commitment(), LIMIT)
            .unwrap();
        self.view.lock().refresh(&self.registry).unwrap();
        let member = MemberProofs {
            identity,
            index,
            limit: LIMIT,
            generation: Generation::Hashed,
            counter: MessageIdCounter::open(self.folder.path().join("ids"), LIMIT).unwrap(),
            clock: MemberClock::new(&POLICY, 0),
            prover: Arc::new(Prover::new(Arc::clone(&self.key))),
            view: self.view.clone(),
        };
        PooledProofs::start(member, config).unwrap()
    }
}

fn config(size: usize) -> PoolConfig {
    let mut config = PoolConfig::default();
    config.size = size;
    config.max_cpu_percent = 100;
    config
}

fn wait_until(source: &PooledProofs, enough: impl Fn(PoolSnapshot) -> bool) {
    let mut state = source.pool.state.lock();
    let changed = &source.pool.changed;
    changed.wait_while(&mut state, |state| !enough(state.tokens.snapshot()));
}

fn holds(key: &Key, proof: &RateLimitProof) -> bool {
    let element = |bytes| fr_from_le(bytes).unwrap();
    let epoch = Epoch::from_bytes(&proof.epoch).unwrap();
    let statement = ProofStatement {
        proof: proof.proof,
        y: element(&proof.share_y),
        root: element(&proof.merkle_root),
        nullifier: element(&proof.nullifier),
        x: element(&proof.share_x),
        external_nullifier: external_nullifier(Generation::Hashed, epoch, &RlnIdentifier::WAKU),
    };
    Verifier::new(key).verify(&statement).is_ok()
}

#[test]
fn sends_use_tokens_while_there_are_any() {
    let setup = Setup::new();
    let mut source = setup.source(config(2));
    let monitor = source.monitor();
    wait_until(&source, |pool| pool.ready == 2);
    let first = source.prove(Epoch(0), Fr::from(1)).unwrap();
    assert_eq!(monitor.snapshot().state.taken_total, 1);
    // The thread refills the pool with the token of the next id.
    wait_until(&source, |pool| pool.prepared_total == 3);
    let second = source.prove(Epoch(0), Fr::from(2)).unwrap();
    assert_eq!(monitor.snapshot().state.taken_total, 2);
    for proof in [&first, &second] {
        assert!(holds(&setup.key, proof));
        assert_eq!(
            proof.merkle_root,
            undertone_rln::fr_to_le(&setup.view.lock().tree().root())
        );
    }
    assert_ne!(first.nullifier, second.nullifier);
}

#[test]
fn a_token_is_kept_while_its_send_reserves_the_id() {
    let setup = Setup::new();
    // Size 0 starts no thread: the test calls the steps of the thread itself.
    let source = setup.source(config(0));
    let pool = &source.pool;
    pool.prepare(&mut None, Epoch(0), 0).unwrap();
    let ready_after_a_look = || {
        let (state, work) = pool.next_work(pool.state.lock());
        assert_eq!(work, Work::Idle);
        state.tokens.snapshot().ready
    };
    pool.state.lock().sending = true;
    let _reserved = pool
        .counter
        .lock()
        .as_mut()
        .unwrap()
        .reserve(Epoch(0), &pool.clock.now())
        .unwrap();
    assert_eq!(ready_after_a_look(), 1);
    pool.state.lock().sending = false;
    assert_eq!(
        ready_after_a_look(),
        0,
        "its id is used up and no send has it"
    );
}

#[test]
fn without_tokens_a_send_is_proved_in_full() {
    let setup = Setup::new();
    let mut source = setup.source(config(0));
    let proof = source.prove(Epoch(0), Fr::from(1)).unwrap();
    assert!(holds(&setup.key, &proof));
    let mut expected = PoolSnapshot::default();
    expected.missed_total = 1;
    assert_eq!(source.monitor().snapshot().state, expected);
}

#[test]
fn the_limit_ends_sends_with_tokens_too() {
    let setup = Setup::new();
    let mut source = setup.source(config(1));
    for sent in 0..LIMIT {
        source.prove(Epoch(0), Fr::from(sent)).unwrap();
    }
    let error = source.prove(Epoch(0), Fr::from(LIMIT)).unwrap_err();
    let exhausted = matches!(
        error,
        ProofFailure::Exhausted {
            limit: LIMIT,
            epoch: Epoch(0)
        }
    );
    assert!(exhausted, "{error}");
}

/// A membership view that knows nothing yet.
struct Unknown(RootWindow);

impl View for Unknown {
    fn roots(&self) -> &RootWindow {
        &self.0
    }

    fn revision(&self) -> u64 {
        0
    }

    fn version(&self) -> Option<Version> {
        None
    }

    fn members(&self) -> Option<usize> {
        None
    }

    fn path(&self, _: MemberIndex) -> Option<MerklePath> {
        None
    }
}

#[test]
fn nothing_is_proved_before_the_membership_is_known() {
    let setup = Setup::new();
    let member = |ids: &str| MemberProofs {
        identity: Identity::from_seed(b"pooled"),
        index: MemberIndex::new(0).unwrap(),
        limit: LIMIT,
        generation: Generation::Hashed,
        counter: MessageIdCounter::open(setup.folder.path().join(ids), LIMIT).unwrap(),
        clock: MemberClock::new(&POLICY, 0),
        prover: Arc::new(Prover::new(Arc::clone(&setup.key))),
        view: Arc::new(Mutex::new(Unknown(RootWindow::new(50)))),
    };
    let mut single = member("a");
    let mut pooled = PooledProofs::start(member("b"), config(2)).unwrap();
    let sources: [&mut dyn ProofSource; 2] = [&mut single, &mut pooled];
    for source in sources {
        let refused = source.prove(Epoch(0), Fr::from(1)).unwrap_err();
        assert!(
            matches!(refused, ProofFailure::Synchronizing),
            "{refused:?}"
        );
    }
    // No message id was used up in vain.
    assert_eq!(
        single.counter.upcoming(Epoch(0), &single.clock.now()),
        Some(0)
    );
    assert_eq!(
        pooled
            .pool
            .counter
            .lock()
            .as_ref()
            .unwrap()
            .upcoming(Epoch(0), &pooled.pool.clock.now()),
        Some(0)
    );
}

#[test]
fn ids_that_others_used_are_skipped_until_none_is_left() {
    let setup = Setup::new();
    let mut source = setup.source(config(0));
    let identity = Identity::from_seed(b"pooled");
    let nullifier_of = identity.nullifiers(Generation::Hashed, Epoch(0), &RlnIdentifier::WAKU);
    let first: Vec<_> = (0..7).map(&nullifier_of).collect();
    let skipped = source.skip_taken(Epoch(0), &mut |nullifier| first.contains(&nullifier));
    assert_eq!(skipped.unwrap(), 7);
    let proof = source.prove(Epoch(0), Fr::from(1)).unwrap();
    assert_eq!(fr_from_le(&proof.nullifier).unwrap(), nullifier_of(7));
    assert_eq!(source.monitor().refusal(), None);
    let none_left = source.skip_taken(Epoch(0), &mut |_| true).unwrap_err();
    assert!(
        matches!(none_left, ProofFailure::Exhausted { .. }),
        "{none_left}"
    );
    let refusal = source.monitor().refusal().unwrap();
    assert!(refusal.contains("limit of 20"), "{refusal}");
}

#[test]
fn a_disk_that_takes_no_message_id_is_told_until_it_does() {
    let setup = Setup::new();
    let mut source = setup.source(config(0));
    let monitor = source.monitor();
    assert!(!source.is_refused_by_disk());
    // The counter writes this file first.
    let blocked = setup.folder.path().join("ids.tmp");
    std::fs::create_dir(&blocked).unwrap();
    assert!(source.prove(Epoch(0), Fr::from(1)).is_err());
    let trouble = monitor.trouble().unwrap();
    assert!(trouble.contains("has space"), "{trouble}");
    assert!(source.is_refused_by_disk() && monitor.trouble().is_some());
    std::fs::remove_dir(&blocked).unwrap();
    assert!(!source.is_refused_by_disk());
    assert_eq!(monitor.trouble(), None);
    assert!(holds(
        &setup.key,
        &source.prove(Epoch(0), Fr::from(1)).unwrap()
    ));
}

#[test]
fn light_clients_get_three_quarters_of_an_epoch_and_the_rest_stays_the_nodes_own() {
    let setup = Setup::new();
    let mut source = setup.source(config(0));
    let (events, _received) = tokio::sync::mpsc::unbounded_channel();
    let mut prove = |for_client| {
        let job = ProveJob {
            request: RequestId(1),
            epoch: Epoch(0),
            x: Fr::from(1),
            skip: SkipTaken::No,
            for_client,
        };
        prove(&job, &mut source, &events)
    };
    for _ in 0..15 {
        prove(true).unwrap();
    }
    let refused = prove(true).unwrap_err();
    assert!(
        matches!(refused, ProofFailure::Exhausted { limit: 15, .. }),
        "{refused}"
    );
    for _ in 0..5 {
        prove(false).unwrap();
    }
    assert!(prove(false).is_err(), "the epoch is used up");
}
