use rand_core::SeedableRng;

use super::*;

mod abuse;

const PEERS: usize = 3;

/// A server of cluster 1, and a driver that believes a record which begins with `peer <number>`.
struct Bench {
    server: RendezvousServer,
    now_s: u64,
    /// Number of records that the driver has checked.
    checks: usize,
}

/// Answer of a server to one request.
#[derive(Debug, PartialEq, Eq)]
enum Answer {
    Bytes(Bytes),
    Closed,
}

fn record(peer: u64) -> Vec<u8> {
    format!("peer {peer}, signed").into_bytes()
}

impl Bench {
    fn new() -> Self {
        Self::with(RendezvousLimits::default(), 7)
    }

    fn with(limits: RendezvousLimits, seed: u8) -> Self {
        let rng = ChaCha8Rng::from_seed([seed; 32]);
        Self {
            server: RendezvousServer::new(1, rng, limits),
            now_s: 0,
            checks: 0,
        }
    }

    fn now(&self) -> Time {
        Time::ZERO.after(Duration::from_secs(self.now_s))
    }

    fn answer(&mut self, input: Input) -> Option<Answer> {
        let now = self.now();
        self.server.handle(now, input);
        let mut answer = None;
        while let Some(output) = self.server.poll() {
            match output {
                Output::Respond { bytes, .. } => {
                    assert!(answer.replace(Answer::Bytes(bytes)).is_none(), "one answer");
                }
                Output::Close { .. } => {
                    assert!(answer.replace(Answer::Closed).is_none(), "one answer");
                }
                Output::CheckRecord {
                    request,
                    peer,
                    record,
                } => {
                    self.checks += 1;
                    let signed = format!("peer {},", peer.0);
                    let is_valid = record.starts_with(signed.as_bytes());
                    let checked = Input::RecordChecked { request, is_valid };
                    self.server.handle(now, checked);
                }
            }
        }
        answer
    }

    fn ask(&mut self, peer: u64, bytes: Vec<u8>) -> Answer {
        let input = Input::Request {
            peer: PeerNo(peer),
            request: RequestNo(9),
            bytes: bytes.into(),
        };
        self.answer(input).expect("a request ends with an answer")
    }

    fn register_as(
        &mut self,
        peer: u64,
        namespace: &[u8],
        record: &[u8],
        ttl_s: Option<u64>,
    ) -> RegisterResponse {
        let request = RendezvousRequest::Register {
            namespace,
            record,
            ttl_s,
        };
        read_registered(self.ask(peer, request.encode()))
    }

    /// Status of the registration of a peer with a record of its own for a minute.
    fn register(&mut self, peer: u64, namespace: &str) -> RendezvousStatus {
        let record = record(peer);
        self.register_as(peer, namespace.as_bytes(), &record, Some(60))
            .status
    }

    fn discover(
        &mut self,
        namespace: Option<&str>,
        limit: Option<u64>,
        cookie: Option<&[u8]>,
    ) -> DiscoverResponse {
        let request = RendezvousRequest::Discover {
            namespace: namespace.map(str::as_bytes),
            limit,
            cookie,
        };
        read_discovered(self.ask(99, request.encode()))
    }

    /// Records in a namespace, in the order of their texts.
    fn records(&mut self, namespace: &str) -> Vec<Vec<u8>> {
        sorted(&self.discover(Some(namespace), None, None))
    }

    fn gone(&mut self, peer: u64) {
        assert_eq!(self.answer(Input::PeerGone(PeerNo(peer))), None);
    }
}

fn read_registered(answer: Answer) -> RegisterResponse {
    let Answer::Bytes(bytes) = answer else {
        panic!("no answer");
    };
    RegisterResponse::decode(&bytes, &RendezvousCodecLimits::default()).unwrap()
}

