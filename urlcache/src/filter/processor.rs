//! What is asked of the processor beyond the language: fetching memory ahead, and wide instructions where it has them.
//!
//! The only file with unsafe code. All of it is hints or choices of speed: no answer depends on them.

#[cfg(target_arch = "x86_64")]
use std::sync::atomic::Ordering::Relaxed;

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

/// What a change of eight words does to their set bits.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Change {
    /// Bits that were set.
    pub(super) added: u64,
    /// The product of the eight numbers of set bits before, at most 2^48.
    pub(super) before: f64,
    /// The same afterwards.
    pub(super) after: f64,
}

/// How the bits of words are counted.
pub(super) trait Counting {
    /// What is different between the words before and after.
    fn change(before: &[u64; 8], after: &[u64; 8]) -> Change;
}

/// One word after the other.
pub(super) struct WordByWord;

impl Counting for WordByWord {
    #[expect(clippy::inline_always, reason = "see `Work`")]
    #[inline(always)]
    fn change(before: &[u64; 8], after: &[u64; 8]) -> Change {
        let [before, after] = [before, after].map(|words| words.map(|word| u64::from(word.count_ones())));
        // At most 64^8 = 2^48. In pairs: a chain of products would take its time.
        let product = |counts: &[u64; 8]| {
            let pairs = [0, 2, 4, 6].map(|index| counts[index] * counts[index + 1]);
            ((pairs[0] * pairs[1]) * (pairs[2] * pairs[3])).cast_signed() as f64
        };
        let added = after.iter().sum::<u64>() - before.iter().sum::<u64>();
        Change { added, before: product(&before), after: product(&after) }
    }
}

/// Work that gains by instructions that shift several words by an amount each, and count bits, at once.
pub(super) trait Work {
    /// What comes of it.
    type Output;

    /// Does it. What is to gain must be marked `inline(always)`, this function too: only what is inlined into the caller
    /// is compiled for the caller's instructions, and a closure need not be.
    fn work<C: Counting>(self) -> Self::Output;
}

/// Does the work with those instructions, or without them where the processor has none.
///
/// A key alone is little work: the way there is a load and a jump, and what is rare is called, not inlined.
#[inline]
pub(super) fn widely<W: Work>(work: W) -> W::Output {
    #[cfg(target_arch = "x86_64")]
    match wide::WIDTH.load(Relaxed) {
        wide::EIGHT_WORDS => {
            #[expect(unsafe_code, reason = "the compiler cannot know what processor this will run on")]
            // SAFETY: the processor has the instructions that the function is compiled for.
            return unsafe { wide::with_eight_words(work) };
        }
        wide::FOUR_WORDS => {
            #[expect(unsafe_code, reason = "the compiler cannot know what processor this will run on")]
            // SAFETY: the processor has the instructions that the function is compiled for.
            return unsafe { wide::with_four_words(work) };
        }
        wide::UNKNOWN => return wide::for_the_first_time(work),
        _ => {}
    }
    word_by_word(work)
}

#[inline(never)]
fn word_by_word<W: Work>(work: W) -> W::Output {
    work.work::<WordByWord>()
}

#[cfg(target_arch = "x86_64")]
mod wide {
    use std::arch::x86_64::{
        _mm256_cvtsd_f64, _mm512_castpd512_pd256, _mm512_cvtepu64_pd, _mm512_extractf64x4_pd, _mm512_loadu_epi64,
        _mm512_mul_pd, _mm512_permute_pd, _mm512_popcnt_epi64, _mm512_reduce_add_epi64, _mm512_shuffle_f64x2,
        _mm512_sub_epi64,
    };

    use std::sync::atomic::{AtomicU8, Ordering::Relaxed};

    use super::{Change, Counting, WordByWord, Work, widely};

    /// How much the processor does at once: one of the numbers below, found out when it is first asked for.
    pub(super) static WIDTH: AtomicU8 = AtomicU8::new(UNKNOWN);

    pub(super) const UNKNOWN: u8 = 0;
    pub(super) const ONE_WORD: u8 = 1;
    /// It shifts four words, and counts the bits of one.
    pub(super) const FOUR_WORDS: u8 = 4;
    /// It counts the bits of eight words.
    pub(super) const EIGHT_WORDS: u8 = 8;

