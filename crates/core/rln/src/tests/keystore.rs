use std::fs;
use std::path::PathBuf;

use proptest::prelude::*;
use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng;
use serde_json::Value;
use tempfile::TempDir;

use super::*;
use crate::field::{Fr, fr_to_le};
use crate::identity::Identity;

/// Golden file made by `tests/keystore/golden.py`, which shares no code with this crate.
const GOLDEN: &str = include_str!("../../tests/keystore/golden.json");
const GOLDEN_PASSWORD: &[u8] = "correct horse \u{1f50b}".as_bytes();
const CONTRACT: &str = "0xB9cd878C90E49F797B4431fBF4fb333108CB90e6";

/// Few PBKDF2 rounds, to save time; only the golden file has the full number.
const FEW: u32 = 3;

fn rng() -> ChaCha20Rng {
    ChaCha20Rng::seed_from_u64(7)
}

fn credential(index: u32) -> KeystoreCredential {
    KeystoreCredential {
        chain_id: "59141".into(),
        contract: CONTRACT.into(),
        tree_index: index,
        limit: 20,
        identity: Identity::from_seed(&index.to_le_bytes()),
    }
}

/// Keystore whose credentials have few PBKDF2 rounds.
fn keystore(indices: &[u32], password: &[u8]) -> Keystore {
    let seal = |index: &u32| {
        let credential = credential(*index);
        let sealed = Sealed::new(&credential.to_json(), password, FEW, &mut rng());
        (credential.key(), sealed)
    };
    Keystore {
        credentials: indices.iter().map(seal).collect(),
    }
}

fn folder() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("keystore.json");
    (folder, path)
}

/// Writes a text to a file and reads it as a keystore.
fn read(text: &str) -> Result<Keystore, KeystoreError> {
    let (_folder, path) = folder();
    fs::write(&path, text).unwrap();
    Keystore::read(&path)
}

/// JSON of a keystore with one credential, of which one field is changed.
fn changed(change: impl FnOnce(&mut Value, &mut Value)) -> String {
    let (_folder, path) = folder();
    keystore(&[1], b"pw").create(&path).unwrap();
    let mut json: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    let key = credential(1).key().to_string();
    let mut entry = json["credentials"][&key].take();
    change(&mut json, &mut entry["crypto"]);
    json["credentials"][&key] = entry;
    json.to_string()
}

fn numbers(identity: &Identity) -> [Fr; 4] {
    let (trapdoor, nullifier) = (*identity.trapdoor(), *identity.nullifier());
    let (secret, commitment) = (*identity.secret(), identity.commitment());
    [trapdoor, nullifier, secret, commitment]
}

