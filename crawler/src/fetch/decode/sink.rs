//! [`Sink`]: the decoded body and its limits.

use super::step::DecodeStop;
use crate::fetch::Truncation;

/// Bytes that are reserved on a server's word alone.
const BELIEVED: u64 = 256 * 1024;

/// How much may come out of a body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BodyLimits {
    /// Bytes of decoded body that are kept.
    pub max_body: u64,
    /// Decoded bytes for each received one, beyond [`BodyLimits::FREE_EXPANSION`].
    pub max_expansion: u32,
}

impl BodyLimits {
    /// Decoded bytes that need no justification by received ones: small pages compress well.
    pub const FREE_EXPANSION: u64 = 1 << 20;
}

/// Collects decoded bytes, counts received ones.
pub(super) struct Sink {
    body: Vec<u8>,
    wire_bytes: u64,
    limits: BodyLimits,
}

impl Sink {
    pub(super) fn new(limits: BodyLimits) -> Self {
        Self { body: Vec::new(), wire_bytes: 0, limits }
    }

    pub(super) fn expect(&mut self, bytes: u64) {
        let bytes = bytes.min(self.limits.max_body).min(BELIEVED);
        self.body.reserve(usize::try_from(bytes).unwrap_or_default());
    }

    /// Counts received bytes. A compressed body that never yields anything is stopped here: what no coding would make
    /// longer than this (an eighth, and some framing) is as good as too long a body.
    pub(super) fn receive(&mut self, bytes: usize, plain: bool) -> Result<(), DecodeStop> {
        self.wire_bytes += bytes as u64;
        let max = self.limits.max_body;
        let max_wire = max.saturating_add(max / 8).saturating_add(64 * 1024);
        if plain || self.wire_bytes <= max_wire { Ok(()) } else { Err(DecodeStop::Limit(Truncation::Size)) }
    }

    /// Keeps decoded bytes, as many as fit.
    pub(super) fn keep(&mut self, bytes: &[u8]) -> Result<(), DecodeStop> {
        let room = self.limits.max_body.saturating_sub(self.body.len() as u64);
        let fits = usize::try_from(room).unwrap_or(usize::MAX).min(bytes.len());
        self.body.extend_from_slice(&bytes[..fits]);
        if fits == bytes.len() { Ok(()) } else { Err(DecodeStop::Limit(Truncation::Size)) }
    }

    /// Whether a coding may have yielded so many bytes from what was received.
    pub(super) fn allow(&self, yielded: u64) -> Result<(), DecodeStop> {
        let paid_for = self.wire_bytes.saturating_mul(self.limits.max_expansion.into());
        if yielded <= paid_for.max(BodyLimits::FREE_EXPANSION) {
            Ok(())
        } else {
            Err(DecodeStop::Limit(Truncation::Expansion))
        }
    }

    pub(super) fn wire_bytes(&self) -> u64 {
        self.wire_bytes
    }

    pub(super) fn decoded_bytes(&self) -> u64 {
        self.body.len() as u64
    }

    pub(super) fn into_body(self) -> Vec<u8> {
        self.body
    }
}
