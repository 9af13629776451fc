//! Tests of what a program cannot bring about; the others are programs in C (`tests/c.rs`).

use std::ffi::{CStr, c_char};
use std::ptr;

use undertone_bindings::NodeError;

use crate::UndertoneStatus;
use crate::boundary::{respond, undertone_string_free};

#[test]
#[allow(unsafe_code, reason = "as a program in C calls")]
fn a_panic_is_a_status_and_an_error() {
    let mut answer: *mut c_char = ptr::null_mut();
    let panics = || -> Result<(), NodeError> { panic!("on purpose") };
    // SAFETY: `answer` can be written to, is a text afterwards, and is freed once.
    let (status, text) = unsafe {
        let status = respond(&raw mut answer, panics);
        let text = CStr::from_ptr(answer).to_str().unwrap().to_owned();
        undertone_string_free(answer);
        (status, text)
    };
    assert_eq!(status, UndertoneStatus::Internal);
    assert!(
        text.starts_with(r#"{"kind":"INTERNAL","reason":"#),
        "{text}"
    );
}

/// The program compares numbers, and `kind` is the same for people.
#[test]
fn a_status_is_named_as_the_kind_of_the_error() {
    let reason = String::new;
    let (key, argument) = (reason(), reason());
    let errors = [
        (
            UndertoneStatus::Configuration,
            NodeError::Configuration {
                key,
                reason: reason(),
            },
        ),
        (
            UndertoneStatus::Start,
            NodeError::Start { reason: reason() },
        ),
        (
            UndertoneStatus::Argument,
            NodeError::Argument {
                argument,
                reason: reason(),
            },
        ),
        (
            UndertoneStatus::NoPeers,
            NodeError::NoPeers { reason: reason() },
        ),
        (UndertoneStatus::Peer, NodeError::Peer { reason: reason() }),
        (
            UndertoneStatus::RateLimit,
            NodeError::RateLimit {
                reason: reason(),
                resets_in_s: 1,
            },
        ),
        (
            UndertoneStatus::Membership,
            NodeError::Membership { reason: reason() },
        ),
        (
            UndertoneStatus::Unavailable,
            NodeError::Unavailable { reason: reason() },
        ),
        (UndertoneStatus::Stopped, NodeError::Stopped),
    ];
    for (status, error) in errors {
        assert_eq!(UndertoneStatus::from(&error), status);
        let kind = serde_json::to_value(&error).unwrap()["kind"].to_string();
        let name = format!("{status:?}").to_uppercase();
        assert_eq!(kind.replace(['_', '"'], ""), name);
    }
}
