//! [`Stage`]: one coding being undone.

use brotli::enc::StandardAlloc;
use brotli::{BrotliDecompressStream, BrotliResult, BrotliState};
use zstd::stream::raw::{DParameter, Decoder, InBuffer, Operation, OutBuffer};

use super::Coding;
use super::inflate::Inflate;
use super::step::{Corrupt, DecodeStop, StageStep};

/// Largest zstd window: 2^23 bytes, what RFC 9659 lets a server assume of a client.
const ZSTD_WINDOW_LOG: u32 = 23;

/// A decoder and what it has yielded.
pub(super) struct Stage {
    codec: Codec,
    yielded: u64,
}

enum Codec {
    Inflate(Inflate),
    Brotli(Box<Brotli>),
    Zstd(Zstd),
}

struct Brotli {
    state: BrotliState<StandardAlloc, StandardAlloc, StandardAlloc>,
    complete: bool,
}

struct Zstd {
    decoder: Decoder<'static>,
    /// A frame has ended, and what followed has yielded nothing: it may be another frame or garbage.
    complete: bool,
    /// What followed was garbage.
    ended: bool,
}

impl Stage {
    pub(super) fn new(coding: Coding) -> Self {
        let codec = match coding {
            Coding::Gzip => Codec::Inflate(Inflate::gzip()),
            Coding::Deflate => Codec::Inflate(Inflate::deflate()),
            Coding::Brotli => Codec::Brotli(Box::new(Brotli::new())),
            Coding::Zstd => Codec::Zstd(Zstd::new()),
        };
        Self { codec, yielded: 0 }
    }

    /// Decodes from `input` into `block`.
    pub(super) fn step(&mut self, input: &[u8], block: &mut [u8]) -> Result<StageStep, DecodeStop> {
        let step = match &mut self.codec {
            Codec::Inflate(inflate) => inflate.step(input, block),
            Codec::Brotli(brotli) => brotli.step(input, block),
            Codec::Zstd(zstd) => zstd.step(input, block),
        };
        let step = step.map_err(|Corrupt| DecodeStop::Corrupt(self.coding()))?;
        self.yielded += step.written as u64;
        Ok(step)
    }

    /// Bytes that came out so far.
    pub(super) fn yielded(&self) -> u64 {
        self.yielded
    }

    /// Whether the stream reached its end.
    pub(super) fn is_complete(&self) -> bool {
        match &self.codec {
            Codec::Inflate(inflate) => inflate.is_complete(),
            Codec::Brotli(brotli) => brotli.complete,
            Codec::Zstd(zstd) => zstd.complete,
        }
    }

    fn coding(&self) -> Coding {
        match &self.codec {
            Codec::Inflate(inflate) => inflate.coding(),
            Codec::Brotli(_) => Coding::Brotli,
            Codec::Zstd(_) => Coding::Zstd,
        }
    }
}

impl Brotli {
    fn new() -> Self {
        let alloc = StandardAlloc::default;
        Self { state: BrotliState::new_strict(alloc(), alloc(), alloc()), complete: false }
    }

    fn step(&mut self, input: &[u8], block: &mut [u8]) -> Result<StageStep, Corrupt> {
        if self.complete {
            return Ok(StageStep { read: input.len(), written: 0 });
        }
        let mut left = input.len();
        let mut read = 0;
        let mut room = block.len();
        let mut written = 0;
        let mut total = 0;
        let result = BrotliDecompressStream(
            &mut left,
            &mut read,
            input,
            &mut room,
            &mut written,
            block,
            &mut total,
            &mut self.state,
        );
        match result {
            BrotliResult::ResultFailure => return Err(Corrupt),
            BrotliResult::ResultSuccess => self.complete = true,
            BrotliResult::NeedsMoreInput | BrotliResult::NeedsMoreOutput => {}
        }
        Ok(StageStep { read, written })
    }
}

impl Zstd {
    fn new() -> Self {
        let mut decoder = Decoder::new().expect("a zstd decoder needs only memory");
        let window = decoder.set_parameter(DParameter::WindowLogMax(ZSTD_WINDOW_LOG));
        window.expect("the window is within zstd's own bounds");
        Self { decoder, complete: false, ended: false }
    }

    fn step(&mut self, input: &[u8], block: &mut [u8]) -> Result<StageStep, Corrupt> {
        if self.ended || (input.is_empty() && self.complete) {
            return Ok(StageStep { read: input.len(), written: 0 });
        }
        let (mut from, mut to) = (InBuffer::around(input), OutBuffer::around(block));
        let Ok(hint) = self.decoder.run(&mut from, &mut to) else {
            self.ended = self.complete;
            return if self.ended { Ok(StageStep { read: input.len(), written: 0 }) } else { Err(Corrupt) };
        };
        let step = StageStep { read: from.pos(), written: to.pos() };
        self.complete = hint == 0 || (self.complete && step.written == 0);
        Ok(step)
    }
}
