use super::*;
use crate::field::fr_to_le;

fn hex_be(element: &Fr) -> String {
    let mut bytes = fr_to_le(element);
    bytes.reverse();
    hex::encode(bytes)
}

/// The vector of zerokit's keygen tests (`test_extended_seeded_keygen`).
#[test]
fn seeded_identities_are_zerokits() {
    let identity = Identity::from_seed(&[0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
    assert_eq!(
        hex_be(identity.trapdoor()),
        "0766ce6c7e7a01bdf5b3f257616f603918c30946fa23480f2859c597817e6716"
    );
    assert_eq!(
        hex_be(identity.nullifier()),
        "1f18714c7bc83b5bca9e89d404cf6f2f585bc4c0f7ed8b53742b7e2b298f50b4"
    );
    assert_eq!(
        hex_be(identity.secret()),
        "2aca62aaa7abaf3686fff2caf00f55ab9462dc12db5b5d4bcf3994e671f8e521"
    );
    assert_eq!(
        hex_be(&identity.commitment()),
        "068b66aa0a8320d2e56842581553285393188714c48f9b17acd198b4f1734c5c"
    );
}

#[test]
fn generated_identities_differ() {
    let mut rng = ChaCha20Rng::from_seed([7; 32]);
    let first = Identity::generate(&mut rng);
    let second = Identity::generate(&mut rng);
    assert_ne!(first.commitment(), second.commitment());
    assert_ne!(first.trapdoor(), first.nullifier());
}

#[test]
fn the_limit_is_part_of_the_leaf() {
    let commitment = Identity::from_seed(b"a").commitment();
    assert_eq!(
        rate_commitment(commitment, 20),
        poseidon(&[commitment, Fr::from(20)])
    );
    assert_ne!(
        rate_commitment(commitment, 20),
        rate_commitment(commitment, 21)
    );
}

#[test]
fn debug_shows_no_secret() {
    let identity = Identity::from_seed(b"a");
    let shown = format!("{identity:?}");
    for secret in [identity.trapdoor(), identity.nullifier(), identity.secret()] {
        assert!(!shown.contains(&secret.to_string()), "{shown}");
    }
    assert!(
        shown.contains(&identity.commitment().to_string()),
        "{shown}"
    );
}

#[test]
fn a_file_gives_the_identity_back() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("identity.json");
    let identity = Identity::from_seed(b"file");
    IdentityFile::write(&path, &identity).unwrap();
    let read = IdentityFile::read(&path).unwrap();
    assert_eq!(read.trapdoor(), identity.trapdoor());
    assert_eq!(read.nullifier(), identity.nullifier());
    assert_eq!(read.secret(), identity.secret());
    assert_eq!(read.commitment(), identity.commitment());
    let names: Vec<_> = folder
        .path()
        .read_dir()
        .unwrap()
        .map(|e| e.unwrap().path())
        .collect();
    assert_eq!(names, [path], "no temporary file may stay behind");
}

#[cfg(unix)]
#[test]
fn a_file_is_readable_by_its_owner_only() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("identity.json");
    IdentityFile::write(&path, &Identity::from_seed(b"mode")).unwrap();
    assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o600);
}

#[test]
fn an_existing_file_is_never_overwritten() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("identity.json");
    IdentityFile::write(&path, &Identity::from_seed(b"first")).unwrap();
    let error = IdentityFile::write(&path, &Identity::from_seed(b"second")).unwrap_err();
    assert!(matches!(error, IdentityFileError::Exists(_)), "{error}");
    let kept = IdentityFile::read(&path).unwrap();
    assert_eq!(
        kept.commitment(),
        Identity::from_seed(b"first").commitment()
    );
}

#[test]
fn damaged_files_are_refused_for_their_own_reason() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("identity.json");
    let good = serde_json::to_string(&IdentityFile::from(&Identity::from_seed(b"a"))).unwrap();
    let other = IdentityFile::from(&Identity::from_seed(b"b"));
    let other: serde_json::Value = serde_json::to_value(&other).unwrap();
    let with = |field: &str, value: &str| {
        let mut json: serde_json::Value = serde_json::from_str(&good).unwrap();
        json[field] = value.into();
        json.to_string()
    };
    let read = |text: &str| {
        std::fs::write(&path, text).unwrap();
        IdentityFile::read(&path).unwrap_err()
    };

    let error = read(&good[..good.len() - 1]);
    assert!(
        matches!(error, IdentityFileError::NotAnIdentity { .. }),
        "{error}"
    );
    let error = read(&" ".repeat(5000));
    assert!(matches!(error, IdentityFileError::TooLarge(_)), "{error}");
    for field in ["trapdoor", "nullifier", "secret", "commitment"] {
        for bad in ["", "xyz", &"f".repeat(64)] {
            let error = read(&with(field, bad));
            let found =
                matches!(&error, IdentityFileError::BadElement { field: f, .. } if *f == field);
            assert!(found, "{field} {bad:?}: {error}");
        }
    }
    for field in ["secret", "commitment"] {
        let error = read(&with(field, other[field].as_str().unwrap()));
        let found =
            matches!(&error, IdentityFileError::Inconsistent { field: f, .. } if *f == field);
        assert!(found, "{field}: {error}");
    }
    let error = IdentityFile::read(&folder.path().join("none")).unwrap_err();
    assert!(matches!(error, IdentityFileError::Io { .. }), "{error}");
}
