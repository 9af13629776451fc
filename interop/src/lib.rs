//! Other implementations as live peers.
