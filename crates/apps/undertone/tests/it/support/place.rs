//! A folder to run the program in, and what can be said of a run.

use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use serde_json::Value;
use tempfile::TempDir;

/// In the middle of an epoch of 600 s.
pub(crate) const T: u64 = 1_700_000_100_000_000_000;
pub(crate) const EPOCH_NS: u64 = 600_000_000_000;
pub(crate) const TOPIC: &str = "/test/1/a/proto";

/// A folder to run the program in.
pub(crate) struct Place(pub(crate) TempDir);

/// What the program did.
#[derive(Debug)]
pub(crate) struct Ran {
    #[expect(dead_code, reason = "shown when an assertion fails")]
    line: String,
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Place {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    /// A registry with the member `alice`, who has this limit, and her registration.
    pub(crate) fn with_member(limit: u32) -> (Self, Value) {
        let place = Self::new();
        place.run("rln keygen --out alice").succeeded();
        let line = format!("rln register --registry r --identity alice --limit {limit} --json");
        let registered = place.run(&line).json(0);
        (place, registered)
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub(crate) fn exists(&self, name: &str) -> bool {
        self.path(name).exists()
    }

    pub(crate) fn run(&self, line: &str) -> Ran {
        self.run_with(line, "")
    }

    pub(crate) fn run_with(&self, line: &str, stdin: &str) -> Ran {
        let mut child = Command::new(env!("CARGO_BIN_EXE_undertone"))
            .args(line.split_whitespace())
            .current_dir(self.0.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        // A program that does not read its input closes it; what it says is looked at below.
        let _ = child.stdin.take().unwrap().write_all(stdin.as_bytes());
        let output = child.wait_with_output().unwrap();
        Ran {
            line: line.to_owned(),
            code: output.status.code().unwrap(),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }

    pub(crate) fn prove(&self, time_ns: u64, more: &str) -> Ran {
        self.run(&format!(
            "rln prove --registry r --identity alice --counter c --network local \
             --content-topic {TOPIC} --timestamp-ns {time_ns} --json {more}"
        ))
    }

    pub(crate) fn verify(&self, message_hex: &str, more: &str) -> Ran {
        let line = format!("rln verify --registry r --message - --json {more}");
        self.run_with(&line, message_hex)
    }
}

impl Ran {
    /// Asserts success without a word on standard error.
    pub(crate) fn succeeded(&self) -> &Self {
        assert_eq!((self.code, self.stderr.as_str()), (0, ""), "{self:?}");
        self
    }

    /// Asserts the exit code; the JSON object printed.
    pub(crate) fn json(&self, code: i32) -> Value {
        assert_eq!(self.code, code, "{self:?}");
        let value: Value = serde_json::from_str(&self.stdout).unwrap_or_else(|error| {
            panic!("{error} in {self:?}");
        });
        assert!(value.is_object(), "{self:?}");
        value
    }

    /// Asserts that it failed, printed no result, and said all this.
    pub(crate) fn failed(&self, code: i32, said: &[&str]) {
        assert_eq!((self.code, self.stdout.as_str()), (code, ""), "{self:?}");
        assert!(self.stderr.starts_with("error: "), "{self:?}");
        for text in said {
            assert!(self.stderr.contains(text), "{text:?} not in {self:?}");
        }
    }
}

pub(crate) fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_else(|| panic!("no text: {value}"))
}
