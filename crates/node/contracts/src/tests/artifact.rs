use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use alloy::json_abi::JsonAbi;
use alloy::primitives::{Address, B256, Selector};
use sha2::{Digest, Sha256};

use super::*;
use crate::abi::RlnMembership::{RlnMembershipCalls, RlnMembershipErrors, RlnMembershipEvents};

fn all() -> Vec<Artifact> {
    let readers = [
        poseidon_t2,
        poseidon_t3,
        lazy_imt,
        test_token,
        price_calculator,
        membership,
        older_membership,
        proxy,
    ];
    readers.iter().map(|read| read().unwrap()).collect()
}

#[test]
fn artifacts_are_of_the_sources_beside_them() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../contracts");
    let mut paths: Vec<String> = Vec::new();
    for part in ["src", "test"] {
        let names = fs::read_dir(folder.join(part)).unwrap();
        let names = names.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        paths.extend(
            names
                .filter(|name| name.ends_with(".sol"))
                .map(|name| format!("{part}/{name}")),
        );
    }
    paths.sort();
    let mut hasher = Sha256::new();
    for path in paths {
        let content = fs::read_to_string(folder.join(&path)).unwrap();
        hasher.update(format!("{path}\n{}\n{content}", content.len()));
    }
    let sources = hex::encode(hasher.finalize());
    for artifact in all() {
        assert_eq!(
            artifact.source_sha256, sources,
            "{}: sources changed; run `npm run compile` in contracts/",
            artifact.contract
        );
        assert!(artifact.solc.starts_with("0.8.24+"), "{}", artifact.solc);
    }
}

#[test]
fn bindings_list_all_of_the_abi_and_nothing_else() {
    let abi: JsonAbi = serde_json::from_str(membership().unwrap().abi.get()).unwrap();

    let compiled: BTreeSet<Selector> = abi.functions().map(|f| f.selector()).collect();
    let listed: BTreeSet<Selector> = RlnMembershipCalls::SELECTORS
        .iter()
        .map(Selector::from)
        .collect();
    assert_eq!(listed, compiled);

    // What the libraries for proxies and ownership may throw or report is not for members.
    let errors: BTreeSet<Selector> = abi.errors().map(|e| e.selector()).collect();
    let listed: BTreeSet<Selector> = RlnMembershipErrors::SELECTORS
        .iter()
        .map(Selector::from)
        .collect();
    assert_eq!(listed, errors);

    let of_libraries = [
        "AdminChanged",
        "BeaconUpgraded",
        "Initialized",
        "OwnershipTransferred",
        "Upgraded",
    ];
    let events: BTreeSet<B256> = abi
        .events()
        .filter(|event| !of_libraries.contains(&event.name.as_str()))
        .map(|event| event.selector())
        .collect();
    let listed: BTreeSet<B256> = RlnMembershipEvents::SELECTORS
        .iter()
        .map(B256::from)
        .collect();
    assert_eq!(listed, events);
}

#[test]
fn linking_needs_all_libraries_and_leaves_no_placeholder() {
    let contract = membership().unwrap();
    let one = ("PoseidonT2", Address::repeat_byte(2));
    let two = ("PoseidonT3", Address::repeat_byte(3));
    let three = ("LazyIMT", Address::repeat_byte(4));
    assert_eq!(
        contract.linked(&[one, two]),
        Err(ArtifactError::MissingLibrary {
            contract: "RlnMembership".to_owned(),
            library: "LazyIMT".to_owned(),
        })
    );
    let code = contract.linked(&[one, two, three]).unwrap();
    for (_, address) in [one, two, three] {
        assert!(code.windows(20).any(|bytes| bytes == address.as_slice()));
    }
}

#[test]
fn code_fits_on_a_chain() {
    // EIP-3860: twice 24,576 bytes for code that deploys.
    for artifact in all() {
        assert!(
            artifact.bytecode.len() / 2 <= 2 * 24_576,
            "{}",
            artifact.contract
        );
    }
}
