//! The table compared with a model that searches a list.

use std::time::Duration;

use proptest::prelude::*;

use super::*;

const NAMES: [&str; 3] = ["rs/1/0", "rs/1/1", "rs/1/mix"];

fn limits() -> RegistrationLimits {
    RegistrationLimits {
        max_total: 8,
        max_per_namespace: 5,
        max_per_peer: 2,
        max_bytes: 150,
        renewal_s: 30,
    }
}

fn at(now_s: u64) -> Time {
    Time::ZERO.after(Duration::from_secs(now_s))
}

#[derive(Clone, Debug)]
enum Step {
    Register(u64, usize, usize, u64),
    Unregister(u64, usize),
    Leave(u64),
    Wait(u64),
}

fn step() -> impl Strategy<Value = Step> {
    let (peer, name) = (|| 0_u64..9, || 0_usize..3);
    prop_oneof![
        6 => (peer(), name(), 1_usize..30, 1_u64..100)
            .prop_map(|(peer, name, len, ttl_s)| Step::Register(peer, name, len, ttl_s)),
        1 => (peer(), name()).prop_map(|(peer, name)| Step::Unregister(peer, name)),
        1 => peer().prop_map(Step::Leave),
        1 => (0_u64..40).prop_map(Step::Wait),
    ]
}

/// Reference model of the table, without an index.
#[derive(Default)]
struct Model {
    /// Number, peer, name, length and end of each registration, the first one first.
    kept: Vec<(u64, u64, usize, usize, u64)>,
    made_s: BTreeMap<u64, u64>,
    now_s: u64,
    away: BTreeSet<u64>,
    next: u64,
}

impl Model {
    fn bytes(&self) -> usize {
        let sizes = self.kept.iter();
        sizes
            .map(|(_, _, name, len, _)| NAMES[*name].len() + len)
            .sum()
    }

    fn count(&self, of: impl Fn(u64, usize) -> bool) -> usize {
        let kept = self.kept.iter();
        kept.filter(|(_, peer, name, ..)| of(*peer, *name)).count()
    }

    /// Drops the first registration of a disconnected peer, or else the first one that was not renewed for long.
    fn drop_one(&mut self, of: Option<usize>) -> Result<(), RegistrationRefusal> {
        let is_there = |name: usize| of.is_none_or(|wanted| wanted == name);
        let mut kept = self.kept.iter();
        let away = kept.position(|(_, peer, name, ..)| self.away.contains(peer) && is_there(*name));
        let mut kept = self.kept.iter();
        let stale = kept.position(|(number, _, name, ..)| {
            self.made_s[number] + limits().renewal_s <= self.now_s && is_there(*name)
        });
        let place = away.or(stale).ok_or(RegistrationRefusal::NoRoom)?;
        self.kept.remove(place);
        Ok(())
    }

    fn register(
        &mut self,
        peer: u64,
        name: usize,
        len: usize,
        end_s: u64,
    ) -> Result<(), RegistrationRefusal> {
        self.unregister(peer, name);
        self.away.remove(&peer);
        if self.count(|of, _| of == peer) >= limits().max_per_peer {
            return Err(RegistrationRefusal::TooManyOfPeer);
        }
        if self.count(|_, of| of == name) >= limits().max_per_namespace {
            self.drop_one(Some(name))?;
        }
        while self.kept.len() >= limits().max_total
            || self.bytes() + len + NAMES[name].len() > limits().max_bytes
        {
            self.drop_one(None)?;
        }
        self.made_s.insert(self.next, self.now_s);
        self.kept.push((self.next, peer, name, len, end_s));
        self.next += 1;
        Ok(())
    }

    fn unregister(&mut self, peer: u64, name: usize) {
        let is_other = |of: u64, named: usize| (of, named) != (peer, name);
        self.kept.retain(|(_, of, named, ..)| is_other(*of, *named));
        self.forget_away();
    }

    /// Forgets disconnected peers without registrations, which the table does not know.
    fn forget_away(&mut self) {
        let kept = &self.kept;
        self.away
            .retain(|peer| kept.iter().any(|(_, of, ..)| of == peer));
    }
}

fn numbers(table: &Registrations, name: Option<&str>, from: u64) -> Vec<u64> {
    table.from(name, from).map(|(number, _)| number).collect()
}

proptest! {
    #[test]
    fn the_table_holds_what_a_list_would(steps in proptest::collection::vec(step(), 1..120)) {
        let (mut table, mut model) = (Registrations::new(limits()), Model::default());
        let mut now_s = 0;
        for step in steps {
            match step {
                Step::Register(peer, name, len, ttl_s) => {
                    let kept = table.insert(Registration {
                        peer: PeerNo(peer),
                        namespace: NAMES[name].into(),
                        record: vec![peer as u8; len].into(),
                        made: at(now_s),
                        expires: at(now_s + ttl_s),
                    });
                    prop_assert_eq!(kept, model.register(peer, name, len, now_s + ttl_s));
                }
                Step::Unregister(peer, name) => {
                    table.remove(PeerNo(peer), NAMES[name]);
                    model.unregister(peer, name);
                }
                Step::Leave(peer) => {
                    table.left(PeerNo(peer));
                    model.away.insert(peer);
                }
                Step::Wait(wait_s) => {
                    now_s += wait_s;
                    model.now_s = now_s;
                    table.expire(at(now_s));
                    model.kept.retain(|(.., end_s)| *end_s > now_s);
                }
            }
            model.forget_away();
            let kept = |name: Option<usize>, from: u64| -> Vec<u64> {
                let all = model.kept.iter().filter(|(number, _, of, ..)| {
                    *number >= from && name.is_none_or(|name| name == *of)
                });
                all.map(|(number, ..)| *number).collect()
            };
            for from in [0, model.next / 2, model.next] {
                prop_assert_eq!(numbers(&table, None, from), kept(None, from));
                for (index, name) in NAMES.iter().enumerate() {
                    prop_assert_eq!(numbers(&table, Some(name), from), kept(Some(index), from));
                }
            }
            for peer in 0..9 {
                let is_kept = model.count(|of, _| of == peer) > 0;
                prop_assert_eq!(table.has_peer(PeerNo(peer)), is_kept);
            }
            for (_, peer, _, len, _) in &model.kept {
                let record = vec![*peer as u8; *len];
                prop_assert!(table.has_record(PeerNo(*peer), &record));
                prop_assert!(!table.has_record(PeerNo(peer + 1), &record));
            }
            let first_end_s = model.kept.iter().map(|(.., end_s)| *end_s).min();
            prop_assert_eq!(table.first_end(), first_end_s.map(at));
            prop_assert_eq!((table.len(), table.bytes), (model.kept.len(), model.bytes()));
            prop_assert!(table.len() <= 8 && table.bytes <= 150);
            // Nothing is left behind in an index.
            let indexed: usize = table.by_namespace.values().map(BTreeSet::len).sum();
            prop_assert_eq!(indexed, table.len());
            let indexed: usize = table.by_peer.values().map(|one| one.by_namespace.len()).sum();
            prop_assert_eq!(indexed, table.len());
            prop_assert_eq!(table.by_end.len(), table.len());
            let away = model.count(|peer, _| model.away.contains(&peer));
            prop_assert_eq!(table.away.len(), away);
        }
    }
}
