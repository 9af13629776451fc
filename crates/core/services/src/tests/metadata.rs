use super::*;

/// Returns how many requests of `peer` at a second are answered.
fn answered(exchange: &mut MetadataExchange<u64>, at_s: u64, peer: u64, count: usize) -> usize {
    let now = Time::ZERO.after(Duration::from_secs(at_s));
    (0..count)
        .filter(|_| exchange.may_answer(now, peer))
        .count()
}

#[test]
fn each_peer_has_a_burst_and_then_its_rate() {
    let limits = MetadataLimits::default();
    let mut exchange = MetadataExchange::new(limits);
    let (greedy, other) = (1, 2);
    let volume = limits.answered.volume as usize;
    assert_eq!(answered(&mut exchange, 0, greedy, 10 * volume), volume);
    assert_eq!(
        answered(&mut exchange, 0, other, 1),
        1,
        "another peer does not pay for that one"
    );
    assert_eq!(answered(&mut exchange, 1, greedy, volume), volume / 60);
    assert_eq!(answered(&mut exchange, 120, greedy, 10 * volume), volume);
}

#[test]
fn a_peer_that_keeps_identifying_itself_is_asked_some_times() {
    let limits = MetadataLimits::default();
    let mut exchange = MetadataExchange::new(limits);
    let asked = (0..1_000).filter(|_| exchange.may_ask(Time::ZERO, 7));
    assert_eq!(asked.count(), limits.asked.volume as usize);
    assert!(
        exchange.may_answer(Time::ZERO, 7),
        "it may ask all the same"
    );
}

#[test]
fn a_peer_of_another_cluster_goes_and_one_that_names_none_stays() {
    let metadata = |cluster_id, shards: &[u32]| WakuMetadata {
        cluster_id,
        shards: shards.to_vec(),
    };
    let cases = [
        (metadata(Some(2), &[0]), MetadataVerdict::OtherCluster(2)),
        // A cluster id whose low 16 bits are this node's cluster.
        (
            metadata(Some(65_537), &[0]),
            MetadataVerdict::OtherCluster(65_537),
        ),
        (
            metadata(Some(1), &[0, 7]),
            MetadataVerdict::Shards(vec![0, 7]),
        ),
        (metadata(None, &[3]), MetadataVerdict::Shards(vec![3])),
        (
            metadata(Some(1), &[65_536, 5]),
            MetadataVerdict::Shards(vec![5]),
        ),
    ];
    for (theirs, verdict) in cases {
        assert_eq!(judge(1, &theirs), verdict, "{theirs:?}");
    }
}
