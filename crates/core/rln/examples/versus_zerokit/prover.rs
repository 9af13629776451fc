//! Proving: zerokit's full and finished partial proofs, our full proofs, tokens and start-up.

use rln::prelude::{
    Hasher, PoseidonHash, RLNBuilder, RLNPartialWitnessInput, RLNWitnessInput, SecretFr,
    hash_to_field_le,
};
use undertone_rln::prover::os_rng;
use undertone_rln::{
    Epoch, Fr, Generation, Identity, Key, MerkleTree, MessageIdCounter, MessageSlot, Prover,
    RlnIdentifier, Token, WallClock, rate_commitment,
};
use zerokit_utils::merkle_tree::{OptimalMerkleTree, ZerokitMerkleTree};

use crate::clock::{median_ms, once_ms};

const LIMIT: u32 = 1000;
const MEMBER: u32 = 555;
const EPOCH: Epoch = Epoch(2_833_333);
const RUNS: usize = 9;

/// Milliseconds of processor time.
pub(crate) struct ProverFigures {
    pub(crate) zerokit_full_ms: f64,
    pub(crate) zerokit_partial_ms: f64,
    pub(crate) zerokit_finish_ms: f64,
    pub(crate) full_ms: f64,
    pub(crate) member_ms: f64,
    pub(crate) update_ms: f64,
    pub(crate) prepare_ms: f64,
    pub(crate) sign_ms: f64,
    pub(crate) start_ms: f64,
    pub(crate) start_with_tables_ms: f64,
}

fn slot(message_id: u32) -> MessageSlot<'static> {
    MessageSlot {
        generation: Generation::Hashed,
        epoch: EPOCH,
        identifier: &RlnIdentifier::WAKU,
        message_id,
    }
}

pub(crate) fn measure() -> ProverFigures {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let table_file = folder.path().join("tables");
    let start = || {
        let key = Key::load().expect("the vendored key");
        Prover::with_table_file(key, &table_file).0
    };
    let (start_ms, _) = once_ms(start);
    let start_with_tables_ms = median_ms(RUNS, || (), |()| start());
    let prover = start();

    // The same members in both trees.
    let identity = Identity::from_seed(b"versus");
    let mut ours = MerkleTree::new();
    let mut theirs = <OptimalMerkleTree<PoseidonHash> as ZerokitMerkleTree>::default(20)
        .expect("a tree of depth 20");
    let mut set = |ours: &mut MerkleTree, index: u32, leaf: Fr| {
        ours.set(index, leaf).expect("an index of the tree");
        theirs
            .set(index as usize, leaf)
            .expect("an index of the tree");
        theirs.proof(MEMBER as usize).expect("an index of the tree")
    };
    for index in 0..1000u32 {
        set(&mut ours, index, Fr::from(index * 7 + 1));
    }
    let theirs = set(
        &mut ours,
        MEMBER,
        rate_commitment(identity.commitment(), LIMIT),
    );
    let path = ours.path(MEMBER).expect("an index of the tree");

    let zerokit = RLNBuilder::stateless().build();
    let mut secret = *identity.secret();
    let x = hash_to_field_le(b"hello");
    let witness = RLNWitnessInput::new_single()
        .identity_secret(SecretFr::from(&mut secret))
        .user_message_limit(Fr::from(LIMIT))
        .merkle_proof(&theirs)
        .x(x)
        .external_nullifier(Hasher::<PoseidonHash>::hash_pair(
            hash_to_field_le(&EPOCH.to_bytes()),
            hash_to_field_le(&RlnIdentifier::WAKU.0),
        ))
        .message_id(Fr::from(1))
        .build()
        .expect("an honest witness");
    let partial_witness = RLNPartialWitnessInput::from(&witness);
    let honest = "an honest proof";
    let partial = zerokit
        .generate_partial_proof(&partial_witness)
        .expect(honest);

    let zerokit_full_ms = median_ms(RUNS, || (), |()| zerokit.generate_proof(&witness));
    let zerokit_partial_ms = median_ms(
        3,
        || (),
        |()| zerokit.generate_partial_proof(&partial_witness),
    );
    let zerokit_finish_ms = median_ms(RUNS, || (), |()| zerokit.finish_proof(&partial, &witness));

    let mut rng = os_rng().expect("random numbers");
    let member_ms = median_ms(5, || (), |()| prover.member(&identity, LIMIT, &path));
    let mut member = prover
        .member(&identity, LIMIT, &path)
        .expect("a valid limit");
    let full_ms = median_ms(RUNS, || (), |()| member.prove(&slot(1), x, &mut rng));
    let prepare_ms = median_ms(RUNS, || (), |()| member.prepare(&slot(1), &mut rng));

    let counter_path = folder.path().join("ids");
    let mut counter = MessageIdCounter::open(counter_path, LIMIT).expect("a new counter");
    let mut token = || -> Token {
        let reserved = counter
            .reserve(EPOCH, &WallClock::stopped_in(EPOCH))
            .expect("an unused id");
        let slot = slot(reserved.message_id());
        let prepared = member
            .prepare(&slot, &mut rng)
            .expect("an id below the limit");
        prepared
            .arm(reserved)
            .expect("the id that it was prepared for")
    };
    let sign_ms = median_ms(51, &mut token, |token| token.sign(x));

    let mut next = 1000;
    let update_ms = {
        let mut paths = Vec::new();
        for _ in 0..6 {
            ours.set(next, Fr::from(next))
                .expect("an index of the tree");
            paths.push(ours.path(MEMBER).expect("an index of the tree"));
            next += 1;
        }
        let mut paths = paths.into_iter();
        let next_path = || paths.next().expect("a path for each run");
        median_ms(5, next_path, |path| member.update(&path))
    };
    ProverFigures {
        zerokit_full_ms,
        zerokit_partial_ms,
        zerokit_finish_ms,
        full_ms,
        member_ms,
        update_ms,
        prepare_ms,
        sign_ms,
        start_ms,
        start_with_tables_ms,
    }
}
