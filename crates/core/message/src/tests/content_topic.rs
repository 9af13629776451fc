use proptest::prelude::*;

use super::*;

#[test]
fn both_forms_parse_to_the_same_parts() {
    let short = ContentTopic::parse("/toychat/2/huilong/proto").unwrap();
    let full = ContentTopic::parse("/0/toychat/2/huilong/proto").unwrap();
    assert_eq!(short.application, "toychat");
    assert_eq!(short.version, "2");
    assert_eq!(short.name, "huilong");
    assert_eq!(short.encoding, "proto");
    assert!(!short.explicit_generation && full.explicit_generation);
    assert_eq!(
        ContentTopic {
            explicit_generation: false,
            ..full
        },
        short
    );
}

#[test]
fn each_fault_has_its_error() {
    let empty = |part| ContentTopicError::EmptyPart { part };
    let cases = [
        (
            "",
            ContentTopicError::NoLeadingSlash {
                topic: String::new(),
            },
        ),
        (
            "a/1/b/c",
            ContentTopicError::NoLeadingSlash {
                topic: "a/1/b/c".into(),
            },
        ),
        ("/a/1/b", ContentTopicError::PartCount { found: 3 }),
        ("/0/a/1/b/c/d", ContentTopicError::PartCount { found: 6 }),
        ("//1/b/c", empty("application")),
        ("/a//b/c", empty("version")),
        ("/a/1//c", empty("topic-name")),
        ("/a/1/b/", empty("encoding")),
        ("//a/1/b/c", empty("generation")),
        ("/0//1/b/c", empty("application")),
        ("/x/a/1/b/c", ContentTopicError::GenerationNotNumeric),
        ("/-1/a/1/b/c", ContentTopicError::GenerationNotNumeric),
        ("/1/a/1/b/c", ContentTopicError::GenerationUnsupported),
        (
            "/99999999999999999999/a/1/b/c",
            ContentTopicError::GenerationUnsupported,
        ),
    ];
    for (topic, expected) in cases {
        assert_eq!(ContentTopic::parse(topic), Err(expected), "{topic:?}");
    }
}

#[test]
fn errors_read_as_rest_clients_expect() {
    assert_eq!(
        ContentTopic::parse("nope").unwrap_err().to_string(),
        "invalid format: content-topic 'nope' must start with slash"
    );
    assert_eq!(
        ContentTopic::parse("/1/a/1/b/c").unwrap_err().to_string(),
        "Generation > 0 are not supported yet"
    );
}

proptest! {
    #[test]
    fn what_parses_is_shown_as_it_was(topic in "(/0)?(/[a-z0-9.-]{1,8}){4}") {
        prop_assert_eq!(ContentTopic::parse(&topic).unwrap().to_string(), topic);
    }

    #[test]
    fn arbitrary_text_never_panics(topic in "[/01a]{0,16}|\\PC{0,30}") {
        let _ = ContentTopic::parse(&topic);
    }
}
