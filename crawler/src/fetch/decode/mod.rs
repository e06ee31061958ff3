//! Decodes content codings piece by piece, within limits.
//!
//! Owns: [`BodyDecoder`] (gzip of any number of members, deflate with or without its zlib wrapper, brotli, zstd of any number of frames,
//! and up to [`MAX_CODINGS`] of them on top of each other) and the limits that no compressed body can get around.
//!
//! Invariants: however a body is cut into pieces, the result is the same; the decoded body is never longer than the
//! limit; the memory held is the decoded body, the decoders' windows (8 MiB at most each for zstd as RFC 9659 allows,
//! 16 MiB for brotli, 32 KiB else) and one block a coding; no bytes make it panic.
//!
//! It is lenient where servers are wrong: `Content-Encoding: gzip` on a body that does not start like gzip is taken as not encoded; bytes
//! after the end of a compressed stream are ignored; `identity` and unknown names leave the body as it is (what was applied before an
//! unknown coding cannot be reached). It is not lenient about a broken stream, which is an error, not a shorter page; one that merely ends
//! early is reported as such ([`Decoded::complete`]).
//!
//! Does not know: HTTP, where bytes come from, time.

mod coding;
mod inflate;
mod sink;
mod stage;
mod step;

use std::ops::ControlFlow;

use self::sink::Sink;
use self::stage::Stage;
use self::step::DecodeStop;
use super::Truncation;

pub use self::coding::{Coding, DecodeError, MAX_CODINGS};
pub use self::sink::BodyLimits;

/// Undoes the content codings of one body.
///
/// ```
/// use webloom::internals::fetch::decode::{BodyDecoder, BodyLimits};
/// let limits = BodyLimits { max_body: 1000, max_expansion: 100 };
/// let mut decoder = BodyDecoder::new([b"identity".as_slice()], limits)?;
/// assert!(decoder.push(b"hello")?.is_continue());
/// let decoded = decoder.finish();
/// assert_eq!((decoded.body.as_slice(), decoded.wire_bytes, decoded.complete), (b"hello".as_slice(), 5, true));
/// # Ok::<(), webloom::internals::fetch::decode::DecodeError>(())
/// ```
pub struct BodyDecoder {
    stages: Vec<Stage>,
    sink: Sink,
}

/// What came out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decoded {
    /// Decoded bytes.
    pub body: Vec<u8>,
    /// Bytes that went in.
    pub wire_bytes: u64,
    /// Whether every compressed stream reached its end (true for an empty body).
    pub complete: bool,
}

/// Bytes that a coding yields between two looks at the limits.
const BLOCK: usize = 16 * 1024;

impl BodyDecoder {
    /// A decoder for a body with these `Content-Encoding` values, each of which may be a list.
    ///
    /// # Errors
    /// [`DecodeError::TooManyCodings`].
    pub fn new<'a>(values: impl IntoIterator<Item = &'a [u8]>, limits: BodyLimits) -> Result<Self, DecodeError> {
        let codings = coding::to_undo(values)?;
        Ok(Self { stages: codings.into_iter().map(Stage::new).collect(), sink: Sink::new(limits) })
    }

    /// Makes room for a body of so many received bytes; what a server promises is believed only up to a point.
    pub fn expect(&mut self, wire_bytes: u64) {
        self.sink.expect(wire_bytes);
    }

    /// Decodes the next received bytes. `Break` says which limit is reached: what fits is kept, and no further bytes
    /// should be given.
    ///
    /// # Errors
    /// [`DecodeError::Corrupt`].
    pub fn push(&mut self, received: &[u8]) -> Result<ControlFlow<Truncation>, DecodeError> {
        let pumped = self.sink.receive(received.len(), self.stages.is_empty());
        match pumped.and_then(|()| pump(&mut self.stages, received, &mut self.sink)) {
            Ok(()) => Ok(ControlFlow::Continue(())),
            Err(DecodeStop::Limit(reason)) => Ok(ControlFlow::Break(reason)),
            Err(DecodeStop::Corrupt(coding)) => Err(DecodeError::Corrupt(coding)),
        }
    }

    /// Bytes received so far.
    pub fn wire_bytes(&self) -> u64 {
        self.sink.wire_bytes()
    }

    /// Decoded bytes so far.
    pub fn decoded_bytes(&self) -> u64 {
        self.sink.decoded_bytes()
    }

    /// Whether the body is as long as what is received: it has no coding.
    pub fn is_plain(&self) -> bool {
        self.stages.is_empty()
    }

    /// What was decoded so far, at the end of the input or before.
    pub fn finish(self) -> Decoded {
        let wire_bytes = self.sink.wire_bytes();
        let complete = wire_bytes == 0 || self.stages.iter().all(Stage::is_complete);
        Decoded { body: self.sink.into_body(), wire_bytes, complete }
    }
}

/// Passes bytes through the first coding, and what it yields through the rest.
fn pump(stages: &mut [Stage], mut input: &[u8], sink: &mut Sink) -> Result<(), DecodeStop> {
    let Some((stage, rest)) = stages.split_first_mut() else {
        return sink.keep(input);
    };
    let mut block = [0; BLOCK];
    loop {
        let step = stage.step(input, &mut block)?;
        if step.read == 0 && step.written == 0 {
            return Ok(());
        }
        input = &input[step.read..];
        if step.written > 0 {
            pump(rest, &block[..step.written], sink)?;
        }
        sink.allow(stage.yielded())?;
    }
}

#[cfg(test)]
pub(super) mod tests;
