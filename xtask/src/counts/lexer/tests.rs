use super::*;

fn words(text: &str) -> Vec<&str> {
    let words = lexemes(text).into_iter().filter_map(|lexeme| match lexeme {
        Lexeme::Word(word) => Some(word),
        Lexeme::Mark(_) => None,
    });
    words.collect()
}

#[test]
fn comments_and_literals_hold_no_words() {
    let text = "// struct A\n/* struct B /* inner */ still */ /// struct C\nlet a = \"struct \\\" D\";\n\
        let b = r#\"struct \" E\"#; let c = b\"F\"; let d = 'x'; let e = '\\''; let f = 17_u32;";
    assert_eq!(
        words(text),
        [
            "let", "a", "let", "b", "let", "c", "let", "d", "let", "e", "let", "f"
        ]
    );
}

#[test]
fn lifetimes_are_no_characters_and_raw_identifiers_are_words() {
    assert_eq!(
        words("fn f<'a>(r#type: &'a str)"),
        ["fn", "f", "a", "type", "a", "str"]
    );
    assert_eq!(
        lexemes("a::b"),
        [
            Lexeme::Word("a"),
            Lexeme::Mark(':'),
            Lexeme::Mark(':'),
            Lexeme::Word("b"),
        ]
    );
}

#[test]
fn text_that_ends_in_the_middle_is_read_to_its_end() {
    for text in ["a \"b", "a r#\"b\"", "a /* b", "a '", "a '\\", "ä // b"] {
        assert_eq!(lexemes(text).len(), 1, "{text}");
    }
}
