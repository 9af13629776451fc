//! Signed trees of node records in DNS (EIP-1459), walked without I/O of its own.
//!
//! A tree is identified by the key that signs its root and by its domain. Every other entry has the hash of its text as
//! its name, so only the holder of the key can add one.

use std::collections::BTreeSet;

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use data_encoding::BASE32_NOPAD;
use k256::ecdsa::signature::hazmat::PrehashVerifier as _;
use k256::ecdsa::{Signature, VerifyingKey};
use rand_chacha::ChaCha8Rng;
use rand_core::RngCore as _;
use sha3::{Digest as _, Keccak256};
use thiserror::Error;

use crate::record::WakuRecord;

#[cfg(test)]
#[path = "tests/tree.rs"]
mod tests;

const ROOT: &str = "enrtree-root:v1 ";
const BRANCH: &str = "enrtree-branch:";
const LINK: &str = "enrtree://";
const RECORD: &str = "enr:";

/// Bytes of an entry's hash that form its name.
const NAME_HASH_BYTES: usize = 16;

/// Bounds of a walk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TreeLimits {
    /// Maximum number of names to query.
    pub names_max: usize,
    /// Maximum number of names waiting to be queried.
    pub waiting_max: usize,
    /// Maximum number of linked trees.
    pub links_max: usize,
    /// Maximum length of an entry, bytes; the specification allows 512.
    pub text_bytes_max: usize,
}

impl Default for TreeLimits {
    fn default() -> Self {
        Self {
            names_max: 1_000,
            waiting_max: 4_000,
            links_max: 8,
            text_bytes_max: 1_024,
        }
    }
}

/// Error of a text that is not the URL of a tree.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{text:?} is no tree of node records; write enrtree://KEY@DOMAIN, as its publisher does")]
pub struct TreeUrlError {
    /// Text that was given.
    pub text: String,
}

/// URL of a tree: the key that signs it, and its domain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TreeUrl {
    key: VerifyingKey,
    domain: String,
}

impl TreeUrl {
    /// Parses the URL of a tree, `enrtree://KEY@DOMAIN`.
    ///
    /// # Errors
    /// [`TreeUrlError`] if the text has another form, or its key is invalid.
    pub fn parse(text: &str) -> Result<Self, TreeUrlError> {
        let read = || {
            let (key, domain) = text.trim().strip_prefix(LINK)?.split_once('@')?;
            let key = BASE32_NOPAD.decode(key.as_bytes()).ok()?;
            let key = VerifyingKey::from_sec1_bytes(&key).ok()?;
            let domain = domain.trim_end_matches('.').to_ascii_lowercase();
            let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_');
            let is_valid = (1..=200).contains(&domain.len()) && domain.chars().all(is_name);
            is_valid.then_some(Self { key, domain })
        };
        read().ok_or_else(|| TreeUrlError { text: text.into() })
    }

    /// Returns the domain of the tree, where its root is.
    pub fn domain(&self) -> &str {
        &self.domain
    }
}

/// Kind of entry expected in an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Expected {
    /// The signed root of a tree.
    Root(TreeUrl),
    /// Branch or record, with the domain of the tree.
    Node { domain: String },
    /// Branch or link, with the domain of the tree.
    Link { domain: String },
}

#[derive(Clone, Debug)]
struct WantedName {
    /// First label of the name; empty for a root.
    label: String,
    expected: Expected,
}

impl WantedName {
    fn name(&self) -> String {
        match &self.expected {
            Expected::Root(url) => url.domain.clone(),
            Expected::Node { domain } | Expected::Link { domain } => {
                format!("{}.{domain}", self.label)
            }
        }
    }
}

/// Reason why an entry was skipped; the operator of the name is at fault.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum TreeDefect {
    /// The name has no tree entry.
    #[error("no entry of a tree")]
    NoEntry,
    /// The root is not signed with the tree's key.
    #[error("the root is not signed with the tree's key")]
    Signature,
    /// The entry does not match the hash in its name.
    #[error("the entry's hash is not its name")]
    Hash,
    /// The entry exceeds the maximum length.
    #[error("entry of {size_bytes} bytes; at most {max_bytes} are accepted")]
    TooLong {
        /// Length of the entry, bytes.
        size_bytes: usize,
        /// Maximum length, bytes.
        max_bytes: usize,
    },
    /// The entry is malformed, or of a kind that does not belong there.
    #[error("the entry is malformed, or does not belong into this part of the tree")]
    Malformed,
}

/// Walk over trees: query [`next_name`](Self::next_name) until there is none, and pass each answer to
/// [`answer`](Self::answer).
///
/// Names are queried in random order, so that a client that stops early sees another part each time.
#[derive(Debug)]
pub struct TreeWalk {
    limits: TreeLimits,
    rng: ChaCha8Rng,
    waiting: Vec<WantedName>,
    asked: Option<WantedName>,
    /// All names queued so far, so that loops end.
    seen: BTreeSet<String>,
    names: usize,
    links: usize,
}

