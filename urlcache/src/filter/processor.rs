//! What is needed of the processor beyond the language: fetching memory ahead, and wide instructions where it has them.
//!
//! The only file with unsafe code. All of it is hints or choices of speed: however wide the instructions, they draw the same bits
//! and count the same, which the test below compares. So no answer depends on them, and snapshots are read on every machine.

#[cfg(target_arch = "x86_64")]
use std::sync::atomic::Ordering::Relaxed;

/// Begins to fetch the cache line of a value into the nearest cache, where the processor can do that.
///
/// For a table of one's own that is asked for many keys at once: while the line of one key is fetched, those of others are.
///
/// ```
/// let table = vec![7_u64; 1 << 10];
/// let places = [901, 17, 333];
/// places.iter().for_each(|place| urlcache::fetch_ahead(&table[*place]));
/// assert_eq!(places.map(|place| table[place]), [7; 3]);
/// ```
#[inline]
pub fn fetch_ahead<T>(value: &T) {
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

/// How the bits of eight words are drawn and counted.
pub(super) trait Words {
    /// A bit in each word: the one that the next six bits of the draw name.
    fn mask(draw: u64) -> [u64; 8];

    /// What is different between the words before and after.
    fn change(before: &[u64; 8], after: &[u64; 8]) -> Change;
}

/// One word after the other.
pub(super) struct WordByWord;

impl Words for WordByWord {
    #[expect(clippy::inline_always, reason = "see `Work`")]
    #[inline(always)]
    fn mask(draw: u64) -> [u64; 8] {
        let mut mask = [0; 8];
        for (index, word) in mask.iter_mut().enumerate() {
            *word = 1 << ((draw >> (6 * index)) & 63);
        }
        mask
    }

    #[expect(clippy::inline_always, reason = "see `Work`")]
    #[inline(always)]
    fn change(before: &[u64; 8], after: &[u64; 8]) -> Change {
        let (before, after) = (ones(before), ones(after));
        let added = after.iter().sum::<u64>() - before.iter().sum::<u64>();
        Change { added, before: product(&before), after: product(&after) }
    }
}

#[expect(clippy::inline_always, reason = "see `Work`")]
#[inline(always)]
fn ones(words: &[u64; 8]) -> [u64; 8] {
    let mut ones = [0; 8];
    for (ones, word) in ones.iter_mut().zip(words) {
        *ones = u64::from(word.count_ones());
    }
    ones
}

/// At most 64^8 = 2^48. In pairs: a chain of products would take its time.
#[expect(clippy::inline_always, reason = "see `Work`")]
#[inline(always)]
fn product(counts: &[u64; 8]) -> f64 {
    let half = |first: usize| (counts[first] * counts[first + 1]) * (counts[first + 2] * counts[first + 3]);
    (half(0) * half(4)).cast_signed() as f64
}

/// Work that gains by instructions that shift several words by an amount each, and count bits, at once.
pub(super) trait Work {
    /// What comes of it.
    type Output;

    /// Does it. What is to gain must be marked `inline(always)`, this function too: only what is inlined into the caller
    /// is compiled for the caller's instructions, and a closure need not be.
    fn work<C: Words>(self) -> Self::Output;
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
        __m256i, _mm_add_epi64, _mm_castsi128_pd, _mm_cvtsd_f64, _mm_cvtsi128_si64, _mm_mul_epu32, _mm_or_si128,
        _mm_set1_epi64x, _mm_set1_pd, _mm_sub_pd, _mm_unpackhi_epi64, _mm_unpackhi_pd, _mm256_add_epi8,
        _mm256_add_epi64, _mm256_and_si256, _mm256_castsi256_si128, _mm256_cvtsd_f64, _mm256_extracti128_si256,
        _mm256_loadu_si256, _mm256_mul_epu32, _mm256_sad_epu8, _mm256_set1_epi8, _mm256_set1_epi64x, _mm256_setr_epi8,
        _mm256_setr_epi64x, _mm256_setzero_si256, _mm256_shuffle_epi8, _mm256_sllv_epi64, _mm256_srli_epi16,
        _mm256_srlv_epi64, _mm256_storeu_si256, _mm256_sub_epi64, _mm256_unpackhi_epi64, _mm256_unpacklo_epi64,
        _mm512_and_epi64, _mm512_castpd512_pd256, _mm512_cvtepu64_pd, _mm512_extractf64x4_pd, _mm512_loadu_epi64,
        _mm512_mul_pd, _mm512_permute_pd, _mm512_popcnt_epi64, _mm512_reduce_add_epi64, _mm512_set1_epi64,
        _mm512_setr_epi64, _mm512_shuffle_f64x2, _mm512_sllv_epi64, _mm512_srlv_epi64, _mm512_storeu_epi64,
        _mm512_sub_epi64,
    };
    use std::sync::atomic::{AtomicU8, Ordering::Relaxed};

    use super::{Change, Words, Work, widely};

    /// How much the processor does at once: one of the numbers below, found out when it is first asked for.
    pub(super) static WIDTH: AtomicU8 = AtomicU8::new(UNKNOWN);

    pub(super) const UNKNOWN: u8 = 0;
    pub(super) const ONE_WORD: u8 = 1;
    /// It shifts four words at once, and counts their bits.
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
        work.work::<FourAtOnce>()
    }

    /// Four words at once. Only [`with_four_words`] names it.
    struct FourAtOnce;

    impl Words for FourAtOnce {
        #[expect(clippy::inline_always, reason = "see `Work`")]
        #[inline(always)]
        fn mask(draw: u64) -> [u64; 8] {
            #[expect(unsafe_code, reason = "the compiler does not know that only `with_four_words` calls this")]
            // SAFETY: `with_four_words` alone names this type, and is called only where the processor has the instructions.
            unsafe {
                mask_by_fours(draw)
            }
        }

        #[expect(clippy::inline_always, reason = "see `Work`")]
        #[inline(always)]
        fn change(before: &[u64; 8], after: &[u64; 8]) -> Change {
            #[expect(unsafe_code, reason = "the compiler does not know that only `with_four_words` calls this")]
            // SAFETY: `with_four_words` alone names this type, and is called only where the processor has the instructions.
            unsafe {
                change_by_fours(before, after)
            }
        }
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn mask_by_fours(draw: u64) -> [u64; 8] {
        let (draw, one) = (_mm256_set1_epi64x(draw.cast_signed()), _mm256_set1_epi64x(1));
        let mut mask = [0; 8];
        for (half, shifts) in mask.as_chunks_mut::<4>().0.iter_mut().zip([[0, 6, 12, 18], [24, 30, 36, 42]]) {
            let [a, b, c, d] = shifts;
            let bits =
                _mm256_and_si256(_mm256_srlv_epi64(draw, _mm256_setr_epi64x(a, b, c, d)), _mm256_set1_epi64x(63));
            #[expect(unsafe_code, reason = "the instruction takes a pointer")]
            // SAFETY: it writes 32 bytes to a reference to as many; it need not be aligned.
            unsafe {
                _mm256_storeu_si256(half.as_mut_ptr().cast(), _mm256_sllv_epi64(one, bits));
            }
        }
        mask
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn change_by_fours(before: &[u64; 8], after: &[u64; 8]) -> Change {
        let (before, after) = (ones_by_fours(before), ones_by_fours(after));
        let more = [0, 1].map(|half| _mm256_sub_epi64(after[half], before[half]));
        let more = _mm256_add_epi64(more[0], more[1]);
        let more = _mm_add_epi64(_mm256_castsi256_si128(more), _mm256_extracti128_si256::<1>(more));
        let added = _mm_cvtsi128_si64(_mm_add_epi64(more, _mm_unpackhi_epi64(more, more))).cast_unsigned();
        // Products below 2^12, 2^24 and 2^48, those of `before` beside those of `after`.
        let (before, after) = (_mm256_mul_epu32(before[0], before[1]), _mm256_mul_epu32(after[0], after[1]));
        let four = _mm256_mul_epu32(_mm256_unpacklo_epi64(before, after), _mm256_unpackhi_epi64(before, after));
        let all = _mm_mul_epu32(_mm256_castsi256_si128(four), _mm256_extracti128_si256::<1>(four));
        // A number below 2^52 is what it adds to that power of two: the bits of that sum have the number as their end.
        let base = 52.0_f64.exp2();
        let sum = _mm_or_si128(all, _mm_set1_epi64x(base.to_bits().cast_signed()));
        let products = _mm_sub_pd(_mm_castsi128_pd(sum), _mm_set1_pd(base));
        Change { added, before: _mm_cvtsd_f64(products), after: _mm_cvtsd_f64(_mm_unpackhi_pd(products, products)) }
    }

    /// The bits that are set in each of eight words: those of each half byte from a table (W. Mula, N. Kurz and D. Lemire,
    /// "Faster population counts using AVX2 instructions", 2018).
    #[inline]
    #[target_feature(enable = "avx2")]
    fn ones_by_fours(words: &[u64; 8]) -> [__m256i; 2] {
        let table = _mm256_setr_epi8(
            0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4, 0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4,
        );
        let low = _mm256_set1_epi8(0x0f);
        let halves = words.as_chunks::<4>().0;
        [&halves[0], &halves[1]].map(|four| {
            #[expect(unsafe_code, reason = "the instruction takes a pointer")]
            // SAFETY: it reads 32 bytes from a reference to as many; it need not be aligned.
            let four = unsafe { _mm256_loadu_si256(four.as_ptr().cast()) };
            let ends = _mm256_shuffle_epi8(table, _mm256_and_si256(four, low));
            let starts = _mm256_shuffle_epi8(table, _mm256_and_si256(_mm256_srli_epi16::<4>(four), low));
            _mm256_sad_epu8(_mm256_add_epi8(ends, starts), _mm256_setzero_si256())
        })
    }

    /// All words at once. Only [`with_eight_words`] names it.
    struct EightAtOnce;

    impl Words for EightAtOnce {
        #[expect(clippy::inline_always, reason = "see `Work`")]
        #[inline(always)]
        fn mask(draw: u64) -> [u64; 8] {
            #[expect(unsafe_code, reason = "the compiler does not know that only `with_eight_words` calls this")]
            // SAFETY: `with_eight_words` alone names this type, and is called only where the processor has the instructions.
            unsafe {
                mask_of_eight(draw)
            }
        }

        #[expect(clippy::inline_always, reason = "see `Work`")]
        #[inline(always)]
        fn change(before: &[u64; 8], after: &[u64; 8]) -> Change {
            #[expect(unsafe_code, reason = "the compiler does not know that only `with_eight_words` calls this")]
            // SAFETY: `with_eight_words` alone names this type, and is called only where the processor has the instructions.
            unsafe {
                change_of_eight(before, after)
            }
        }
    }

    #[inline]
    #[target_feature(enable = "avx512f")]
    fn mask_of_eight(draw: u64) -> [u64; 8] {
        let shifts = _mm512_setr_epi64(0, 6, 12, 18, 24, 30, 36, 42);
        let bits = _mm512_srlv_epi64(_mm512_set1_epi64(draw.cast_signed()), shifts);
        let bits = _mm512_and_epi64(bits, _mm512_set1_epi64(63));
        let mut mask = [0; 8];
        #[expect(unsafe_code, reason = "the instruction takes a pointer")]
        // SAFETY: it writes 64 bytes to a reference to as many; it need not be aligned.
        unsafe {
            _mm512_storeu_epi64(mask.as_mut_ptr().cast(), _mm512_sllv_epi64(_mm512_set1_epi64(1), bits));
        }
        mask
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512dq,avx512vpopcntdq")]
    fn change_of_eight(before: &[u64; 8], after: &[u64; 8]) -> Change {
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
        draw: u64,
        before: [u64; 8],
        after: [u64; 8],
    }

    impl Work for &Compare {
        type Output = ([u64; 8], Change);

        #[expect(clippy::inline_always, reason = "see `Work`")]
        #[inline(always)]
        fn work<C: Words>(self) -> Self::Output {
            (C::mask(self.draw), C::change(&self.before, &self.after))
        }
    }

    #[test]
    fn however_bits_are_drawn_and_counted_they_are_the_same() {
        for round in 0..200_u64 {
            let word = |index: u64| (round * 8 + index + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            let before: [u64; 8] = std::array::from_fn(|index| word(index as u64));
            let after: [u64; 8] = std::array::from_fn(|index| before[index] | word(index as u64 + 3));
            let (mask, change) = in_every_way(&Compare { draw: word(9), before, after });
            assert_eq!((mask, change), (WordByWord::mask(word(9)), WordByWord::change(&before, &after)));
            let ones = |words: &[u64; 8]| words.iter().map(|word| u64::from(word.count_ones())).sum::<u64>();
            assert_eq!((change.added, ones(&mask)), (ones(&after) - ones(&before), 8));
            assert_eq!(mask[7], 1 << (word(9) >> 42 & 63));
        }
        let (mask, change) = in_every_way(&Compare { draw: 0, before: [0; 8], after: [u64::MAX; 8] });
        assert_eq!(change, Change { added: 512, before: 0.0, after: 48.0_f64.exp2() });
        assert_eq!(mask, [1; 8]);
    }

    /// With all instructions that this processor has, which must agree. Other tests may run meanwhile: to them it makes no
    /// difference.
    fn in_every_way(compare: &Compare) -> ([u64; 8], Change) {
        let found = widely(compare);
        #[cfg(target_arch = "x86_64")]
        {
            let best = wide::WIDTH.load(Relaxed);
            for width in [wide::ONE_WORD, wide::FOUR_WORDS].into_iter().filter(|width| *width < best) {
                wide::WIDTH.store(width, Relaxed);
                assert_eq!(widely(compare), found);
            }
            wide::WIDTH.store(best, Relaxed);
        }
        found
    }
}
