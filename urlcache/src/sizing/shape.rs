//! [`Shape`]: how a filter's bits are arranged, and what rate that gives.
//!
//! Owns the rate of one filter as a function of its bits and its keys:
//! - `classic`: `(1 - e^(-kn/m))^k` (Bloom 1970; Mitzenmacher and Upfal, "Probability and Computing", 5.5.3). It is the
//!   mean over filters up to a term of order k^2/m, which matters to filters of a few dozen keys only.
//! - `line`: the mean over lines, whose loads are Poisson distributed (Putze, Sanders and Singler 2009): sized by the
//!   classic formula such a filter misses its rate by a factor of 1.3 at 1e-2 and of 4 at 1e-4.
//! - `fingerprint`: tags compared times 2^-32.

use std::sync::OnceLock;

use crate::strategy::Layout;

/// Bits of a cache line.
pub(crate) const LINE_BITS: u64 = 512;

/// Tags of a line of fingerprints.
const SLOTS: f64 = 16.0;

/// Load up to which a table of fingerprints is planned.
const FULLEST: f64 = 0.85;

/// The most keys a line is reckoned with; beyond, a filter of lines finds everything.
const MOST_PER_LINE: usize = 800;

/// How a filter's bits are arranged.
///
/// ```
/// use urlcache::{LineShape, Shape};
///
/// let (classic, line) = (Shape::Classic { probes: 7 }, Shape::Line(LineShape::OneBitInOneLine));
/// assert_eq!((classic.cache_lines(), line.cache_lines()), (7, 1));
/// assert!((classic.rate(9.585e6, 1e6) - 0.0100).abs() < 1e-4);
/// assert!((line.rate(10.1e6, 1e6) - 0.0100).abs() < 2e-4);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Shape {
    /// `probes` bits a key, anywhere.
    Classic {
        /// Number of bits (k).
        probes: u32,
    },
    /// Bits within one or two cache lines.
    Line(LineShape),
    /// 32-bit tags in lines of sixteen.
    Fingerprints,
}

/// How a key's bits lie in cache lines of eight words.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LineShape {
    /// 8 bits: one in each word of a line.
    OneBitInOneLine,
    /// 16 bits: two in each word of a line.
    TwoBitsInOneLine,
    /// 16 bits: one in each word of two lines.
    OneBitInTwoLines,
    /// 32 bits: two in each word of two lines.
    TwoBitsInTwoLines,
}

impl Shape {
    /// The layout it belongs to; never `auto`.
    pub fn layout(self) -> Layout {
        match self {
            Self::Classic { .. } => Layout::Classic,
            Self::Line(_) => Layout::Line,
            Self::Fingerprints => Layout::Fingerprint,
        }
    }

    /// Cache lines that a look at one key touches, at most (`fingerprint`: on average, nearly).
    pub fn cache_lines(self) -> u32 {
        match self {
            Self::Classic { probes } => probes,
            Self::Line(line) => line.lines(),
            Self::Fingerprints => 1,
        }
    }

    /// Bits drawn for a key, or tags stored.
    pub fn hashes(self) -> u32 {
        match self {
            Self::Classic { probes } => probes,
            Self::Line(line) => 8 * line.lines() * line.bits_per_word(),
            Self::Fingerprints => 1,
        }
    }

    /// False-positive rate of a filter of so many bits that holds so many keys, 0 to 1.
    pub fn rate(self, bits: f64, keys: f64) -> f64 {
        match self {
            Self::Classic { probes } => {
                let fill = -(-f64::from(probes) * keys / bits).exp_m1();
                fill.powi(probes.cast_signed())
            }
            Self::Line(line) => {
                let lines = (bits / LINE_BITS as f64).ceil().max(1.0);
                let mean = mixture(line, keys * f64::from(line.lines()) / lines);
                mean.powi(line.lines().cast_signed())
            }
            Self::Fingerprints => tag_rate(keys / (SLOTS * (bits / LINE_BITS as f64).ceil().max(1.0))),
        }
    }
}

impl LineShape {
    pub(crate) const ALL: [Self; 4] =
        [Self::OneBitInOneLine, Self::TwoBitsInOneLine, Self::OneBitInTwoLines, Self::TwoBitsInTwoLines];

    pub(crate) fn lines(self) -> u32 {
        match self {
            Self::OneBitInOneLine | Self::TwoBitsInOneLine => 1,
            Self::OneBitInTwoLines | Self::TwoBitsInTwoLines => 2,
        }
    }

    pub(crate) fn bits_per_word(self) -> u32 {
        match self {
            Self::OneBitInOneLine | Self::OneBitInTwoLines => 1,
            Self::TwoBitsInOneLine | Self::TwoBitsInTwoLines => 2,
        }
    }

    /// The probability that a new key is found in a line of 0, 1, 2, ... keys.
    fn odds(self) -> &'static [f64] {
        static ODDS: [OnceLock<Vec<f64>>; 2] = [const { OnceLock::new() }; 2];
        let bits = self.bits_per_word();
        ODDS[bits as usize - 1].get_or_init(|| (0..MOST_PER_LINE).map(|keys| line_odds(bits, keys as f64)).collect())
    }
}

