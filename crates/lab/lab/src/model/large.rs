//! Large messages over several hops: the formulas of *Large Message Handling in GossipSub* (vac forum),
//! and where they differ from textbook pipelining.

/// Time that one message takes to cross `hops` links, if each node forwards it when it is complete:
/// `tau_tx = (S/R) H`, milliseconds.
pub fn store_and_forward_ms(size_bytes: f64, rate_bytes_per_ms: f64, hops: u32) -> f64 {
    size_bytes / rate_bytes_per_ms * f64::from(hops)
}

/// Time that a message in `fragments` takes, as published: `(S/R) (2H-1) / n`, milliseconds.
pub fn fragmented_published_ms(
    size_bytes: f64,
    rate_bytes_per_ms: f64,
    hops: u32,
    fragments: u32,
) -> f64 {
    let hops = f64::from(hops);
    size_bytes / rate_bytes_per_ms * (2.0 * hops - 1.0) / f64::from(fragments)
}

/// Time that a message in `fragments` takes as a pipeline: `(S/R) (H-1+n) / n`, milliseconds. The first
/// fragment crosses all hops, the others follow one behind another.
///
/// Equal to [`fragmented_published_ms`] when `n = H`. With fewer fragments the published formula gives a
/// longer time; with more, a shorter one, which tends to 0 where the pipeline tends to `S/R`, the time
/// that any link needs for the whole message.
pub fn fragmented_pipeline_ms(
    size_bytes: f64,
    rate_bytes_per_ms: f64,
    hops: u32,
    fragments: u32,
) -> f64 {
    let (hops, fragments) = (f64::from(hops), f64::from(fragments));
    size_bytes / rate_bytes_per_ms * (hops - 1.0 + fragments) / fragments
}

/// One row of the comparison of the two formulas.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct LargeRow {
    /// Number of fragments of the message.
    pub fragments: u32,
    /// Time by the published formula, milliseconds.
    pub published_ms: f64,
    /// Time of the pipeline, milliseconds.
    pub pipeline_ms: f64,
}

/// Both formulas for 1, 2, 4, … 64 fragments.
pub fn table(size_bytes: f64, rate_bytes_per_ms: f64, hops: u32) -> Vec<LargeRow> {
    (0..7)
        .map(|power| {
            let fragments = 1 << power;
            let published_ms =
                fragmented_published_ms(size_bytes, rate_bytes_per_ms, hops, fragments);
            LargeRow {
                fragments,
                // The published formula is for several fragments; one fragment is the whole message.
                published_ms: if fragments == 1 {
                    store_and_forward_ms(size_bytes, rate_bytes_per_ms, hops)
                } else {
                    published_ms
                },
                pipeline_ms: fragmented_pipeline_ms(size_bytes, rate_bytes_per_ms, hops, fragments),
            }
        })
        .collect()
}
