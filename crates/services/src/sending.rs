//! Accountable sending: each message ends propagated and stored, or failed with a reason.
