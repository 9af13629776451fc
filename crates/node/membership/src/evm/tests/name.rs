use super::*;

const ADDRESS: &str = "0xB9cd878C90E49F797B4431fBF4fb333108CB90e6";

fn name(text: &str) -> Result<ContractName, ContractNameError> {
    text.parse()
}

#[test]
fn both_forms_are_read_and_written() {
    let bare = name(ADDRESS).unwrap();
    assert_eq!((bare.chain_id, bare.to_string().as_str()), (None, ADDRESS));
    let full = format!("eip155:59141:{ADDRESS}");
    let named = name(&full).unwrap();
    assert_eq!((named.chain_id, named.address), (Some(59141), bare.address));
    assert_eq!(named.to_string(), full);
    assert_eq!(name(&full.to_lowercase()).unwrap(), named);
}

#[test]
fn each_defect_is_named() {
    let said = |text: String| name(&text).unwrap_err().to_string();
    let cases = [
        (
            format!("logos:testnet:{ADDRESS}"),
            r#""logos" is no namespace"#,
        ),
        (format!("eip155::{ADDRESS}"), r#""" is no chain id"#),
        (format!("eip155:0:{ADDRESS}"), r#""0" is no chain id"#),
        (format!("eip155:+1:{ADDRESS}"), r#""+1" is no chain id"#),
        (format!("eip155:0x1:{ADDRESS}"), r#""0x1" is no chain id"#),
        ("eip155:1".to_owned(), r#""" is no address"#),
        ("eip155:1:0x12".to_owned(), r#""0x12" is no address"#),
        (format!("eip155:1:{ADDRESS}:2"), "is no address"),
        (ADDRESS[2..].to_owned(), "is no address"),
        (String::new(), "is no address"),
    ];
    for (text, expected) in cases {
        let said = said(text.clone());
        assert!(said.contains(expected), "{text}: {said}");
    }
}

#[test]
fn the_chain_comes_from_the_name_or_from_beside_it() {
    let bare = name(ADDRESS).unwrap();
    let named = name(&format!("eip155:59141:{ADDRESS}")).unwrap();
    assert_eq!(bare.on_chain(None), Ok(None));
    let contract = named.on_chain(None).unwrap();
    assert_eq!(contract.unwrap().chain_id, 59141);
    for one in [bare, named] {
        assert_eq!(one.on_chain(Some(59141)), Ok(contract));
    }
    let (named_id, given) = (59141, 1);
    let other = ContractNameError::OtherChain {
        named: named_id,
        given,
    };
    assert_eq!(named.on_chain(Some(1)), Err(other));
}