fn read_discovered(answer: Answer) -> DiscoverResponse {
    let Answer::Bytes(bytes) = answer else {
        panic!("no answer");
    };
    let limits = RendezvousCodecLimits {
        max_found: 1000,
        ..RendezvousCodecLimits::default()
    };
    DiscoverResponse::decode(&bytes, &limits).unwrap()
}

fn sorted(response: &DiscoverResponse) -> Vec<Vec<u8>> {
    assert_eq!(response.status, RendezvousStatus::OK);
    let mut records: Vec<_> = response
        .found
        .iter()
        .map(|one| one.record.to_vec())
        .collect();
    records.sort();
    records
}

fn records(peers: impl IntoIterator<Item = u64>) -> Vec<Vec<u8>> {
    let mut records: Vec<_> = peers.into_iter().map(record).collect();
    records.sort();
    records
}

#[test]
fn peers_that_register_are_found_in_their_namespace_until_their_time_is_over() {
    let mut bench = Bench::new();
    for peer in 0..PEERS as u64 {
        assert_eq!(bench.register(peer, "rs/1/0"), RendezvousStatus::OK);
    }
    assert_eq!(bench.register(7, "rs/1/5/Relay"), RendezvousStatus::OK);
    assert_eq!(bench.records("rs/1/0"), records(0..3));
    assert_eq!(bench.records("rs/1/5/Relay"), records([7]));
    assert_eq!(bench.records("rs/1/6"), records([]), "nobody is there");
    bench.now_s = 20;
    let response = bench.discover(Some("rs/1/0"), None, None);
    let left: Vec<_> = response.found.iter().map(|one| one.ttl_s).collect();
    assert_eq!(left, [Some(40); PEERS]);
    assert_eq!(bench.register(1, "rs/1/0"), RendezvousStatus::OK);
    let end = Time::ZERO.after(Duration::from_secs(60));
    assert_eq!(bench.server.next_timeout(), Some(end));
    bench.now_s = 60;
    assert_eq!(bench.records("rs/1/0"), records([1]), "it was renewed");
    bench.now_s = 80;
    assert_eq!(bench.answer(Input::Tick), None);
    assert_eq!(bench.server.registrations(), 0);
    assert_eq!(bench.server.next_timeout(), None);
}

#[test]
fn without_a_namespace_everybody_is_found() {
    let mut bench = Bench::new();
    bench.register(1, "rs/1/0");
    bench.register(2, "rs/1/mix");
    for all in [None, Some("")] {
        let response = bench.discover(all, None, None);
        assert_eq!(sorted(&response), records([1, 2]));
        let mut names: Vec<_> = response
            .found
            .iter()
            .map(|one| &one.namespace[..])
            .collect();
        names.sort();
        assert_eq!(names, [&b"rs/1/0"[..], b"rs/1/mix"]);
    }
}

#[test]
fn a_registration_lasts_as_long_as_the_peer_wants_within_a_minute_and_three_days() {
    let mut bench = Bench::new();
    let mut ask = |ttl_s| {
        let response = bench.register_as(1, b"rs/1/0", &record(1), ttl_s);
        (response.status, response.ttl_s)
    };
    let ok = RendezvousStatus::OK;
    assert_eq!(ask(None), (ok, Some(60)));
    assert_eq!(ask(Some(60)), (ok, Some(60)));
    assert_eq!(ask(Some(259_200)), (ok, Some(259_200)));
    for ttl_s in [0, 59, 259_201, u64::MAX] {
        assert_eq!(ask(Some(ttl_s)), (RendezvousStatus::INVALID_TTL, None));
    }
}

#[test]
fn a_peer_ends_its_own_registration_and_nobody_else_s() {
    let mut bench = Bench::new();
    bench.register(1, "rs/1/0");
    bench.register(2, "rs/1/0");
    let namespace = b"rs/1/0";
    let unregister = RendezvousRequest::Unregister { namespace }.encode();
    assert_eq!(bench.ask(1, unregister.clone()), Answer::Closed);
    assert_eq!(bench.records("rs/1/0"), records([2]));
    assert_eq!(bench.ask(3, unregister), Answer::Closed, "it has none");
    assert_eq!(bench.records("rs/1/0"), records([2]));
}

