//! Members of the honest network's rate limit, and proofs that are none.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use undertone_membership::{MemberIndex, MembershipView, Registry, RegistryError, SqliteRegistry};
use undertone_message::WakuMessage;
use undertone_rln::wire::PROOF_BYTES;
use undertone_rln::{
    Epoch, Fr, Generation, Identity, IdentityFile, Key, ProofRequest, Prover, RateLimitProof,
    RlnIdentifier, fr_to_le, signal_hash,
};

use super::HostileError;

/// Messages per epoch of each member: more than any run publishes.
const LIMIT: u32 = 5_000;
/// Length of an epoch of the network `local`, seconds.
const EPOCH_S: u64 = 600;
/// Roots that are accepted; only the newest is looked at here.
const ROOT_WINDOW: usize = 50;
/// Members before the honest nodes, so that the tree is not empty.
const OTHERS: u64 = 4;

/// The registry of a network and the members that its nodes publish as.
pub struct Members {
    folder: PathBuf,
    registry: SqliteRegistry,
    indices: Vec<MemberIndex>,
}

impl Members {
    /// A registry in `folder`.
    pub fn new(folder: &Path) -> Result<Self, HostileError> {
        let registry = open(&folder.join("registry.sqlite"))?;
        let others = (1..=OTHERS).map(|other| (Fr::from(other), LIMIT));
        registry.register_all(&others.collect::<Vec<_>>())?;
        Ok(Self {
            folder: folder.to_owned(),
            registry,
            indices: Vec::new(),
        })
    }

    /// Flags of a node in this network.
    #[must_use]
    pub fn flags(&self) -> Vec<String> {
        self.flags_with(&self.folder.join("registry.sqlite"))
    }

    /// Flags of a node with a registry file of its own.
    #[must_use]
    pub fn flags_with(&self, registry: &Path) -> Vec<String> {
        vec![
            format!("--rln-registry={}", registry.display()),
            format!("--rln-user-message-limit={LIMIT}"),
        ]
    }

    /// Another registry file with the same members.
    pub fn copy_to(&self, path: &Path) -> Result<SqliteRegistry, HostileError> {
        let copy = open(path)?;
        let members = self.registry.members()?;
        let members = members
            .iter()
            .map(|member| (member.commitment, member.limit));
        copy.register_all(&members.collect::<Vec<_>>())?;
        Ok(copy)
    }

    /// The registry file once more, for a task of its own.
    pub fn reopen(&self) -> Result<SqliteRegistry, HostileError> {
        open(self.registry.path())
    }

    /// Makes a node, whose folder is `data`, a member that may publish.
    pub fn add(&mut self, data: &Path) -> Result<Identity, HostileError> {
        let identity = identity(self.indices.len());
        std::fs::create_dir_all(data).map_err(HostileError::io("cannot make a node's folder"))?;
        IdentityFile::write(&data.join("rln-identity.json"), &identity)?;
        let index = self.registry.register(identity.commitment(), LIMIT)?;
        self.indices.push(index);
        Ok(identity)
    }

    /// Registers a member in another registry file too.
    pub fn repeat(registry: &SqliteRegistry, identity: &Identity) -> Result<(), HostileError> {
        registry.register(identity.commitment(), LIMIT)?;
        Ok(())
    }

    /// What makes proofs that pass all checks but the pairing. Takes the time of one real proof.
    pub fn forger(&self) -> Result<Forger, HostileError> {
        let mut view = MembershipView::new(ROOT_WINDOW);
        view.refresh(&self.registry)?;
        let index = self.indices.first().copied();
        let index = index.expect("a forger takes its curve points from a member's proof");
        let prover = Prover::new(Key::load()?);
        let proof = prover.prove(&ProofRequest {
            identity: &identity(0),
            limit: LIMIT,
            path: &view.path(index),
            generation: Generation::Hashed,
            // Long over, so that the member's secret is safe from its own node's messages.
            epoch: Epoch(0),
            identifier: &RlnIdentifier::WAKU,
            message_id: 0,
            x: Fr::from(1_u64),
        })?;
        Ok(Forger(Arc::new(Points {
            proof: proof.proof,
            root: proof.merkle_root,
        })))
    }
}

struct Points {
    proof: [u8; PROOF_BYTES],
    root: [u8; 32],
}

/// Makes messages whose proofs are none. Clones share the curve points.
#[derive(Clone)]
pub struct Forger(Arc<Points>);

impl Forger {
    /// A message with the members' root: only the pairing shows that its proof is none.
    #[must_use]
    pub fn bad_proof(&self, number: u64, content_topic: &str) -> Vec<u8> {
        self.message(number, content_topic, self.0.root)
    }

    /// A message with a root that nobody has.
    #[must_use]
    pub fn made_up_root(&self, number: u64, content_topic: &str) -> Vec<u8> {
        let root = fr_to_le(&Fr::from((1_u64 << 40) + number));
        self.message(number, content_topic, root)
    }

    fn message(&self, number: u64, content_topic: &str, merkle_root: [u8; 32]) -> Vec<u8> {
        let since = SystemTime::now().duration_since(UNIX_EPOCH);
        let now_ns = since.unwrap_or_default().as_nanos();
        let now_ns = i64::try_from(now_ns).unwrap_or(i64::MAX);
        let payload = number.to_be_bytes();
        let x = signal_hash(&payload, content_topic, now_ns);
        let proof = RateLimitProof {
            proof: self.0.proof,
            merkle_root,
            epoch: Epoch::at(now_ns.unsigned_abs(), EPOCH_S).to_bytes(),
            share_x: fr_to_le(&x),
            share_y: fr_to_le(&Fr::from(number)),
            nullifier: fr_to_le(&Fr::from((1_u64 << 41) + number)),
            rln_identifier: RlnIdentifier::WAKU.0,
        };
        let message = WakuMessage {
            timestamp: Some(now_ns),
            rate_limit_proof: Some(proof.encode().into()),
            ..WakuMessage::new(payload.to_vec(), content_topic)
        };
        message.encode()
    }
}

fn open(path: &Path) -> Result<SqliteRegistry, HostileError> {
    let opened = SqliteRegistry::open_or_create(path, LIMIT);
    Ok(opened.map_err(RegistryError::from)?)
}

/// The identity of a node, the same in every run: nothing of value is behind it.
fn identity(node: usize) -> Identity {
    Identity::from_seed(format!("undertone hostile member {node}").as_bytes())
}