#[test]
fn a_file_made_elsewhere_is_read() {
    let keystore = read(GOLDEN).unwrap();
    let zerokits = Identity::from_seed(&[0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
    let expected = [("59141", 7, 100), ("11155111", 1_048_575, 20)];
    assert_eq!(keystore.keys().len(), expected.len());
    for (chain_id, tree_index, limit) in expected {
        let named = KeystoreCredential {
            chain_id: chain_id.into(),
            tree_index,
            ..credential(0)
        };
        let found = keystore.open(&named.key(), GOLDEN_PASSWORD).unwrap();
        assert_eq!(found.chain_id, chain_id);
        assert_eq!(found.contract, CONTRACT);
        assert_eq!((found.tree_index, found.limit), (tree_index, limit));
        assert_eq!(numbers(&found.identity), numbers(&zerokits));
    }
}

#[test]
fn with_their_salt_and_iv_our_bytes_are_theirs() {
    struct Fixed(Vec<u8>);
    impl rand_core::RngCore for Fixed {
        fn next_u32(&mut self) -> u32 {
            unreachable!("only bytes are drawn")
        }
        fn next_u64(&mut self) -> u64 {
            unreachable!("only bytes are drawn")
        }
        fn fill_bytes(&mut self, bytes: &mut [u8]) {
            bytes.copy_from_slice(&self.0.split_off(self.0.len() - bytes.len()));
        }
    }
    impl CryptoRng for Fixed {}
    let theirs = KeystoreCredential {
        tree_index: 7,
        limit: 100,
        identity: Identity::from_seed(&[0, 1, 2, 3, 4, 5, 6, 7, 8, 9]),
        ..credential(0)
    };
    // The iv is drawn first, then the salt.
    let mut drawn = Fixed((0..32).collect());
    let mut keystore = Keystore::new();
    let key = keystore
        .add(&theirs, GOLDEN_PASSWORD, &mut drawn)
        .unwrap()
        .to_string();
    let (_folder, path) = folder();
    keystore.create(&path).unwrap();
    let written = fs::read_to_string(&path).unwrap();
    let ours: Value = serde_json::from_str(&written).unwrap();
    let golden: Value = serde_json::from_str(GOLDEN).unwrap();
    assert_eq!(ours["credentials"][&key], golden["credentials"][&key]);
    for field in ["application", "appIdentifier", "version"] {
        assert_eq!(ours[field], golden[field]);
    }
    // nwaku requires the object on one line, followed by a line break.
    assert_eq!(written.find('\n'), Some(written.len() - 1));
}

#[test]
fn what_was_added_comes_back_from_the_file() {
    let (_folder, path) = folder();
    keystore(&[1, 2, 900_000], b"pw").create(&path).unwrap();
    let read = Keystore::read(&path).unwrap();
    assert_eq!(read.keys().len(), 3);
    for index in [1, 2, 900_000] {
        let expected = credential(index);
        let found = read.open(&expected.key(), b"pw").unwrap();
        assert_eq!(numbers(&found.identity), numbers(&expected.identity));
        assert_eq!((found.tree_index, found.limit), (index, 20));
    }
}

#[test]
fn a_wrong_password_opens_nothing() {
    let keystore = keystore(&[1], b"pw");
    for wrong in [&b""[..], b"pW", b"p", b"pw "] {
        let error = keystore.open(&credential(1).key(), wrong).unwrap_err();
        assert!(
            matches!(error, KeystoreError::WrongPassword { .. }),
            "{error}"
        );
    }
}

#[test]
fn passwords_change_all_together_or_not_at_all() {
    let mut mixed = keystore(&[1], b"old");
    mixed
        .credentials
        .extend(keystore(&[2], b"other").credentials);
    let error = mixed
        .change_password(b"old", b"new", &mut rng())
        .unwrap_err();
    assert!(matches!(error, KeystoreError::WrongPassword { .. }));
    mixed.open(&credential(1).key(), b"old").unwrap();

    let mut alone = keystore(&[1], b"old");
    alone.change_password(b"old", b"new", &mut rng()).unwrap();
    let key = credential(1).key();
    let opened = alone.open(&key, b"new").unwrap();
    assert_eq!(numbers(&opened.identity), numbers(&credential(1).identity));
    let error = alone.open(&key, b"old").unwrap_err();
    assert!(matches!(error, KeystoreError::WrongPassword { .. }));
    assert_eq!(alone.credentials[&key].rounds(), ROUNDS);
}

proptest! {
    /// Any change of ciphertext, MAC, salt or rounds looks like a wrong password. The format's MAC
    /// does not cover the iv, but a text garbled by a wrong iv is not a credential.
    #[test]
    fn a_changed_credential_does_not_open(field in 0..5_usize, at in 0..10_000_usize, bit in 0..4_u32) {
        let text = changed(|_, crypto| {
            let place = match field {
                0 => &mut crypto["ciphertext"],
                1 => &mut crypto["mac"],
                2 => &mut crypto["kdfparams"]["salt"],
                3 => &mut crypto["cipherparams"]["iv"],
                _ => {
                    crypto["kdfparams"]["c"] = (FEW + 1 + bit).into();
                    return;
                }
            };
            let mut digits = place.as_str().unwrap().as_bytes().to_vec();
            let at = at % digits.len();
            let digit = char::from(digits[at]).to_digit(16).unwrap() ^ (1 << bit);
            digits[at] = char::from_digit(digit, 16).unwrap() as u8;
            *place = String::from_utf8(digits).unwrap().into();
        });
        let error = read(&text).unwrap().open(&credential(1).key(), b"pw").unwrap_err();
        let as_expected = match error {
            KeystoreError::WrongPassword { .. } => field != 3,
            KeystoreError::Credential { .. } => field == 3,
            _ => false,
        };
        prop_assert!(as_expected, "{error}");
    }
}

#[test]
fn an_entry_under_another_name_is_found_out() {
    let mut swapped = keystore(&[1], b"pw");
    let sealed = swapped.credentials.remove(&credential(1).key()).unwrap();
    swapped.credentials.insert(credential(2).key(), sealed);
    let error = swapped.open(&credential(2).key(), b"pw").unwrap_err();
    let what = CredentialDefect::Name;
    assert!(matches!(error, KeystoreError::Credential { what: w, .. } if w == what));
}

#[test]
fn bounds_come_before_work() {
    for rounds in [0, MAX_ROUNDS + 1, u32::MAX] {
        let text = changed(|_, crypto| {
            crypto["kdfparams"]["c"] = rounds.into();
        });
        let error = read(&text);
        let what = SealDefect::Rounds { found: rounds };
        let error = error.unwrap_err();
        assert!(
            matches!(&error, KeystoreError::Sealed { what: w, .. } if *w == what),
            "{error}"
        );
    }
    // Each is allowed, all together are not.
    let many = |count: u32, rounds: u32| {
        let (_folder, path) = folder();
        let indices: Vec<u32> = (0..count).collect();
        keystore(&indices, b"pw").create(&path).unwrap();
        let text = fs::read_to_string(&path).unwrap();
        read(&text.replace(&format!("\"c\":{FEW}"), &format!("\"c\":{rounds}")))
    };
    let most = many(10, MAX_ROUNDS);
    let error = many(11, MAX_ROUNDS).unwrap_err();
    let total = 11 * u64::from(MAX_ROUNDS);
    assert!(
        matches!(error, KeystoreError::TooMuchWork { rounds } if rounds == total),
        "{error}"
    );
    let error = most.unwrap().add(&credential(11), b"pw", &mut rng());
    assert!(matches!(error, Err(KeystoreError::TooMuchWork { .. })));
    let long = read(&" ".repeat(MAX_FILE_BYTES as usize + 1)).unwrap_err();
    assert!(matches!(long, KeystoreError::TooLarge(_)), "{long}");
    let fits = read(&" ".repeat(MAX_FILE_BYTES as usize)).unwrap_err();
    assert!(matches!(fits, KeystoreError::NotAKeystore { .. }), "{fits}");
    let long = "00".repeat(8193);
    let error = read(&changed(|_, crypto| crypto["ciphertext"] = long.into())).unwrap_err();
    let what = SealDefect::Hex {
        field: "ciphertext",
    };
    assert!(matches!(&error, KeystoreError::Sealed { what: w, .. } if *w == what));
}

#[test]
fn other_methods_and_other_files_are_refused() {
    let method = |field: &'static str| match field {
        "prf" => changed(|_, crypto| crypto["kdfparams"]["prf"] = "hmac-sha1".into()),
        field => changed(|_, crypto| crypto[field] = "scrypt".into()),
    };
    for field in ["cipher", "kdf", "prf"] {
        let error = read(&method(field)).unwrap_err();
        let found = matches!(&error, KeystoreError::Sealed {
            what: SealDefect::Method { field: f, .. }, ..
        } if *f == field);
        assert!(found, "{field}: {error}");
    }
    for name in ["application", "appIdentifier", "version"] {
        let error = read(&changed(|json, _| json[name] = "1".into())).unwrap_err();
        let found =
            matches!(&error, KeystoreError::OtherApplication { field, .. } if *field == name);
        assert!(found, "{name}: {error}");
    }
    let bad_name = GOLDEN.replacen("\"credentials\":{\"", "\"credentials\":{\"x", 1);
    for text in ["", "{}", "[]", &GOLDEN[..300], &bad_name] {
        let error = read(text).unwrap_err();
        assert!(
            matches!(error, KeystoreError::NotAKeystore { .. }),
            "{error}"
        );
    }
}

#[test]
fn inconsistent_credentials_are_refused() {
    let good: Value = serde_json::from_slice(&credential(1).to_json()).unwrap();
    let from = |change: &dyn Fn(&mut Value)| {
        let mut json = good.clone();
        change(&mut json);
        KeystoreCredential::from_json(json.to_string().as_bytes()).unwrap_err()
    };
    let other = fr_to_le(&Fr::from(5)).to_vec();
    for field in ["idSecretHash", "idCommitment"] {
        let other = other.clone();
        let error = from(&|json| json["identityCredential"][field] = other.clone().into());
        assert_eq!(error, CredentialDefect::Inconsistent { field });
    }
    let field = "idTrapdoor";
    let error = from(&|json| json["identityCredential"][field] = vec![255; 32].into());
    assert_eq!(error, CredentialDefect::Element { field });
    let error = from(&|json| json["treeIndex"] = (1 << 20).into());
    assert_eq!(error, CredentialDefect::Index { index: 1 << 20 });
    for limit in [0, 65_536] {
        let error = from(&|json| json["userMessageLimit"] = limit.into());
        assert_eq!(error, CredentialDefect::Limit { limit });
    }
    let error = from(&|json| json["identityCredential"] = Value::Null);
    assert_eq!(error, CredentialDefect::Json);
}

#[test]
fn the_same_membership_is_added_once() {
    let mut keystore = keystore(&[1], b"pw");
    let error = keystore.add(&credential(1), b"pw", &mut rng()).unwrap_err();
    assert!(matches!(error, KeystoreError::Present { .. }), "{error}");
    assert_eq!(keystore.keys().len(), 1);
}

#[test]
fn files_are_the_owners_and_never_overwritten_by_create() {
    let (folder, path) = folder();
    keystore(&[1], b"pw").create(&path).unwrap();
    let error = Keystore::new().create(&path).unwrap_err();
    assert!(matches!(error, KeystoreError::Exists(_)), "{error}");
    assert_eq!(Keystore::read(&path).unwrap().keys().len(), 1);
    keystore(&[1, 2], b"pw").replace(&path).unwrap();
    assert_eq!(Keystore::read(&path).unwrap().keys().len(), 2);
    assert_eq!(folder.path().read_dir().unwrap().count(), 1);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    }
}

#[test]
fn debug_shows_no_secret() {
    let credential = credential(1);
    let shown = format!("{credential:?}");
    for secret in &numbers(&credential.identity)[..3] {
        assert!(!shown.contains(&secret.to_string()), "{shown}");
    }
}