    #[cold]
    #[inline(never)]
    pub(super) fn for_the_first_time<W: Work>(work: W) -> W::Output {
        let counts_one = is_x86_feature_detected!("popcnt") && is_x86_feature_detected!("bmi2");
        let counts_eight = is_x86_feature_detected!("avx512f")
            && is_x86_feature_detected!("avx512vpopcntdq")
            && is_x86_feature_detected!("avx512dq");
        let width = match (counts_one && counts_eight, counts_one && is_x86_feature_detected!("avx2")) {
            (true, _) => EIGHT_WORDS,
            (false, true) => FOUR_WORDS,
            (false, false) => ONE_WORD,
        };
        WIDTH.store(width, Relaxed);
        widely(work)
    }

    #[target_feature(enable = "avx512f,avx512dq,avx512vpopcntdq,popcnt,bmi2")]
    pub(super) fn with_eight_words<W: Work>(work: W) -> W::Output {
        work.work::<EightAtOnce>()
    }

    #[target_feature(enable = "avx2,popcnt,bmi2")]
    pub(super) fn with_four_words<W: Work>(work: W) -> W::Output {
        work.work::<WordByWord>()
    }

    /// All words at once. Only [`with_eight_words`] names it.
    struct EightAtOnce;

    impl Counting for EightAtOnce {
        #[expect(clippy::inline_always, reason = "see `Work`")]
        #[inline(always)]
        fn change(before: &[u64; 8], after: &[u64; 8]) -> Change {
            #[expect(unsafe_code, reason = "the compiler does not know that only `with_eight_words` calls this")]
            // SAFETY: `with_eight_words` alone names this type, and is called only where the processor has the instructions.
            unsafe {
                change(before, after)
            }
        }
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512dq,avx512vpopcntdq")]
    fn change(before: &[u64; 8], after: &[u64; 8]) -> Change {
        #[expect(unsafe_code, reason = "the instruction takes a pointer")]
        // SAFETY: each reads 64 bytes from a reference to as many; it need not be aligned.
        let [before, after] = [before, after].map(|words| unsafe { _mm512_loadu_epi64(words.as_ptr().cast()) });
        let [before, after] = [_mm512_popcnt_epi64(before), _mm512_popcnt_epi64(after)];
        let added = _mm512_reduce_add_epi64(_mm512_sub_epi64(after, before)).cast_unsigned();
        let [before, after] = [_mm512_cvtepu64_pd(before), _mm512_cvtepu64_pd(after)];
        // The lower half is that of `before`, the upper that of `after`, from here on.
        let four = _mm512_mul_pd(
            _mm512_shuffle_f64x2::<0b01_00_01_00>(before, after),
            _mm512_shuffle_f64x2::<0b11_10_11_10>(before, after),
        );
        let two = _mm512_mul_pd(four, _mm512_shuffle_f64x2::<0b10_11_00_01>(four, four));
        let one = _mm512_mul_pd(two, _mm512_permute_pd::<0b0101_0101>(two));
        Change {
            added,
            before: _mm256_cvtsd_f64(_mm512_castpd512_pd256(one)),
            after: _mm256_cvtsd_f64(_mm512_extractf64x4_pd::<1>(one)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Compare {
        before: [u64; 8],
        after: [u64; 8],
    }

    impl Work for Compare {
        type Output = Change;

        #[expect(clippy::inline_always, reason = "see `Work`")]
        #[inline(always)]
        fn work<C: Counting>(self) -> Change {
            C::change(&self.before, &self.after)
        }
    }

    #[test]
    fn however_bits_are_counted_they_are_as_many() {
        for round in 0..200_u64 {
            let word = |index: u64| (round * 8 + index + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            let before: [u64; 8] = std::array::from_fn(|index| word(index as u64));
            let after: [u64; 8] = std::array::from_fn(|index| before[index] | word(index as u64 + 3));
            let expected = WordByWord::change(&before, &after);
            assert_eq!(widely(Compare { before, after }), expected);
            let ones = |words: &[u64; 8]| words.iter().map(|word| u64::from(word.count_ones())).sum::<u64>();
            assert_eq!(expected.added, ones(&after) - ones(&before));
        }
        let [none, all] = [[0; 8], [u64::MAX; 8]];
        let change = widely(Compare { before: none, after: all });
        assert_eq!(change, Change { added: 512, before: 0.0, after: 48.0_f64.exp2() });
    }
}
