//! [`Inflate`]: gzip and deflate, whose beginning decides what they are.

use flate2::{Decompress, FlushDecompress, Status};

use super::Coding;
use super::step::{Corrupt, StageStep};

/// The largest window of deflate: 2^15 bytes.
const WINDOW_BITS: u8 = 15;

/// Undoes `gzip` (RFC 1952, any number of members) or `deflate` (RFC 1950 or 1951).
pub(super) struct Inflate {
    coding: Coding,
    state: State,
}

enum State {
    /// Fewer than two bytes are there: this first one, or none.
    Start(Option<u8>),
    /// The first member or the only stream.
    First(Decompress),
    /// A later member of gzip that has yielded nothing yet: it may be garbage.
    Next(Decompress),
    /// Behind a whole stream.
    Between,
    /// Not compressed after all.
    Plain,
}

impl Inflate {
    pub(super) fn gzip() -> Self {
        Self { coding: Coding::Gzip, state: State::Start(None) }
    }

    pub(super) fn deflate() -> Self {
        Self { coding: Coding::Deflate, state: State::Start(None) }
    }

    pub(super) fn coding(&self) -> Coding {
        self.coding
    }

    pub(super) fn is_complete(&self) -> bool {
        matches!(self.state, State::Between | State::Plain)
    }

    pub(super) fn step(&mut self, input: &[u8], block: &mut [u8]) -> Result<StageStep, Corrupt> {
        if input.is_empty() && matches!(self.state, State::Start(_) | State::Between | State::Plain) {
            return Ok(StageStep::default());
        }
        match &mut self.state {
            State::Start(first) => match (*first, input) {
                (Some(first), [second, ..]) => self.begin([first, *second], 1, block),
                (None, [first, second, ..]) => self.begin([*first, *second], 2, block),
                (first, _) => {
                    self.state = State::Start(first.or(input.first().copied()));
                    Ok(StageStep { read: 1, written: 0 })
                }
            },
            State::First(_) | State::Next(_) => self.inflate(input, block),
            State::Between => self.after_end(input, block),
            State::Plain => Ok(copy(input, block)),
        }
    }

    /// Decides by the first two bytes, of which `read` are taken from the input now.
    fn begin(&mut self, head: [u8; 2], read: usize, block: &mut [u8]) -> Result<StageStep, Corrupt> {
        self.state = match self.coding {
            Coding::Gzip if head != [0x1f, 0x8b] => State::Plain,
            Coding::Gzip => State::First(Decompress::new_gzip(WINDOW_BITS)),
            _ => State::First(Decompress::new(is_zlib(head))),
        };
        let step = if matches!(self.state, State::Plain) { copy(&head, block) } else { self.inflate(&head, block)? };
        Ok(StageStep { read, written: step.written })
    }

    fn inflate(&mut self, input: &[u8], block: &mut [u8]) -> Result<StageStep, Corrupt> {
        let (State::First(decoder) | State::Next(decoder)) = &mut self.state else {
            return Err(Corrupt);
        };
        let before = (decoder.total_in(), decoder.total_out());
        let result = decoder.decompress(input, block, FlushDecompress::None);
        let step =
            StageStep { read: since(decoder.total_in(), before.0), written: since(decoder.total_out(), before.1) };
        match result {
            Ok(Status::StreamEnd) => self.state = State::Between,
            Ok(Status::Ok | Status::BufError) => {}
            Err(_) if matches!(&self.state, State::Next(decoder) if decoder.total_out() == 0) => {
                self.state = State::Between;
                return Ok(StageStep { read: input.len(), written: 0 });
            }
            Err(_) => return Err(Corrupt),
        }
        Ok(step)
    }

    /// Another gzip member begins, or what follows is no part of the body.
    fn after_end(&mut self, input: &[u8], block: &mut [u8]) -> Result<StageStep, Corrupt> {
        if self.coding == Coding::Gzip && input.first() == Some(&0x1f) {
            self.state = State::Next(Decompress::new_gzip(WINDOW_BITS));
            return self.inflate(input, block);
        }
        Ok(StageStep { read: input.len(), written: 0 })
    }
}

fn copy(input: &[u8], block: &mut [u8]) -> StageStep {
    let fits = input.len().min(block.len());
    block[..fits].copy_from_slice(&input[..fits]);
    StageStep { read: fits, written: fits }
}

/// RFC 1950 2.2: method 8, and the first two bytes a multiple of 31.
fn is_zlib([method, flags]: [u8; 2]) -> bool {
    method & 0x0f == 8 && u16::from_be_bytes([method, flags]).is_multiple_of(31)
}

fn since(now: u64, before: u64) -> usize {
    usize::try_from(now - before).expect("a step is at most its buffers")
}
