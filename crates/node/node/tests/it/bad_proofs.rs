//! Nodes that flood another with proofs that do not hold, beside an honest member.
#![expect(
    clippy::unwrap_used,
    reason = "helpers of tests, which clippy takes for other code"
)]

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use parking_lot::Mutex;
use undertone_membership::{MemberIndex, MembershipLog, MembershipView, SqliteRegistry};
use undertone_message::{NetworkPreset, PubsubTopic, WakuMessage};
use undertone_node::driver::{
    ConnectionLimits, MemberClock, MemberProofs, MembershipSource, NodeOptions, ProofSource,
    RlnOptions, RunningNode, start,
};
use undertone_node::{Keypair, Multiaddr};
use undertone_relay::{ProofFailure, RelayConfig};
use undertone_rln::{
    Epoch, Fr, Generation, Identity, Key, MessageIdCounter, ProofRequest, Prover, RateLimitProof,
    RlnIdentifier, Verifier, fr_to_le,
};

/// Guards against a node that hangs; no test depends on its length.
const HANG: Duration = Duration::from_secs(120);
const NEVER: Duration = Duration::from_secs(3_600);
const LIMIT: u32 = 100;
const ATTACKERS: u64 = 8;
/// Bad proofs that each attacker has sent when the honest messages begin, as fast as it can. It goes on until
/// it is cut off: what waits of a suspect beyond a few is dropped without blame.
const BAD_AHEAD: u64 = 200;
/// Between the bad proofs that each attacker sends after these.
const PACE: Duration = Duration::from_millis(20);
const HONEST_MESSAGES: usize = 20;
/// Invalid messages that put a peer below the graylist threshold: 100 times the square is over 10 000.
const UNTIL_GRAYLISTED: u64 = 11;

/// One member, and what its neighbours check its proofs with.
struct Network {
    registry: Arc<SqliteRegistry>,
    view: Arc<Mutex<MembershipView>>,
    member: Identity,
    index: MemberIndex,
    prover: Arc<Prover>,
    verifier: Verifier,
}

impl Network {
    fn new(folder: &Path) -> Self {
        let key = Key::load().unwrap();
        let file = folder.join("members.sqlite");
        let registry = SqliteRegistry::open_or_create(file, LIMIT).unwrap();
        let member = Identity::from_seed(b"honest");
        let index = registry.register(member.commitment(), LIMIT).unwrap();
        let mut view = MembershipView::new(50);
        view.refresh(&registry).unwrap();
        Self {
            registry: Arc::new(registry),
            view: Arc::new(Mutex::new(view)),
            member,
            index,
            verifier: Verifier::new(&key),
            prover: Arc::new(Prover::new(key)),
        }
    }

    fn honest(&self, folder: &Path) -> MemberProofs {
        let relay = RelayConfig::for_network(&NetworkPreset::by_name("local").unwrap());
        MemberProofs {
            clock: MemberClock::new(&relay.rln.unwrap().policy, 0),
            identity: Identity::from_seed(b"honest"),
            index: self.index,
            limit: LIMIT,
            generation: Generation::Hashed,
            counter: MessageIdCounter::open(folder.join("counter"), LIMIT).unwrap(),
            prover: Arc::clone(&self.prover),
            view: self.view.clone(),
        }
    }

    /// Each attacker has nullifiers of its own.
    fn bad(&self, attacker: u64) -> BadProofs {
        let view = self.view.lock();
        let path = view.path(self.index);
        let request = ProofRequest {
            identity: &self.member,
            limit: LIMIT,
            path: &path,
            generation: Generation::Hashed,
            epoch: Epoch(1),
            identifier: &RlnIdentifier::WAKU,
            message_id: 0,
            x: Fr::from(1),
        };
        BadProofs {
            proof: self.prover.prove(&request).unwrap(),
            next_nullifier: attacker << 32,
        }
    }

    async fn node(
        &self,
        proofs: Option<Box<dyn ProofSource>>,
        static_peers: Vec<Multiaddr>,
    ) -> RunningNode {
        let preset = NetworkPreset::by_name("local").unwrap();
        let mut relay = RelayConfig::for_network(&preset);
        let score = relay.gossip.score.as_mut().unwrap();
        // What each bad proof costs is exact, and all of them share this address.
        score.decay_interval = NEVER;
        score.ip_colocation_weight = 0.0;
        let membership = MembershipSource::Log {
            log: Arc::clone(&self.registry) as Arc<dyn MembershipLog>,
            view: self.view.clone(),
            snapshot_file: None,
        };
        let rln = RlnOptions::new(membership, self.verifier.clone());
        let options = NodeOptions::for_network(&preset)
            .keypair(Keypair::generate_ed25519())
            .listen(["/ip4/127.0.0.1/tcp/0".parse().unwrap()])
            .relay(relay)
            .topics([topic()])
            .static_peers(static_peers)
            .connections(ConnectionLimits::with_total(50))
            .rln(rln.proofs(proofs));
        start(options).await.unwrap()
    }
}

