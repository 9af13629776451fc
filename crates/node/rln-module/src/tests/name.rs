use super::*;

fn name(text: &str) -> Result<RegistryName, RegistryNameError> {
    text.parse()
}

/// Addresses from the text of EIP-55.
const CHECKSUMMED: [&str; 4] = [
    "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed",
    "0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359",
    "0xdbF03B407c01E7cD3CBea99509d93f8DDDC8C6FB",
    "0xD1220A0cf47c7B9Be7A2E6BA89F429762e7b9aDb",
];

#[test]
fn an_address_has_one_spelling() {
    for address in CHECKSUMMED {
        let lower = address.to_lowercase();
        let canonical = format!("eip155:59144:{lower}");
        let upper = format!("0x{}", lower[2..].to_uppercase());
        for written in [address, &lower, &upper] {
            let read = name(&format!("eip155:59144:{written}")).unwrap();
            assert_eq!(read.as_str(), canonical);
        }
        let typo = format!("0x{}", swap_first_letter(&address[2..]));
        let refused = name(&format!("eip155:1:{typo}"));
        assert_eq!(refused, Err(RegistryNameError::Checksum { found: typo }));
    }
}

fn swap_first_letter(digits: &str) -> String {
    let at = digits.find(|c: char| c.is_ascii_alphabetic()).unwrap();
    let letter = &digits[at..=at];
    let other = match letter == letter.to_uppercase() {
        true => letter.to_lowercase(),
        false => letter.to_uppercase(),
    };
    format!("{}{other}{}", &digits[..at], &digits[at + 1..])
}

#[test]
fn every_namespace_has_its_spelling_and_others_are_left_alone() {
    let account = "AB".repeat(32);
    let cases = [
        (
            format!("logos:TestNet:{account}"),
            format!("logos:testnet:{}", account.to_lowercase()),
        ),
        (
            format!("utone:file:{}", &account[..32]),
            format!("utone:file:{}", account[..32].to_lowercase()),
        ),
        (
            "cosmos:cosmoshub-3:Cosmos1.A%2D-b".to_owned(),
            "cosmos:cosmoshub-3:Cosmos1.A%2D-b".to_owned(),
        ),
    ];
    for (written, canonical) in cases {
        let read = name(&written).unwrap();
        assert_eq!(read.to_string(), canonical);
        assert_eq!(
            name(&canonical),
            Ok(read),
            "reading it again changes nothing"
        );
    }
    let name = name("cosmos:cosmoshub-3:abc").unwrap();
    let parts = (name.namespace(), name.reference(), name.account());
    assert_eq!(parts, ("cosmos", "cosmoshub-3", "abc"));
    let file = RegistryName::of_file(RegistryId([0x5a; 16]));
    assert_eq!(file.as_str().parse(), Ok(file));
}

#[test]
fn each_defect_is_named() {
    let digits = "ab".repeat(32);
    let cases = [
        ("eip155:1".to_owned(), "is no CAIP-10 identifier"),
        (String::new(), "is no CAIP-10 identifier"),
        ("ab:1:x".to_owned(), "is no namespace by CAIP-10"),
        ("undertone:1:x".to_owned(), "is no namespace by CAIP-10"),
        ("EIP155:1:0x".to_owned(), "is no namespace by CAIP-10"),
        ("other::x".to_owned(), "is no reference by CAIP-10"),
        (
            format!("other:{}:x", "r".repeat(33)),
            "is no reference by CAIP-10",
        ),
        ("other:1:".to_owned(), "is no account by CAIP-10"),
        ("other:1:a:b".to_owned(), "is no account by CAIP-10"),
        ("other:1:ä".to_owned(), "is no account by CAIP-10"),
        (
            format!("other:1:{}", "a".repeat(129)),
            "is no account by CAIP-10",
        ),
        (
            format!("eip155:01:{}", CHECKSUMMED[0]),
            "\"01\" is no reference of namespace eip155",
        ),
        (
            format!("eip155:0x1:{}", CHECKSUMMED[0]),
            "\"0x1\" is no reference",
        ),
        (
            format!("eip155:99999999999999999999:{}", CHECKSUMMED[0]),
            "is no reference of namespace eip155",
        ),
        (
            format!("eip155:1:{}", &CHECKSUMMED[0][2..]),
            "is no account of namespace eip155",
        ),
        ("eip155:1:0x12".to_owned(), "is no account of namespace"),
        (
            format!("logos:testnet:0x{}", &digits[2..]),
            "is no account of namespace logos",
        ),
        (
            format!("logos:testnet:{}", &digits[1..]),
            "is no account of namespace logos",
        ),
        (
            format!("utone:sqlite:{}", &digits[..32]),
            "is no reference of namespace utone",
        ),
        (
            format!("utone:file:{digits}"),
            "is no account of namespace utone",
        ),
    ];
    for (text, expected) in cases {
        let said = name(&text).unwrap_err().to_string();
        assert!(said.contains(expected), "{text}: {said}");
    }
}
