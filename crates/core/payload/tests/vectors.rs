//! Golden vectors exchanged with the npm package `@waku/message-encryption` 0.0.27 (`vectors/vectors.mjs`).
#![expect(
    clippy::unwrap_used,
    reason = "helpers of tests, which clippy takes for other code"
)]

use rand_core::{CryptoRng, RngCore};
use serde::Deserialize;
use sha2::{Digest as _, Sha256};
use undertone_payload::{PayloadLimits, PublicKey, SecretKey, SymmetricKey};

const THEIRS: &str = include_str!("vectors/message-encryption.json");
const OURS: &str = include_str!("vectors/undertone.json");

/// Vectors of one implementation.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Vectors {
    key: String,
    reader: String,
    signer: String,
    signer_public: String,
    cases: Vec<Case>,
}

#[derive(Deserialize)]
struct Case {
    kind: String,
    signed: bool,
    length: usize,
    sha256: Option<String>,
    sealed: Option<String>,
}

/// The script's random numbers: SHA-256 of a counter, given out byte by byte.
struct Stream {
    counter: u64,
    rest: Vec<u8>,
}

impl Stream {
    fn from(counter: u64) -> Self {
        let rest = Vec::new();
        Self { counter, rest }
    }
}

impl RngCore for Stream {
    fn next_u32(&mut self) -> u32 {
        unreachable!("the crate draws bytes")
    }

    fn next_u64(&mut self) -> u64 {
        unreachable!("the crate draws bytes")
    }

    fn fill_bytes(&mut self, bytes: &mut [u8]) {
        while self.rest.len() < bytes.len() {
            self.rest.extend(Sha256::digest(self.counter.to_be_bytes()));
            self.counter += 1;
        }
        let rest = self.rest.split_off(bytes.len());
        bytes.copy_from_slice(&self.rest);
        self.rest = rest;
    }
}

impl CryptoRng for Stream {}

impl Vectors {
    fn of(text: &str) -> Self {
        serde_json::from_str(text).unwrap()
    }

    fn shared(&self) -> SymmetricKey {
        SymmetricKey::from_slice(&hex::decode(&self.key).unwrap()).unwrap()
    }

    fn reader(&self) -> SecretKey {
        SecretKey::from_slice(&hex::decode(&self.reader).unwrap()).unwrap()
    }

    fn signer(&self) -> SecretKey {
        SecretKey::from_slice(&hex::decode(&self.signer).unwrap()).unwrap()
    }

    fn seal(&self, case: &Case, rng: &mut impl CryptoRng) -> Vec<u8> {
        let signer = self.signer();
        let signer = case.signed.then_some(&signer);
        let payload = payload(case.length);
        let sealed = match case.kind.as_str() {
            "symmetric" => self.shared().seal(&payload, signer, rng),
            _ => self.reader().public_key().seal(&payload, signer, rng),
        };
        sealed.unwrap()
    }

    fn assert_opens(&self, case: &Case, sealed: &[u8]) {
        let limits = PayloadLimits::default();
        let opened = match case.kind.as_str() {
            "symmetric" => self.shared().open(sealed, &limits),
            _ => self.reader().open(sealed, &limits),
        };
        let opened = opened.unwrap();
        assert_eq!(opened.payload, payload(case.length));
        let public = PublicKey::from_slice(&hex::decode(&self.signer_public).unwrap()).unwrap();
        assert_eq!(opened.signed_by, case.signed.then_some(public));
    }
}

fn payload(length: usize) -> Vec<u8> {
    // Truncation to the low byte is intended.
    (0..length).map(|i| (7 * i + length) as u8).collect()
}

#[test]
fn the_same_random_numbers_give_the_packages_bytes() {
    let vectors = Vectors::of(THEIRS);
    assert_eq!(vectors.cases.len(), 48);
    for case in &vectors.cases {
        let name = format!("{} {} {}", case.kind, case.signed, case.length);
        let sealed = vectors.seal(case, &mut Stream::from(0));
        if let Some(theirs) = &case.sealed {
            assert_eq!(hex::encode(&sealed), *theirs, "{name}");
        }
        let digest = hex::encode(Sha256::digest(&sealed));
        assert_eq!(Some(digest), case.sha256, "{name}");
    }
}

#[test]
fn what_the_package_sealed_is_opened() {
    let vectors = Vectors::of(THEIRS);
    let sealed = |case: &Case| hex::decode(case.sealed.as_ref()?).ok();
    let cases = vectors.cases.iter();
    let theirs = cases.filter_map(|case| Some((case, sealed(case)?)));
    let theirs: Vec<_> = theirs.collect();
    for (case, sealed) in &theirs {
        vectors.assert_opens(case, sealed);
    }
    assert_eq!(theirs.len(), 40);
}

/// The file that the package opens with `vectors.mjs check`, made with other random numbers than the
/// package's own.
#[test]
fn what_the_package_opens_is_what_is_sealed() {
    let (theirs, ours) = (Vectors::of(THEIRS), Vectors::of(OURS));
    let mut rng = Stream::from(1 << 32);
    let mut rows = Vec::new();
    for case in theirs.cases.iter().filter(|case| case.sealed.is_some()) {
        let sealed = theirs.seal(case, &mut rng);
        theirs.assert_opens(case, &sealed);
        rows.push(format!(
            r#"{{"kind":"{}","signed":{},"length":{},"sealed":"{}"}}"#,
            case.kind,
            case.signed,
            case.length,
            hex::encode(sealed)
        ));
    }
    let keys = format!(
        r#""key":"{}","reader":"{}","signer":"{}","signerPublic":"{}""#,
        theirs.key, theirs.reader, theirs.signer, theirs.signer_public
    );
    let text = format!("{{{keys},\"cases\":[\n{}\n]}}\n", rows.join(",\n"));
    if text != OURS || ours.cases.len() != rows.len() {
        let path = concat!(env!("CARGO_TARGET_TMPDIR"), "/undertone.json");
        std::fs::write(path, text).unwrap();
        panic!("vectors/undertone.json is not what this crate makes, which is in {path}");
    }
}