/// Each key sets `bits` of a word's 64 bits, drawn with repetition, in each of eight words. With m bits drawn a given
/// bit of a word is set with probability `1 - (63/64)^m`, two different ones with `1 - 2(63/64)^m + (62/64)^m`.
fn line_odds(bits: u32, keys: f64) -> f64 {
    let clear = |share: f64| (share / 64.0).powf(f64::from(bits) * keys);
    let one = 1.0 - clear(63.0);
    let word = if bits == 1 { one } else { one / 64.0 + (1.0 - 2.0 * clear(63.0) + clear(62.0)) * 63.0 / 64.0 };
    word.powi(8)
}

/// The mean of a line's odds over Poisson distributed loads of mean `load`.
fn mixture(line: LineShape, load: f64) -> f64 {
    let odds = line.odds();
    let last = load + 12.0 * load.sqrt() + 20.0;
    if last >= MOST_PER_LINE as f64 {
        return 1.0;
    }
    let (mut weight, mut mean) = ((-load).exp(), 0.0);
    for (keys, odds) in odds.iter().enumerate().take_while(|(keys, _)| *keys as f64 <= last) {
        mean += weight * odds;
        weight *= load / (keys as f64 + 1.0);
    }
    mean
}

/// Tags compared are those of the home line and of the lines after it that were filled from it. How many more than a
/// line's load these are follows from the stationary distribution of the overflow, `max(0, x + Poisson - 16)`; solved
/// numerically for loads from 0.5 on in steps of 0.02.
const COMPARED: [f64; 21] = [
    1.0047, 1.0069, 1.0099, 1.0140, 1.0194, 1.0267, 1.0362, 1.0485, 1.0646, 1.0854, 1.1125, 1.1478, 1.1941, 1.2554,
    1.3375, 1.4497, 1.6063, 1.8314, 2.1677, 2.6968, 3.5900,
];

/// The rate at a load, 0 to 1; a fuller table than is ever planned finds everything.
fn tag_rate(load: f64) -> f64 {
    if load > FULLEST {
        return 1.0;
    }
    let step = ((load - 0.5) / 0.02).max(0.0);
    let low = (0..COMPARED.len() - 2).rev().find(|&low| low as f64 <= step).unwrap_or(0);
    let factor = COMPARED[low] * (COMPARED[low + 1] / COMPARED[low]).powf(step - low as f64);
    SLOTS * load * factor * (-32.0_f64).exp2()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Keys that are compared with a new one, from the overflow's stationary distribution.
    fn compared(load: f64) -> f64 {
        const STATES: usize = 300;
        let mean = SLOTS * load;
        let mut arrivals = vec![(-mean).exp()];
        (1..70).for_each(|keys| arrivals.push(arrivals[keys - 1] * mean / keys as f64));
        let over = |held: usize, more: usize| (held + more).saturating_sub(16).min(STATES - 1);
        let mut overflow = vec![0.0; STATES];
        overflow[0] = 1.0;
        let mut beyond = vec![0.0; STATES];
        for _ in 0..400 {
            let (mut next, mut further) = (vec![0.0; STATES], vec![0.0; STATES]);
            for held in 0..STATES {
                for (more, chance) in arrivals.iter().enumerate() {
                    next[over(held, more)] += overflow[held] * chance;
                    if held > 0 {
                        further[held] += chance * ((held + more).min(16) as f64 + beyond[over(held, more)]);
                    }
                }
            }
            (overflow, beyond) = (next, further);
        }
        mean + overflow.iter().zip(&beyond).map(|(chance, tags)| chance * tags).sum::<f64>()
    }

    #[test]
    fn tags_compared_are_those_of_the_overflow() {
        for load in [0.6, 0.75, 0.84] {
            let (rate, exact) = (tag_rate(load), compared(load) * (-32.0_f64).exp2());
            assert!((rate / exact - 1.0).abs() < 0.01, "{load}: {rate} {exact}");
        }
        assert!((tag_rate(0.2) * 32.0_f64.exp2() / 3.2 - 1.0).abs() < 0.005);
    }

    #[test]
    fn lines_cost_what_is_known_of_them() {
        let cases = [
            (LineShape::OneBitInOneLine, 1e-2, 10.1),
            (LineShape::OneBitInOneLine, 1e-3, 15.7),
            (LineShape::TwoBitsInOneLine, 1e-4, 22.8),
            (LineShape::TwoBitsInOneLine, 1e-6, 38.9),
            (LineShape::OneBitInTwoLines, 1e-4, 20.2),
            (LineShape::OneBitInTwoLines, 1e-6, 31.4),
        ];
        for (shape, rate, bits) in cases {
            let found = Shape::Line(shape).rate(bits * 1e7, 1e7);
            assert!((found / rate - 1.0).abs() < 0.04, "{shape:?} of {bits} bits: {found}");
        }
    }
}
