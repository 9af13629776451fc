use std::collections::BTreeMap;

use k256::ecdsa::SigningKey;
use k256::ecdsa::signature::hazmat::PrehashSigner as _;
use rand_core::SeedableRng as _;

use super::*;

/// The zone of EIP-1459's example.
const ZONE: [(&str, &str); 6] = [
    (
        "",
        "enrtree-root:v1 e=JWXYDBPXYWG6FX3GMDIBFA6CJ4 l=C7HRFPF3BLGF3YR4DY5KX3SMBE seq=1 sig=o908WmNp7LibOfPsr4btQwatZJ5URBr2ZAuxvK4UWHlsB9sUOTJQaGAlLPVAhM__XJesCHxLISo94z5Z2a463gA",
    ),
    (
        "C7HRFPF3BLGF3YR4DY5KX3SMBE",
        "enrtree://AM5FCQLWIZX2QFPNJAP7VUERCCRNGRHWZG3YYHIUV7BVDQ5FDPRT2@morenodes.example.org",
    ),
    (
        "JWXYDBPXYWG6FX3GMDIBFA6CJ4",
        "enrtree-branch:2XS2367YHAXJFGLZHVAWLQD4ZY,H4FHT4B454P6UXFD7JCYQ5PWDY,MHTDO6TMUBRIA2XWG5LUDACK24",
    ),
    (
        "2XS2367YHAXJFGLZHVAWLQD4ZY",
        "enr:-HW4QOFzoVLaFJnNhbgMoDXPnOvcdVuj7pDpqRvh6BRDO68aVi5ZcjB3vzQRZH2IcLBGHzo8uUN3snqmgTiE56CH3AMBgmlkgnY0iXNlY3AyNTZrMaECC2_24YYkYHEgdzxlSNKQEnHhuNAbNlMlWJxrJxbAFvA",
    ),
    (
        "H4FHT4B454P6UXFD7JCYQ5PWDY",
        "enr:-HW4QAggRauloj2SDLtIHN1XBkvhFZ1vtf1raYQp9TBW2RD5EEawDzbtSmlXUfnaHcvwOizhVYLtr7e6vw7NAf6mTuoCgmlkgnY0iXNlY3AyNTZrMaECjrXI8TLNXU0f8cthpAMxEshUyQlK-AM0PW2wfrnacNI",
    ),
    (
        "MHTDO6TMUBRIA2XWG5LUDACK24",
        "enr:-HW4QLAYqmrwllBEnzWWs7I5Ev2IAs7x_dZlbYdRdMUx5EyKHDXp7AV5CkuPGUPdvbv1_Ms1CPfhcGCvSElSosZmyoqAgmlkgnY0iXNlY3AyNTZrMaECriawHKWdDRk2xeZkrOXBQ0dfMFLHY4eENZwdufn1S1o",
    ),
];

/// The key that signed the example's zone.
const KEY: &str = "AKPYQIUQIL7PSIACI32J7FGZW56E5FKHEFCCOFHILBIMW3M6LWXS2";

const DOMAIN: &str = "nodes.example.org";

/// Texts at names.
type Zone = BTreeMap<String, String>;

fn example() -> Zone {
    let name = |label: &str| match label {
        "" => DOMAIN.to_owned(),
        label => format!("{label}.{DOMAIN}"),
    };
    let entries = ZONE.into_iter();
    entries
        .map(|(label, text)| (name(label), text.to_owned()))
        .collect()
}

/// Result of a walk: the records, the defects, and the names asked for.
#[derive(Debug, Default)]
struct Walked {
    records: Vec<WakuRecord>,
    defects: Vec<TreeDefect>,
    names: Vec<String>,
}

fn walk(trees: &[TreeUrl], zone: &Zone) -> Walked {
    let rng = ChaCha8Rng::seed_from_u64(1);
    let mut walk = TreeWalk::new(trees, TreeLimits::default(), rng);
    let mut walked = Walked::default();
    while let Some(name) = walk.next_name() {
        let texts: Vec<String> = zone.get(&name).cloned().into_iter().collect();
        match walk.answer(&texts) {
            Ok(record) => walked.records.extend(record),
            Err(defect) => walked.defects.push(defect),
        }
        walked.names.push(name);
    }
    walked
}

fn url(key: &str) -> TreeUrl {
    TreeUrl::parse(&format!("enrtree://{key}@{DOMAIN}")).expect("a key and a domain")
}

fn label_of(text: &str) -> String {
    BASE32_NOPAD.encode(&Keccak256::digest(text)[..NAME_HASH_BYTES])
}

fn signer() -> SigningKey {
    SigningKey::from_slice(&[9; 32]).expect("a secret below the curve's order")
}

fn own_url() -> TreeUrl {
    let key = signer().verifying_key().to_sec1_point(true);
    url(&BASE32_NOPAD.encode(key.as_bytes()))
}

/// Adds an entry under its hash, which is returned.
fn add(zone: &mut Zone, text: String) -> String {
    let label = label_of(&text);
    zone.insert(format!("{label}.{DOMAIN}"), text);
    label
}

/// Adds a root that is signed with our own key.
fn sign(zone: &mut Zone, nodes: &str, links: &str) {
    let signed = format!("enrtree-root:v1 e={nodes} l={links} seq=3");
    let hash = Keccak256::digest(&signed);
    let signature: Signature = signer().sign_prehash(&hash).expect("a hash of 32 bytes");
    let mut bytes = signature.to_bytes().to_vec();
    bytes.push(0);
    let signature = URL_SAFE_NO_PAD.encode(bytes);
    zone.insert(DOMAIN.into(), format!("{signed} sig={signature}"));
}