#[test]
fn a_client_gets_as_many_as_it_wants_and_goes_on_with_the_cookie() {
    let mut bench = Bench::new();
    for peer in 0..30 {
        bench.register(peer, "rs/1/0");
    }
    let first = bench.discover(Some("rs/1/0"), Some(12), None);
    let second = bench.discover(Some("rs/1/0"), Some(12), first.cookie.as_deref());
    let third = bench.discover(Some("rs/1/0"), Some(12), second.cookie.as_deref());
    let lens = [&first, &second, &third].map(|page| page.found.len());
    assert_eq!(lens, [12, 12, 6]);
    let mut all: Vec<_> = [&first, &second, &third]
        .into_iter()
        .flat_map(sorted)
        .collect();
    all.sort();
    assert_eq!(all, records(0..30));
    let none = bench.discover(Some("rs/1/0"), Some(12), third.cookie.as_deref());
    assert_eq!(sorted(&none), records([]));
    // Only what is new comes: a renewal, and a peer that was not there.
    bench.register(4, "rs/1/0");
    bench.register(70, "rs/1/0");
    bench.register(71, "rs/1/1");
    let news = bench.discover(Some("rs/1/0"), Some(12), none.cookie.as_deref());
    assert_eq!(sorted(&news), records([4, 70]));
    let nothing = bench.discover(Some("rs/1/0"), Some(0), None);
    assert_eq!(sorted(&nothing), records([]));
}

#[test]
fn a_cookie_of_another_run_or_namespace_begins_anew() {
    let mut former = Bench::with(RendezvousLimits::default(), 8);
    former.register(1, "rs/1/0");
    let old = former.discover(Some("rs/1/0"), None, None).cookie.unwrap();
    let mut bench = Bench::new();
    bench.register(1, "rs/1/0");
    let other = bench.discover(Some("rs/1/1"), None, None).cookie.unwrap();
    // nim-libp2p's cookie: an offset, and the namespace.
    let nim = hex::decode("0805120672732f312f30").unwrap();
    for cookie in [&old[..], &other, &nim, b"", &[0; 1000]] {
        let response = bench.discover(Some("rs/1/0"), None, Some(cookie));
        assert_eq!(sorted(&response), records([1]), "{cookie:?}");
    }
    let response = bench.discover(Some("rs/1/0"), None, Some(&[0; 1001]));
    assert_eq!(response.status, RendezvousStatus::INVALID_COOKIE);
}

#[test]
fn a_record_is_checked_once_while_it_is_registered() {
    let mut bench = Bench::new();
    bench.register(1, "rs/1/0");
    bench.register(1, "rs/1/1");
    bench.now_s = 30;
    bench.register(1, "rs/1/0");
    assert_eq!(bench.checks, 1);
    let newer = b"peer 1, with another address";
    let response = bench.register_as(1, b"rs/1/0", newer, None);
    assert_eq!((response.status, bench.checks), (RendezvousStatus::OK, 2));
    assert_eq!(bench.records("rs/1/0"), [newer]);
    bench.now_s = 200;
    bench.register(1, "rs/1/0");
    assert_eq!(bench.checks, 3, "it is not known any more");
}

#[test]
fn the_same_seed_gives_the_same_answers() {
    let run = || {
        let mut bench = Bench::new();
        (0..20).for_each(|peer| assert_eq!(bench.register(peer, "rs/1/0").0, 0));
        bench.discover(Some("rs/1/0"), None, None)
    };
    assert_eq!(run(), run());
    let in_order: Vec<_> = (0..20).map(record).collect();
    let given: Vec<_> = run().found.iter().map(|one| one.record.to_vec()).collect();
    assert_ne!(given, in_order, "the order tells nothing");
}
