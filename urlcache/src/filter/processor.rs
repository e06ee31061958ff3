//! What is asked of the processor beyond the language: fetching memory ahead, and wide instructions where it has them.
//!
//! The only file with unsafe code. Both are hints or choices of speed: no answer depends on them.

/// Begins to fetch the cache line of a value into the nearest cache.
#[inline]
pub(crate) fn fetch_ahead<T>(value: &T) {
    #[cfg(target_arch = "x86_64")]
    #[expect(unsafe_code, reason = "the instruction takes a pointer")]
    // SAFETY: the pointer is that of a live reference, and the instruction reads nothing that a program can see.
    unsafe {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(value).cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    std::hint::black_box(std::ptr::from_ref(value));
}

/// Work that gains by instructions that shift four words by an amount each, and count bits, at once.
pub(super) trait Work {
    /// Does it. What is to gain must be marked `inline(always)`, this function too: only what is inlined into the caller
    /// is compiled for the caller's instructions, and a closure need not be.
    fn work(self);
}

/// Does the work with those instructions, or without them where the processor has none.
pub(super) fn widely(work: impl Work) {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("popcnt") && is_x86_feature_detected!("bmi2") {
        #[expect(unsafe_code, reason = "the compiler cannot know what processor this will run on")]
        // SAFETY: the processor has the instructions that the function is compiled for.
        return unsafe { with_wide_instructions(work) };
    }
    work.work();
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,popcnt,bmi2")]
fn with_wide_instructions(work: impl Work) {
    work.work();
}
