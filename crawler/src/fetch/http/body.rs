//! Reading a response's body.

use std::pin::pin;

use reqwest::Response;
use tokio::time::{Instant, sleep_until};

use super::pace::BodyPace;
use super::room::{BodyMemory, RoomShare};
use crate::fetch::Truncation;
use crate::fetch::decode::{BodyDecoder, DecodeError};

/// How a body ended.
pub(super) enum BodyEnding {
    /// As the server said it would.
    Whole,
    /// By one of our limits.
    Cut(Truncation),
    /// With the connection, or in broken framing.
    Broken(reqwest::Error),
}

/// What reading a body needs beside it.
pub(super) struct BodyReader<'a> {
    pub(super) pace: BodyPace,
    pub(super) memory: &'a BodyMemory,
    /// What this body has of it.
    pub(super) share: RoomShare,
    /// The bytes as they came, where codings are undone and they are kept too.
    pub(super) sent: Option<Sent>,
    /// Bytes that are held beside the body.
    pub(super) beside: u64,
}

/// Bytes of a body before they are decoded, up to a limit.
pub(super) struct Sent {
    bytes: Vec<u8>,
    most: u64,
}

/// What is decoded between two looks at the memory: little may become much.
const PIECE: usize = 2048;

impl BodyReader<'_> {
    /// Reads until the body ends, a limit is reached or the time is over; what came is in the decoder.
    pub(super) async fn read(
        &mut self,
        response: &mut Response,
        decoder: &mut BodyDecoder,
    ) -> Result<BodyEnding, DecodeError> {
        decoder.expect(response.content_length().unwrap_or_default());
        let mut alarm = pin!(sleep_until(self.pace.due()));
        loop {
            let chunk = tokio::select! {
                biased;
                chunk = response.chunk() => chunk,
                () = &mut alarm => {
                    // Of a body that compresses well little needs to come.
                    let came = decoder.wire_bytes().max(decoder.decoded_bytes());
                    if let Some(cut) = self.pace.look(Instant::now(), came) {
                        return Ok(BodyEnding::Cut(cut));
                    }
                    alarm.as_mut().reset(self.pace.due());
                    continue;
                }
            };
            let bytes = match chunk {
                Ok(Some(bytes)) => bytes,
                Ok(None) => return Ok(BodyEnding::Whole),
                Err(error) => return Ok(BodyEnding::Broken(error)),
            };
            let size = if decoder.is_plain() { bytes.len().max(1) } else { PIECE };
            for piece in bytes.chunks(size) {
                if self.sent.as_mut().is_some_and(|sent| !sent.keep(piece)) {
                    return Ok(BodyEnding::Cut(Truncation::Size));
                }
                if let Some(reason) = decoder.push(piece)?.break_value() {
                    return Ok(BodyEnding::Cut(reason));
                }
                let held = decoder.decoded_bytes() + self.beside();
                if !self.memory.has_room(&mut self.share, held) {
                    self.wait_for_room().await;
                    alarm.as_mut().reset(self.pace.due());
                }
            }
        }
    }

    fn beside(&self) -> u64 {
        self.beside + self.sent.as_ref().map_or(0, |sent| sent.bytes.len() as u64)
    }

    /// A big body waits here, and the server with it, until others are done with.
    async fn wait_for_room(&mut self) {
        let began = Instant::now();
        self.memory.take_lane(&mut self.share).await;
        self.pace.pause(began.elapsed());
    }
}

impl Sent {
    pub(super) fn new(most: u64) -> Self {
        Self { bytes: Vec::new(), most }
    }

    /// Keeps what fits; whether that was all.
    fn keep(&mut self, piece: &[u8]) -> bool {
        let room = self.most.saturating_sub(self.bytes.len() as u64);
        let fits = usize::try_from(room).unwrap_or(usize::MAX).min(piece.len());
        self.bytes.extend_from_slice(&piece[..fits]);
        fits == piece.len()
    }

    pub(super) fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }
}
