//! Large sets that differ in a hundredth of their messages: how many bytes a session takes, and for what.

use super::*;

/// Messages of each set.
const MESSAGES: usize = 100_000;

/// Number of messages that only one set has, per set.
const OWN: usize = 500;

/// Number of distinct messages in both sets together.
const TOTAL: u64 = (MESSAGES + OWN) as u64;

/// Distance between the positions of consecutive messages, the golden section of all positions: consecutively numbered
/// messages are spread at about equal distances.
const STEP: u64 = 62_113;

/// Times of the messages that only one set has.
#[derive(Clone, Copy, Debug)]
enum Spread {
    /// Random, as all times.
    Random,
    /// At about equal distances, as all times.
    Even,
    /// Adjacent to each other, all in one set.
    OneTime,
}

/// Two sets of 100,000 messages of which 1,000 are in one set only.
fn sets(spread: Spread, rng: &mut ChaCha8Rng) -> (Ids, Ids) {
    let mut all = random_ids(rng, MESSAGES + OWN);
    match spread {
        Spread::Random => {}
        Spread::Even => {
            for (number, one) in (0_u64..).zip(&mut all) {
                one.time_ns = START_NS + number * STEP % TOTAL * (HOUR_NS / TOTAL);
            }
        }
        Spread::OneTime => {
            // A set holds no more messages than this.
            all.truncate(MESSAGES);
            all.sort();
        }
    }
    let (own, common) = all.split_at(2 * OWN);
    let common: Ids = common.iter().copied().collect();
    let (mut ours, mut theirs) = (common.clone(), common);
    match spread {
        Spread::OneTime => ours.extend(own),
        Spread::Random | Spread::Even => {
            ours.extend(&own[..OWN]);
            theirs.extend(&own[OWN..]);
        }
    }
    (ours, theirs)
}

/// Bytes before the first range of a payload: two topic counts, and a present-day time.
const HEADER: usize = 2 + 9;

/// Number of bytes by purpose; headers are not counted.
#[derive(Debug, Default)]
struct Kinds {
    fingerprints: usize,
    skips: usize,
    hashes: usize,
    /// Times and lengths of item sets.
    times: usize,
}

impl Kinds {
    fn add(&mut self, range: SyncRange) {
        let payload = RangesPayload {
            ranges: vec![range],
            ..RangesPayload::default()
        };
        let bytes = payload.encode().len() - HEADER;
        match &payload.ranges[0].content {
            RangeContent::Skip => self.skips += bytes,
            RangeContent::Fingerprint(_) => self.fingerprints += bytes,
            RangeContent::Items(items) => {
                let hashes = 32 * items.elements.len();
                self.hashes += hashes;
                self.times += bytes - hashes;
            }
        }
    }
}

#[test]
fn a_thousand_differences_of_a_hundred_thousand_take_under_200_kb() {
    for spread in [Spread::Random, Spread::Even, Spread::OneTime] {
        let mut rng = ChaCha8Rng::seed_from_u64(4);
        let (ours, theirs) = sets(spread, &mut rng);
        let outcome = check(&ours, &theirs);
        let mut kinds = Kinds::default();
        for payload in &outcome.sent {
            let payload = RangesPayload::decode(payload, &SyncLimits::default()).unwrap();
            payload.ranges.into_iter().for_each(|one| kinds.add(one));
        }
        let (bytes, payloads) = (outcome.bytes(), outcome.sent.len());
        println!("{spread:?}: {bytes} bytes in {payloads} payloads, {kinds:?}");
        assert!(bytes < 200_000, "{spread:?}: {bytes}");
        assert!(payloads < 20, "{spread:?}: {payloads}");
    }
}
