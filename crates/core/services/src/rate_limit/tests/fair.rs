use std::time::Duration;

use proptest::prelude::*;

use super::*;

fn limit(volume: u32, period_s: u64) -> RateLimit {
    RateLimit {
        volume,
        period: Duration::from_secs(period_s),
    }
}

fn at_ms(ms: u64) -> Time {
    Time::from_millis(ms)
}

/// Reference model: the same rules on a plain list of debts.
struct Naive {
    limit: RateLimit,
    capacity: u128,
    debts: BTreeMap<Option<u8>, u128>,
    rest: u128,
    at: Option<Time>,
}

impl Naive {
    fn new(limit: RateLimit, capacity: u64) -> Self {
        let request = limit.period.as_nanos();
        let at_first = u128::from(capacity - u64::from(limit.volume)) * request;
        Self {
            limit,
            capacity: u128::from(capacity) * request,
            debts: BTreeMap::from([(None, at_first)]),
            rest: 0,
            at: None,
        }
    }

    fn allow(&mut self, now: Time, peer: u8) -> bool {
        let elapsed = self.at.map_or(0, |at| now.since(at).as_nanos());
        self.at = Some(now);
        let mut inflow = elapsed * u128::from(self.limit.volume) + self.rest;
        self.rest = 0;
        loop {
            self.debts.retain(|_, debt| *debt > 0);
            let Some(smallest) = self.debts.values().min().copied() else {
                break;
            };
            let all = self.debts.len() as u128;
            let each = smallest.min(inflow / all);
            self.debts.values_mut().for_each(|debt| *debt -= each);
            inflow -= each * all;
            if each < smallest {
                self.rest = inflow;
                break;
            }
        }
        let request = self.limit.period.as_nanos();
        let owed: u128 = self.debts.values().sum();
        let debt = self.debts.get(&Some(peer)).copied().unwrap_or(0);
        let nobodys = self.debts.get(&None).copied().unwrap_or(0);
        let reserved = (self.capacity - nobodys) / 4;
        let has_room = owed + request <= self.capacity;
        let is_in_bounds =
            || debt + request <= 3 * (self.capacity - owed - request).saturating_sub(reserved);
        let allowed = has_room && (debt == 0 || is_in_bounds());
        if allowed {
            *self.debts.entry(Some(peer)).or_default() += request;
        }
        allowed
    }
}

proptest! {
    #[test]
    fn the_budget_decides_as_a_list_of_debts_does(
        volume in 1_u32..60,
        period_s in 1_u64..100,
        stretch in 1_u64..10,
        requests in proptest::collection::vec((0_u64..3_000, 0_u8..6), 1..400),
    ) {
        let limit = limit(volume, period_s);
        let capacity = u64::from(volume) * stretch;
        let mut budget = FairBudget::new(limit, capacity, 100);
        let mut naive = Naive::new(limit, capacity);
        let mut now_ms = 0;
        for (wait_ms, peer) in requests {
            // Several requests at one time, too.
            now_ms += wait_ms.saturating_sub(2_000);
            let now = at_ms(now_ms);
            prop_assert_eq!(budget.allow(now, peer), naive.allow(now, peer));
            let sum: u128 = budget.free_at.keys().map(|one| budget.debt(*one)).sum();
            prop_assert_eq!(sum, budget.owed);
            prop_assert!(budget.owed <= budget.capacity, "more than the limit");
            prop_assert_eq!(budget.by_debt.len(), budget.free_at.len());
        }
    }

    #[test]
    fn one_that_asks_less_often_than_its_share_is_always_served(
        greedy in 1_u8..7,
        stretch in 2_u64..10,
        begins_s in 0_u64..200,
    ) {
        let limit = limit(60, 60);
        let mut budget = FairBudget::new(limit, 60 * stretch, 100);
        // The rate is one request per second, shared by the greedy peers, this one, and the initial
        // debt that belongs to nobody.
        let every_s = u64::from(greedy) + 2;
        for second in 0..400 {
            for peer in 1..=greedy {
                (0..100).for_each(|_| _ = budget.allow(at_ms(second * 1000), peer));
            }
            if second >= begins_s && (second - begins_s) % every_s == 0 {
                prop_assert!(budget.allow(at_ms(second * 1000 + 500), 0), "{second} s");
            }
        }
    }
}

#[test]
fn greedy_peers_get_equal_shares_of_the_rate() {
    let mut budget = FairBudget::new(limit(60, 60), 180, 100);
    let mut served = [0; 4];
    for second in 0..4_000 {
        for peer in 0..4_u8 {
            // The first is ten times as greedy, and always earlier.
            let asked = if peer == 0 { 100 } else { 10 };
            let granted = (0..asked).filter(|_| budget.allow(at_ms(second * 1000), peer));
            served[usize::from(peer)] += granted.count();
        }
    }
    let (least, most) = (served.iter().min().unwrap(), served.iter().max().unwrap());
    // The first peer gets the initial burst.
    assert!(most - least <= 100, "{served:?}");
    assert!(
        served.iter().sum::<usize>() >= 4_000,
        "the rate is used up: {served:?}"
    );
}

#[test]
fn a_flood_under_many_names_is_remembered_within_bounds_and_limited() {
    let mut budget = FairBudget::new(limit(60, 60), 600, 10);
    let mut served = 0;
    for name in 0..10_000_u32 {
        served += usize::from(budget.allow(at_ms(u64::from(name)), name));
        assert!(budget.peers() <= 10);
    }
    assert_eq!(served, 60 + 9, "the volume, and one for each second");
}

#[test]
fn a_clock_that_stands_or_goes_back_pays_nothing() {
    let mut budget = FairBudget::new(limit(1, 60), 2, 10);
    assert!(budget.allow(at_ms(60_000), 1));
    assert!(!budget.allow(at_ms(60_000), 2));
    assert!(!budget.allow(at_ms(0), 2));
    assert!(!budget.allow(at_ms(60_000), 2));
    assert!(budget.allow(at_ms(120_000), 2));
}
