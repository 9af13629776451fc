//! Members of the honest network's registry, and messages with invalid proofs.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use undertone_membership::{MemberIndex, MembershipView, RegistryError, SqliteRegistry};
use undertone_message::WakuMessage;
use undertone_rln::wire::PROOF_BYTES;
use undertone_rln::{
    Epoch, Fr, Generation, Identity, IdentityFile, Key, ProofRequest, Prover, RateLimitProof,
    RlnIdentifier, fr_to_le, signal_hash,
};

use super::{HostileError, asks};

/// Rate limit of each member, messages per epoch: more than any run publishes.
const LIMIT: u32 = 5_000;
/// Length of an epoch of the network `local`, seconds.
const EPOCH_S: u64 = 600;
/// Number of accepted roots, of which only the newest matters here.
const ROOT_WINDOW: usize = 50;
/// Number of members before the honest nodes, so that the tree is not empty.
const OTHERS: u64 = 4;

/// Registry of a network, with the members as which its nodes publish.
pub struct Members {
    folder: PathBuf,
    registry: SqliteRegistry,
    indices: Vec<MemberIndex>,
}

impl Members {
    /// Creates a registry in `folder`.
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

    /// Returns the flags of a node in this network.
    #[must_use]
    pub fn flags(&self) -> Vec<String> {
        self.flags_with(&self.folder.join("registry.sqlite"))
    }

    /// Returns the flags of a node with its own registry file.
    #[must_use]
    pub fn flags_with(&self, registry: &Path) -> Vec<String> {
        vec![
            format!("--rln-registry={}", registry.display()),
            Self::limit_flag(),
        ]
    }

    /// Returns the flag of a node that learns these members from another source.
    #[must_use]
    pub fn limit_flag() -> String {
        format!("--rln-user-message-limit={LIMIT}")
    }

    /// Creates another registry file with the same members.
    pub fn copy_to(&self, path: &Path) -> Result<SqliteRegistry, HostileError> {
        let copy = open(path)?;
        let members = self.registry.members()?;
        let members = members
            .iter()
            .map(|member| (member.commitment, member.limit));
        copy.register_all(&members.collect::<Vec<_>>())?;
        Ok(copy)
    }

    /// Opens the registry file again, for use in another task.
    pub fn reopen(&self) -> Result<SqliteRegistry, HostileError> {
        open(self.registry.path())
    }

    /// Registers a member and writes its identity into `data`, the folder of its node.
    pub fn add(&mut self, data: &Path) -> Result<Identity, HostileError> {
        let identity = identity(self.indices.len());
        std::fs::create_dir_all(data).map_err(HostileError::io("cannot make a node's folder"))?;
        IdentityFile::write(&data.join("rln-identity.json"), &identity)?;
        let index = self.registry.register(identity.commitment(), LIMIT)?;
        self.indices.push(index);
        Ok(identity)
    }

    /// Registers a member in another registry file than the network's own.
    pub fn repeat(registry: &SqliteRegistry, identity: &Identity) -> Result<(), HostileError> {
        registry.register(identity.commitment(), LIMIT)?;
        Ok(())
    }

    /// Registers a member that is not a node, and returns it. Nodes started later know it at once.
    pub fn author(&mut self, folder: &Path) -> Result<Author, HostileError> {
        let identity = self.add(folder)?;
        let mut view = MembershipView::new(ROOT_WINDOW);
        view.refresh(&self.registry)?;
        let index = self.indices.last().copied();
        Ok(Author {
            prover: Prover::new(Key::load()?),
            view,
            index: index.expect("a member was added just now"),
            identity,
            next_id: 0,
        })
    }

    /// Returns a generator of proofs that pass all checks except the pairing. Takes the time of one real
    /// proof.
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
            // A past epoch, so that the node's own messages do not reveal the secret.
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

/// Member that makes valid proofs for its own messages, outside any node.
pub struct Author {
    prover: Prover,
    view: MembershipView,
    index: MemberIndex,
    identity: Identity,
    next_id: u32,
}

impl Author {
    /// Returns a message with the present time and its proof. Takes the time of one proof.
    pub fn message(
        &mut self,
        payload: Vec<u8>,
        content_topic: &str,
    ) -> Result<WakuMessage, HostileError> {
        let now_ns = asks::now_ns();
        let proof = self.prover.prove(&ProofRequest {
            identity: &self.identity,
            limit: LIMIT,
            path: &self.view.path(self.index),
            generation: Generation::Hashed,
            epoch: Epoch::at(now_ns.unsigned_abs(), EPOCH_S),
            identifier: &RlnIdentifier::WAKU,
            message_id: self.next_id,
            x: signal_hash(&payload, content_topic, now_ns),
        })?;
        self.next_id += 1;
        Ok(WakuMessage {
            timestamp: Some(now_ns),
            rate_limit_proof: Some(proof.encode().into()),
            ..WakuMessage::new(payload, content_topic)
        })
    }
}

struct Points {
    proof: [u8; PROOF_BYTES],
    root: [u8; 32],
}

/// Generator of messages with invalid proofs; clones share the curve points.
#[derive(Clone)]
pub struct Forger(Arc<Points>);

impl Forger {
    /// Returns a message with the members' root, whose proof only the pairing check reveals as invalid.
    #[must_use]
    pub fn bad_proof(&self, number: u64, content_topic: &str) -> Vec<u8> {
        self.message(number, content_topic, self.0.root)
    }

    /// Returns a message with a Merkle root that no registry has.
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

/// Returns the identity of a node. It is the same in every run, because no deposit depends on its secret.
fn identity(node: usize) -> Identity {
    Identity::from_seed(format!("undertone hostile member {node}").as_bytes())
}
