use undertone_rln::{
    Epoch, Fr, Generation, Identity, Key, MerkleTree, MessageSlot, Prover, RlnIdentifier,
    external_nullifier, fr_from_le, rate_commitment,
};

use super::*;

/// A statement whose proof is valid.
fn honest(key: &Arc<Key>) -> ProofStatement {
    let identity = Identity::from_seed(b"member");
    let mut tree = MerkleTree::new();
    tree.set(0, rate_commitment(identity.commitment(), 20))
        .unwrap();
    let member = Prover::new(Arc::clone(key))
        .member(&identity, 20, &tree.path(0).unwrap())
        .unwrap();
    let (epoch, identifier) = (Epoch(5), &RlnIdentifier::WAKU);
    let slot = MessageSlot {
        generation: Generation::Hashed,
        epoch,
        identifier,
        message_id: 0,
    };
    let x = Fr::from(7);
    let proof = member.prove(&slot, x, &mut os_rng().unwrap()).unwrap();
    ProofStatement {
        proof: proof.proof,
        y: fr_from_le(&proof.share_y).unwrap(),
        root: tree.root(),
        nullifier: fr_from_le(&proof.nullifier).unwrap(),
        x,
        external_nullifier: external_nullifier(Generation::Hashed, epoch, identifier),
    }
}

/// More proofs than threads, so that batches form while the first ones are being checked.
#[test]
fn each_proof_gets_its_verdict_once_and_the_threads_end() {
    let key = Key::load().unwrap();
    let honest = honest(&key);
    let (events, mut verdicts) = mpsc::unbounded_channel();
    let pool =
        VerifierPool::start(&Verifier::new(&key), BatchPolicy::default(), 2, &events).unwrap();
    drop(events);
    let bad = |ticket: u64| ticket % 7 == 3;
    let peers = [(); 3].map(|()| PeerId::random());
    for ticket in 0..40 {
        let mut statement = Box::new(honest.clone());
        let from = Some(peers[ticket as usize % 3]);
        if bad(ticket) {
            statement.x += Fr::from(1);
        }
        pool.push(Proof {
            ticket: ProofTicket(ticket),
            from,
            statement,
        });
    }
    let mut seen = Vec::new();
    while seen.len() < 40 {
        match verdicts.blocking_recv() {
            Some(RlnEvent::Verified {
                ticket,
                from,
                valid,
            }) => {
                assert_eq!(valid, !bad(ticket.0), "{ticket:?}");
                pool.settled(from);
                seen.push(ticket.0);
            }
            _ => panic!("no verdict after {seen:?}"),
        }
    }
    seen.sort_unstable();
    assert_eq!(seen, (0..40).collect::<Vec<_>>());
    let counted = pool.snapshot();
    assert_eq!((counted.threads, counted.waiting), (2, 0));
    assert_eq!((counted.checked_total, counted.bad_total), (40, 6));
    assert_eq!(counted.suspects, 3, "each peer delivered a bad one");
    let jobs: u64 = counted.job_sizes.counts.iter().sum();
    let singles = counted.job_sizes.counts[0];
    assert_eq!(jobs, singles + counted.batches_total);
    drop(pool);
    assert!(
        verdicts.blocking_recv().is_none(),
        "the threads end with the pool"
    );
}

/// A suspect's proofs are checked one by one even after it reconnects, because it is known by its peer id.
#[test]
fn who_sent_a_bad_proof_gets_no_batches_until_its_time_is_over() {
    let key = Key::load().unwrap();
    let honest = honest(&key);
    let (events, mut verdicts) = mpsc::unbounded_channel();
    let mut policy = BatchPolicy::default();
    policy.single_below = 2;
    policy.suspect_for_ns = u64::MAX;
    let pool = VerifierPool::start(&Verifier::new(&key), policy, 1, &events).unwrap();
    let attacker = PeerId::random();
    let send = |ticket, x: Fr| {
        let mut statement = Box::new(honest.clone());
        statement.x += x;
        pool.push(Proof {
            ticket: ProofTicket(ticket),
            from: Some(attacker),
            statement,
        });
    };
    send(0, Fr::from(1));
    assert!(verdicts.blocking_recv().is_some());
    pool.settled(Some(attacker));
    // The thread is still busy with the first proof when the others have been queued.
    for ticket in 1..20 {
        send(ticket, Fr::from(0));
    }
    for _ in 1..20 {
        assert!(verdicts.blocking_recv().is_some());
        pool.settled(Some(attacker));
    }
    let counted = pool.snapshot();
    assert_eq!((counted.suspects, counted.batches_total), (1, 0));
    assert_eq!(counted.job_sizes.counts[0], 20);
}