/// Well-formed proofs of which none holds: the proof of another message under everything else.
struct BadProofs {
    proof: RateLimitProof,
    next_nullifier: u64,
}

impl ProofSource for BadProofs {
    fn prove(&mut self, epoch: Epoch, x: Fr) -> Result<RateLimitProof, ProofFailure> {
        self.next_nullifier += 1;
        Ok(RateLimitProof {
            epoch: epoch.to_bytes(),
            share_x: fr_to_le(&x),
            nullifier: fr_to_le(&Fr::from(self.next_nullifier)),
            ..self.proof.clone()
        })
    }
}

fn topic() -> PubsubTopic {
    PubsubTopic::parse("/waku/2/rs/66/0").unwrap()
}

fn message(text: String) -> WakuMessage {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    let mut message = WakuMessage::new(text.into_bytes(), "/test/1/a/proto");
    message.timestamp = Some(i64::try_from(now.as_nanos()).unwrap());
    message
}

async fn until(what: &str, mut is_so: impl AsyncFnMut() -> bool) {
    let wait = async {
        while !is_so().await {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    assert!(tokio::time::timeout(HANG, wait).await.is_ok(), "{what}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_flood_of_bad_proofs_is_cut_off_unchecked_and_honest_messages_pass() {
    let _alone = crate::FLOOD.lock().await;
    let folder = tempfile::tempdir().unwrap();
    let network = Network::new(folder.path());
    let victim = network.node(None, Vec::new()).await;
    let address = vec![victim.addresses[0].clone()];
    let honest: Box<dyn ProofSource> = Box::new(network.honest(folder.path()));
    let honest = network.node(Some(honest), address.clone()).await;
    let mut attackers = Vec::new();
    for attacker in 0..ATTACKERS {
        let bad: Box<dyn ProofSource> = Box::new(network.bad(attacker));
        attackers.push(network.node(Some(bad), address.clone()).await);
    }
    let subscribed = async || {
        let peers = victim.handle.peers().await.unwrap();
        peers.iter().filter(|peer| !peer.topics.is_empty()).count() as u64
    };
    until("all are connected", async || subscribed().await > ATTACKERS).await;

    let mut heard = victim.handle.messages(64);
    let is_over = Arc::new(AtomicBool::new(false));
    let sent = Arc::new(AtomicU64::new(0));
    let flood = attackers.iter().map(|attacker| {
        let handle = attacker.handle.clone();
        let (is_over, sent) = (Arc::clone(&is_over), Arc::clone(&sent));
        tokio::spawn(async move {
            for n in 0.. {
                if is_over.load(Ordering::Relaxed) {
                    break;
                }
                // It may have been cut off by now, and have nobody to send to.
                let _ = handle.publish(topic(), message(format!("bad {n}"))).await;
                sent.fetch_add(1, Ordering::Relaxed);
                if n >= BAD_AHEAD {
                    tokio::time::sleep(PACE).await;
                }
            }
        })
    });
    let flood: Vec<_> = flood.collect();
    for n in 0..HONEST_MESSAGES {
        let published = honest.handle.publish(topic(), message(n.to_string()));
        published.await.unwrap();
    }
    let mut texts = Vec::new();
    while texts.len() < HONEST_MESSAGES {
        let delivery = tokio::time::timeout(HANG, heard.recv()).await;
        let delivery = delivery.expect("every honest message arrives").unwrap();
        texts.push(String::from_utf8(delivery.message.payload.to_vec()).unwrap());
    }
    texts.sort_by_key(|text| text.parse::<usize>().expect("nothing else is delivered"));
    let expected: Vec<_> = (0..HONEST_MESSAGES).map(|n| n.to_string()).collect();
    assert_eq!(texts, expected);

    until("all attackers are cut off", async || {
        victim.handle.metrics().await.unwrap().totals.graylisted >= ATTACKERS
    })
    .await;
    is_over.store(true, Ordering::Relaxed);
    for attacker in flood {
        attacker.await.unwrap();
    }
    until("nothing waits", async || {
        victim.handle.metrics().await.unwrap().checks_waiting == 0
    })
    .await;
    let verifier = victim.handle.rln().await.unwrap().unwrap().verifier;
    let good = verifier.checked_total - verifier.bad_total;
    assert_eq!(good, HONEST_MESSAGES as u64);
    assert!(
        verifier.bad_total <= UNTIL_GRAYLISTED * ATTACKERS,
        "{} bad proofs were checked of {}",
        verifier.bad_total,
        sent.load(Ordering::Relaxed)
    );
    for node in attackers.into_iter().chain([honest, victim]) {
        node.stop().await;
    }
}
