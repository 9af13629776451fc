//! Peer that behaves like nwaku: it splits ranges into eight equal times, lists up to a hundred messages of a
//! range, answers a list with all of its own messages, and treats the end of a range as inclusive.

use super::*;

const PARTS: u64 = 8;
const ITEMS_MAX: usize = 100;

pub(super) struct Other {
    ids: Vec<SyncId>,
    pub(super) to_send: Ids,
}

impl Other {
    pub(super) fn new(ids: &Ids) -> Self {
        Self {
            ids: ids.iter().copied().collect(),
            to_send: Ids::new(),
        }
    }

    /// First payload of a session.
    pub(super) fn first(&self) -> Vec<u8> {
        let (lower, upper) = (SyncId::at(START_NS), SyncId::at(START_NS + HOUR_NS));
        let content = RangeContent::Fingerprint(self.fingerprint(lower, upper));
        encode(vec![(lower, upper, content)])
    }

    /// Answer to a payload; `None` if the session is over.
    pub(super) fn handle(&mut self, payload: &[u8]) -> Option<Vec<u8>> {
        let payload = RangesPayload::decode(payload, &SyncLimits::default()).unwrap();
        let is_skip = |range: &SyncRange| range.content == RangeContent::Skip;
        if payload.ranges.iter().all(is_skip) {
            return None;
        }
        let mut out = Vec::new();
        for range in payload.ranges {
            // nwaku assumes that ranges begin at hash zero, whatever was sent.
            let (lower, upper) = (SyncId::at(range.lower.time_ns), range.upper);
            match range.content {
                RangeContent::Skip => out.push((lower, upper, RangeContent::Skip)),
                RangeContent::Fingerprint(theirs) => self.compare(lower, upper, theirs, &mut out),
                RangeContent::Items(theirs) => self.merge(lower, upper, &theirs, &mut out),
            }
        }
        let is_done = |(_, _, content): &(_, _, RangeContent)| *content == RangeContent::Skip;
        let done = out.iter().all(is_done);
        Some(if done { vec![0] } else { encode(out) })
    }

    fn within(&self, lower: SyncId, upper: SyncId) -> Vec<SyncId> {
        let begin = self.ids.partition_point(|id| *id < lower);
        let end = self.ids.partition_point(|id| *id <= upper);
        self.ids[begin..end].to_vec()
    }

    fn fingerprint(&self, lower: SyncId, upper: SyncId) -> Fingerprint {
        let mut fingerprint = Fingerprint::EMPTY;
        for id in self.within(lower, upper) {
            fingerprint ^= &id.hash.0;
        }
        fingerprint
    }

    fn compare(&self, lower: SyncId, upper: SyncId, theirs: Fingerprint, out: &mut Ranges) {
        if self.fingerprint(lower, upper) == theirs {
            return out.push((lower, upper, RangeContent::Skip));
        }
        let named = |elements| {
            let reconciled = false;
            RangeContent::Items(ItemSet {
                elements,
                reconciled,
            })
        };
        let elements = self.within(lower, upper);
        if elements.len() <= ITEMS_MAX {
            return out.push((lower, upper, named(elements)));
        }
        let width_ns = upper.time_ns - lower.time_ns;
        let mut begin = lower;
        for part in 0..PARTS {
            let extra = u64::from(part < width_ns % PARTS);
            let end = SyncId::at(begin.time_ns + width_ns / PARTS + extra);
            let elements = self.within(begin, end);
            let content = match elements.len() {
                0..=ITEMS_MAX => named(elements),
                _ => RangeContent::Fingerprint(self.fingerprint(begin, end)),
            };
            out.push((begin, end, content));
            begin = end;
        }
    }

    fn merge(&mut self, lower: SyncId, upper: SyncId, theirs: &ItemSet, out: &mut Ranges) {
        let elements = self.within(lower, upper);
        let lacking = elements.iter().filter(|id| !theirs.elements.contains(id));
        self.to_send.extend(lacking);
        let content = match theirs.reconciled {
            true => RangeContent::Skip,
            false => RangeContent::Items(ItemSet {
                elements,
                reconciled: true,
            }),
        };
        out.push((lower, upper, content));
    }
}

type Ranges = Vec<(SyncId, SyncId, RangeContent)>;

fn encode(ranges: Ranges) -> Vec<u8> {
    let range = |(lower, upper, content)| SyncRange {
        lower,
        upper,
        content,
    };
    let payload = RangesPayload {
        ranges: ranges.into_iter().map(range).collect(),
        ..RangesPayload::default()
    };
    payload.encode()
}