#[test]
fn the_standards_example_is_read_whole() {
    let walked = walk(&[url(KEY)], &example());
    assert_eq!(walked.records.len(), 3, "{walked:?}");
    // The link leads to a domain that has no tree.
    assert_eq!(walked.defects, [TreeDefect::NoEntry]);
    assert!(walked.names.contains(&"morenodes.example.org".to_owned()));
    assert_eq!(walked.names.len(), 7);
}

#[test]
fn another_key_refuses_the_root_and_asks_no_further() {
    let other = url("AM5FCQLWIZX2QFPNJAP7VUERCCRNGRHWZG3YYHIUV7BVDQ5FDPRT2");
    let walked = walk(&[other], &example());
    assert_eq!(walked.defects, [TreeDefect::Signature]);
    assert_eq!(walked.names, [DOMAIN]);
}

#[test]
fn an_entry_that_is_not_its_name_is_passed_over() {
    let mut zone = example();
    let first = ZONE[3].1.to_owned();
    zone.insert(format!("{}.{DOMAIN}", ZONE[4].0), first);
    let walked = walk(&[url(KEY)], &zone);
    assert_eq!(walked.records.len(), 2);
    assert!(walked.defects.contains(&TreeDefect::Hash));
}

#[test]
fn trees_that_link_to_each_other_end() {
    let mut zone = Zone::new();
    let own = format!(
        "enrtree://{}@{DOMAIN}",
        BASE32_NOPAD.encode(signer().verifying_key().to_sec1_point(true).as_bytes())
    );
    let link = add(&mut zone, own);
    let node = add(&mut zone, ZONE[3].1.to_owned());
    sign(&mut zone, &node, &link);
    let walked = walk(&[own_url()], &zone);
    assert_eq!(walked.records.len(), 1);
    assert_eq!(walked.names.len(), 3, "each name once: {walked:?}");
}

#[test]
fn ten_thousand_branches_cost_a_bounded_number_of_questions() {
    let mut zone = Zone::new();
    let mut level: Vec<String> = (0..10_000)
        .map(|number| add(&mut zone, format!("enrtree-branch:{number:026}")))
        .collect();
    while level.len() > 1 {
        let parents = level.chunks(13);
        level = parents
            .map(|children| add(&mut zone, format!("enrtree-branch:{}", children.join(","))))
            .collect();
    }
    let nothing = add(&mut zone, "enrtree-branch:".into());
    sign(&mut zone, &level[0], &nothing);
    let walked = walk(&[own_url()], &zone);
    assert_eq!(walked.names.len(), TreeLimits::default().names_max);
}

#[test]
fn entries_in_the_wrong_part_of_a_tree_are_passed_over() {
    let mut zone = Zone::new();
    let link = add(&mut zone, format!("enrtree://{KEY}@other.example.org"));
    let node = add(&mut zone, ZONE[3].1.to_owned());
    // The subtrees are exchanged.
    sign(&mut zone, &link, &node);
    let walked = walk(&[own_url()], &zone);
    assert_eq!(walked.records, []);
    assert_eq!(
        walked.defects,
        [TreeDefect::Malformed, TreeDefect::Malformed]
    );
}

#[test]
fn long_and_strange_texts_are_passed_over() {
    let mut zone = Zone::new();
    let long = format!("enrtree-branch:{}", "A".repeat(5_000));
    let long = add(&mut zone, long);
    let strange = add(&mut zone, "enrtree-branch:../..,a b,é,".into());
    sign(&mut zone, &long, &strange);
    let walked = walk(&[own_url()], &zone);
    assert!(matches!(walked.defects[..], [TreeDefect::TooLong { .. }]));
    assert_eq!(walked.names.len(), 3, "no name was made of them");

    let no_signature = Zone::from([(
        DOMAIN.to_owned(),
        "enrtree-root:v1 e=A l=B seq=1".to_owned(),
    )]);
    assert_eq!(
        walk(&[own_url()], &no_signature).defects,
        [TreeDefect::Malformed]
    );
}

#[test]
fn other_records_of_the_domain_are_no_hindrance() {
    let rng = ChaCha8Rng::seed_from_u64(1);
    let mut walk = TreeWalk::new(&[url(KEY)], TreeLimits::default(), rng);
    assert_eq!(walk.next_name().as_deref(), Some(DOMAIN));
    let texts = ["v=spf1 -all".to_owned(), ZONE[0].1.to_owned()];
    assert_eq!(walk.answer(&texts), Ok(None));
    assert!(walk.next_name().is_some(), "the root was understood");
}

#[test]
fn texts_that_name_no_tree_are_refused() {
    for text in [
        "",
        "enrtree://",
        "enrtree://nodes.example.org",
        "enrtree://ABC@nodes.example.org",
        "enrtree://AKPYQIUQIL7PSIACI32J7FGZW56E5FKHEFCCOFHILBIMW3M6LWXS2@",
        "enrtree://AKPYQIUQIL7PSIACI32J7FGZW56E5FKHEFCCOFHILBIMW3M6LWXS2@a b",
        "https://nodes.example.org",
    ] {
        let error = TreeUrl::parse(text).expect_err("no tree").to_string();
        assert!(error.contains("enrtree://KEY@DOMAIN"), "{text}: {error}");
    }
}
