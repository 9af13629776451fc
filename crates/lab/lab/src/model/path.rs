//! Equation 1 of *Message Latency in Waku Relay with Rate Limiting Nullifiers*: latency along a path.

/// Latency of one hop, milliseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HopLatency {
    /// Transmission from the previous node: delay and serialisation.
    pub transmission_ms: f64,
    /// Validation at the receiving node.
    pub validation_ms: f64,
}

/// Equation 1: `L = Lg(0) + sum (Lt(i-1 -> i) + Lv(i))`, milliseconds.
pub fn latency_ms(generation_ms: f64, hops: &[HopLatency]) -> f64 {
    hops.iter().fold(generation_ms, |sum, hop| {
        sum + hop.transmission_ms + hop.validation_ms
    })
}