impl TreeWalk {
    /// Starts a walk over trees.
    pub fn new(trees: &[TreeUrl], limits: TreeLimits, rng: ChaCha8Rng) -> Self {
        let mut walk = Self {
            limits,
            rng,
            waiting: Vec::new(),
            asked: None,
            seen: BTreeSet::new(),
            names: 0,
            links: 0,
        };
        for tree in trees {
            walk.want(String::new(), Expected::Root(tree.clone()));
        }
        walk
    }

    /// Returns the next name whose TXT records to query; `None` at the end of the walk.
    pub fn next_name(&mut self) -> Option<String> {
        if self.names >= self.limits.names_max || self.waiting.is_empty() {
            return None;
        }
        self.names += 1;
        let random = usize::try_from(self.rng.next_u64() >> 1).unwrap_or_default();
        let wanted = self.waiting.swap_remove(random % self.waiting.len());
        let name = wanted.name();
        self.asked = Some(wanted);
        Some(name)
    }

    /// Handles the TXT records of the name queried last, each joined from its parts. Returns the node record among
    /// them, if the name has one.
    ///
    /// # Errors
    /// [`TreeDefect`] if the name has no valid entry; the walk continues with other names.
    pub fn answer(&mut self, texts: &[String]) -> Result<Option<WakuRecord>, TreeDefect> {
        let Some(wanted) = self.asked.take() else {
            return Ok(None);
        };
        // A domain may have TXT records unrelated to the tree.
        let is_entry = |text: &&String| text.starts_with("enrtree") || text.starts_with(RECORD);
        let text = texts.iter().find(is_entry).ok_or(TreeDefect::NoEntry)?;
        let (size_bytes, max_bytes) = (text.len(), self.limits.text_bytes_max);
        if size_bytes > max_bytes {
            return Err(TreeDefect::TooLong {
                size_bytes,
                max_bytes,
            });
        }
        if let Expected::Root(url) = wanted.expected {
            self.root(text, &url)?;
            return Ok(None);
        }
        let hash = Keccak256::digest(text);
        let label = BASE32_NOPAD.encode(&hash[..NAME_HASH_BYTES]);
        if !label.eq_ignore_ascii_case(&wanted.label) {
            return Err(TreeDefect::Hash);
        }
        if let Some(children) = text.strip_prefix(BRANCH) {
            self.branch(children, &wanted.expected);
            return Ok(None);
        }
        match wanted.expected {
            Expected::Node { .. } => {
                let record = WakuRecord::parse(text).map_err(|_| TreeDefect::Malformed)?;
                Ok(Some(record))
            }
            Expected::Link { .. } => {
                let url = TreeUrl::parse(text).map_err(|_| TreeDefect::Malformed)?;
                if self.links < self.limits.links_max {
                    self.links += 1;
                    self.want(String::new(), Expected::Root(url));
                }
                Ok(None)
            }
            Expected::Root(_) => Err(TreeDefect::Malformed),
        }
    }

    fn root(&mut self, text: &str, url: &TreeUrl) -> Result<(), TreeDefect> {
        let (signed, signature) = text.rsplit_once(" sig=").ok_or(TreeDefect::Malformed)?;
        let signature = URL_SAFE_NO_PAD.decode(signature);
        let signature = signature.map_err(|_| TreeDefect::Malformed)?;
        // The last of 65 bytes is for recovery of the key, which is known here.
        let signature = signature.get(..64).ok_or(TreeDefect::Malformed)?;
        let signature = Signature::from_slice(signature).map_err(|_| TreeDefect::Signature)?;
        let hash = Keccak256::digest(signed);
        let verified = url.key.verify_prehash(&hash, &signature);
        verified.map_err(|_| TreeDefect::Signature)?;
        let fields = signed.strip_prefix(ROOT).ok_or(TreeDefect::Malformed)?;
        for field in fields.split_ascii_whitespace() {
            let domain = url.domain.clone();
            if let Some(label) = field.strip_prefix("e=") {
                self.want(label.into(), Expected::Node { domain });
            } else if let Some(label) = field.strip_prefix("l=") {
                self.want(label.into(), Expected::Link { domain });
            }
        }
        Ok(())
    }

    fn branch(&mut self, children: &str, expected: &Expected) {
        for label in children.split(',').filter(|label| !label.is_empty()) {
            self.want(label.into(), expected.clone());
        }
    }

    fn want(&mut self, label: String, expected: Expected) {
        let is_label = label.len() <= 32 && label.chars().all(|c| c.is_ascii_alphanumeric());
        let wanted = WantedName { label, expected };
        let has_room = self.waiting.len() < self.limits.waiting_max
            && self.seen.len() < self.limits.names_max + self.limits.waiting_max;
        if is_label && has_room && self.seen.insert(wanted.name()) {
            self.waiting.push(wanted);
        }
    }
}
