use super::*;

/// Checked with
/// `(printf 'eip155:59144:0xb9cd878c90e49f797b4431fbf4fb333108cb90e6\0\001\002'; head -c 30 /dev/zero) | sha256sum`.
#[test]
fn the_hash_is_that_of_sha256sum() {
    let registry = "eip155:59144:0xB9cd878C90E49F797B4431fBF4fb333108CB90e6";
    let registry: RegistryName = registry.parse().unwrap();
    assert_eq!(
        membership_hash(&registry, Fr::from(0x0201)),
        "a31aca265ecf28be51d87098429e3298b7a21a795545223c2e80c38a2af56dbe"
    );
}

#[test]
fn registry_and_commitment_decide_the_hash() {
    let name = |text: &str| text.parse::<RegistryName>().unwrap();
    let hash = membership_hash(&name("other:1:a"), Fr::from(1));
    assert_ne!(hash, membership_hash(&name("other:1:b"), Fr::from(1)));
    assert_ne!(hash, membership_hash(&name("other:1:a"), Fr::from(2)));
}
