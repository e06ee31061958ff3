//! [`Coding`]: the content codings that are decoded.

use std::fmt;

use thiserror::Error;

/// A content coding (RFC 9110 8.4.1, RFC 7932, RFC 8878).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Coding {
    /// `gzip`, `x-gzip`.
    Gzip,
    /// `deflate`: zlib as the RFC says, or raw deflate as some servers understood it.
    Deflate,
    /// `br`.
    Brotli,
    /// `zstd`.
    Zstd,
}

/// Codings on one body; real servers stack two by mistake.
pub const MAX_CODINGS: usize = 3;

/// Why a body cannot be decoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum DecodeError {
    /// The bytes are not what the coding allows.
    #[error("the {0} stream is corrupt")]
    Corrupt(Coding),
    /// More codings than [`MAX_CODINGS`].
    #[error("more than {MAX_CODINGS} content codings")]
    TooManyCodings,
}

/// The codings to undo, the one applied last first, up to the first that is not ours.
pub(super) fn to_undo<'a>(values: impl IntoIterator<Item = &'a [u8]>) -> Result<Vec<Coding>, DecodeError> {
    let mut codings = Vec::new();
    for name in values.into_iter().flat_map(|value| value.split(|byte| *byte == b',')) {
        match name.trim_ascii() {
            name if name.is_empty() || name.eq_ignore_ascii_case(b"identity") => {}
            name => match Coding::of(name) {
                Some(coding) => codings.push(coding),
                None => codings.clear(),
            },
        }
        if codings.len() > MAX_CODINGS {
            return Err(DecodeError::TooManyCodings);
        }
    }
    codings.reverse();
    Ok(codings)
}

impl Coding {
    fn of(name: &[u8]) -> Option<Self> {
        let named = |known: &str| name.eq_ignore_ascii_case(known.as_bytes());
        match () {
            () if named("gzip") || named("x-gzip") => Some(Self::Gzip),
            () if named("deflate") => Some(Self::Deflate),
            () if named("br") => Some(Self::Brotli),
            () if named("zstd") => Some(Self::Zstd),
            () => None,
        }
    }
}

impl fmt::Display for Coding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Gzip => "gzip",
            Self::Deflate => "deflate",
            Self::Brotli => "brotli",
            Self::Zstd => "zstd",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn undo(values: &[&str]) -> Result<Vec<Coding>, DecodeError> {
        to_undo(values.iter().map(|value| value.as_bytes()))
    }

    #[test]
    fn undoes_the_last_coding_first() {
        assert_eq!(undo(&[]), Ok(vec![]));
        assert_eq!(undo(&["X-GZIP"]), Ok(vec![Coding::Gzip]));
        assert_eq!(undo(&["gzip, identity", " br"]), Ok(vec![Coding::Brotli, Coding::Gzip]));
        assert_eq!(undo(&["deflate,,zstd"]), Ok(vec![Coding::Zstd, Coding::Deflate]));
    }

    #[test]
    fn stops_at_a_coding_it_does_not_know() {
        assert_eq!(undo(&["utf-8"]), Ok(vec![]));
        assert_eq!(undo(&["compress, gzip"]), Ok(vec![Coding::Gzip]));
        assert_eq!(undo(&["gzip, compress"]), Ok(vec![]));
    }

    #[test]
    fn refuses_a_tower() {
        assert_eq!(undo(&["gzip, gzip, gzip"]).unwrap().len(), 3);
        assert_eq!(undo(&["gzip, gzip, gzip, gzip"]), Err(DecodeError::TooManyCodings));
    }
}
