//! Prefetching of a value into the processor's cache.

/// Size of a line of the cache, bytes.
#[cfg(target_arch = "x86_64")]
const LINE_BYTES: usize = 64;

/// Asks the processor to fetch the memory of a value into its cache, but not what the value refers to. Does not wait;
/// does nothing on processors without such an instruction.
#[cfg_attr(
    target_arch = "x86_64",
    expect(
        unsafe_code,
        reason = "the standard library has no stable prefetch that is safe"
    )
)]
pub fn prefetch<T: ?Sized>(value: &T) {
    #[cfg(target_arch = "x86_64")]
    for offset in (0..size_of_val(value)).step_by(LINE_BYTES) {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        let line = std::ptr::from_ref(value).cast::<i8>().wrapping_add(offset);
        // SAFETY: a prefetch has no observable effect and does not fault, whatever the address; here it is that of a
        // byte of `value`. Every processor of this architecture has the instruction (SSE).
        unsafe { _mm_prefetch::<_MM_HINT_T0>(line) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = value;
}
