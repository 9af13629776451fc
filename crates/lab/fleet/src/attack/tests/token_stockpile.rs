use undertone_rln::{
    Generation, Identity, Key, MerkleTree, Prover, fr_from_le, identity, recover_secret,
};

use super::*;

const FIRST: Epoch = Epoch(5);
const SECOND: Epoch = Epoch(6);

/// Source that refuses every proof and records the requested epochs; stands for proving in full.
#[derive(Default)]
struct Refuses(Vec<Epoch>);

impl ProofSource for Refuses {
    fn prove(&mut self, epoch: Epoch, _: Fr) -> Result<RateLimitProof, ProofFailure> {
        self.0.push(epoch);
        Err(ProofFailure::NoMembership)
    }
}

fn stockpiler(limit: u32, folder: &Path) -> (Identity, Stockpiler) {
    let identity = Identity::from_seed(b"hoard");
    let mut tree = MerkleTree::new();
    let commitment = identity::rate_commitment(identity.commitment(), limit);
    tree.set(3, commitment).unwrap();
    let path = tree.path(3).unwrap();
    let prover = Prover::new(Key::load().unwrap());
    let member = prover.member(&identity, limit, &path).unwrap();
    let terms = RateTerms {
        generation: Generation::Hashed,
        limit,
        epoch_size_s: 10,
    };
    (
        identity,
        Stockpiler::new(member, terms, folder, Stock::default()).unwrap(),
    )
}

#[test]
fn a_token_is_of_the_epoch_asked_for_and_without_one_it_is_proved() {
    let folder = tempfile::tempdir().unwrap();
    let (identity, mut stockpiler) = stockpiler(1, folder.path());
    for epoch in [FIRST, FIRST, SECOND] {
        stockpiler.prepare(epoch).unwrap();
    }
    let stock = stockpiler.stock();
    assert_eq!((stock.count(FIRST), stock.count(SECOND)), (2, 1));
    let mut source = StockpiledProofs {
        stock: stock.clone(),
        otherwise: Refuses::default(),
    };
    let mut signed = |epoch, x: u64| source.prove(epoch, Fr::from(x));

    let other = signed(SECOND, 1).unwrap();
    assert_eq!(other.epoch, SECOND.to_bytes());
    let (one, two) = (signed(FIRST, 1).unwrap(), signed(FIRST, 2).unwrap());
    assert_eq!([one.epoch, two.epoch], [FIRST.to_bytes(); 2]);
    assert_eq!(one.nullifier, two.nullifier, "one message id, used twice");
    assert_ne!(one.nullifier, other.nullifier);
    let share = |proof: &RateLimitProof| {
        let [x, y] = [&proof.share_x, &proof.share_y].map(|at| fr_from_le(at).unwrap());
        (x, y)
    };
    let secret = recover_secret(share(&one), share(&two)).unwrap();
    assert_eq!(secret, *identity.secret());

    for epoch in [FIRST, SECOND, Epoch(7)] {
        assert!(signed(epoch, 3).is_err());
    }
    assert_eq!(source.otherwise.0, [FIRST, SECOND, Epoch(7)]);
}

#[test]
fn all_ids_of_the_limit_come_before_one_comes_again() {
    let folder = tempfile::tempdir().unwrap();
    let mut ids = CounterReset::new(folder.path(), 3).unwrap();
    let mut next = |epoch| ids.reserve(epoch).unwrap().message_id();
    let given = [(); 7].map(|()| next(FIRST));
    assert_eq!(given, [0, 1, 2, 0, 1, 2, 0]);
    assert_eq!([(); 2].map(|()| next(SECOND)), [0, 1]);
    assert_eq!(next(FIRST), 0, "an epoch that was left");
}
