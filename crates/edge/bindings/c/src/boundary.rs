//! What crosses the boundary: texts of the program, and a status with a text for it.
#![allow(
    unsafe_code,
    reason = "C gives texts and places for answers as pointers"
)]

use std::ffi::{CStr, CString, c_char};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;

use serde::Serialize;
use serde::de::DeserializeOwned;
use undertone_bindings::NodeError;

use crate::status::UndertoneStatus;

/// Answer of a call that returns nothing, as JSON has it.
const NOTHING: &str = "null";

/// Text that the program gave as the argument `name`.
pub(crate) struct Text<'a> {
    name: &'static str,
    text: Option<&'a CStr>,
}

impl Text<'_> {
    /// Takes a text.
    ///
    /// # Safety
    /// `text` is NULL, or points to bytes up to a zero byte that stay as they are while this value is there.
    pub(crate) unsafe fn new(name: &'static str, text: *const c_char) -> Self {
        let is_given = !text.is_null();
        // SAFETY: it is not NULL, and the caller answers for the rest.
        let text = is_given.then(|| unsafe { CStr::from_ptr(text) });
        Self { name, text }
    }

    /// Returns the text; `None` for NULL.
    pub(crate) fn optional(&self) -> Result<Option<String>, NodeError> {
        let text = self.text.map(CStr::to_str).transpose();
        let text = text.map_err(|error| argument(self.name, format!("not UTF-8: {error}")))?;
        Ok(text.map(str::to_owned))
    }

    /// Returns the text, which must be given.
    pub(crate) fn required(&self) -> Result<String, NodeError> {
        let missing = || argument(self.name, "NULL; a text is needed".to_owned());
        self.optional()?.ok_or_else(missing)
    }

    /// Reads the text as JSON.
    pub(crate) fn json<T: DeserializeOwned>(&self) -> Result<T, NodeError> {
        let bad = |error| argument(self.name, format!("not the JSON that is expected: {error}"));
        serde_json::from_str(&self.required()?).map_err(bad)
    }

    /// Reads the text as JSON; NULL is an empty value.
    pub(crate) fn json_or_empty<T: DeserializeOwned + Default>(&self) -> Result<T, NodeError> {
        self.text.map_or_else(|| Ok(T::default()), |_| self.json())
    }
}

/// Makes a call, and writes its answer or its error to `answer` unless that is NULL.
///
/// # Safety
/// `answer` is NULL, or can be written to.
pub(crate) unsafe fn respond<T: Serialize>(
    answer: *mut *mut c_char,
    call: impl FnOnce() -> Result<T, NodeError>,
) -> UndertoneStatus {
    // A node has locks without poisoning, which guard what is consistent after each call.
    let outcome = catch_unwind(AssertUnwindSafe(|| call().map(|value| json(&value))));
    let (status, text) = match outcome {
        Ok(Ok(text)) => (UndertoneStatus::Ok, text),
        Ok(Err(error)) => (UndertoneStatus::from(&error), json(&error)),
        Err(_) => {
            let reason = "a defect: the library panicked, and standard error has the message";
            let error = serde_json::json!({"kind": "INTERNAL", "reason": reason});
            (UndertoneStatus::Internal, error.to_string())
        }
    };
    if !answer.is_null() {
        let text = (text != NOTHING).then(|| CString::new(text));
        let text = text.transpose().expect("JSON has a zero byte escaped");
        // SAFETY: it is not NULL, and the caller answers for the rest.
        unsafe { answer.write(text.map_or(ptr::null_mut(), CString::into_raw)) };
    }
    status
}

/// Frees a text that a call has returned. Does nothing for NULL.
///
/// # Safety
/// `text` is NULL, or came from a call of this library, and was not freed before.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn undertone_string_free(text: *mut c_char) {
    if !text.is_null() {
        // SAFETY: `respond` made it, and the caller answers for its being freed once.
        drop(unsafe { CString::from_raw(text) });
    }
}

/// Error for an argument of the call.
pub(crate) fn argument(name: &str, reason: String) -> NodeError {
    NodeError::Argument {
        argument: name.to_owned(),
        reason,
    }
}

fn json<T: Serialize>(value: &T) -> String {
    serde_json::to_string(value).expect("records have texts for keys and no values that fail")
}
