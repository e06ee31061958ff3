//! Reading a response's body.

use std::pin::pin;

use reqwest::Response;
use tokio::time::{Instant, sleep_until};

use super::pace::Pace;
use super::room::{BodyMemory, SMALL};
use crate::fetch::decode::{BodyDecoder, DecodeError};
use crate::fetch::{BodyRoom, Truncation};

/// How a body ended.
pub(super) enum Ending {
    /// As the server said it would.
    Whole,
    /// By one of our limits.
    Cut(Truncation),
    /// With the connection, or in broken framing.
    Broken(reqwest::Error),
}

/// What reading a body needs beside it.
pub(super) struct BodyReader<'a> {
    pub(super) pace: Pace,
    pub(super) memory: &'a BodyMemory,
    /// The longest body that is kept.
    pub(super) max_body: u64,
    /// Room that was given to this body.
    pub(super) room: BodyRoom,
}

impl BodyReader<'_> {
    /// Reads until the body ends, a limit is reached or the time is over; what came is in the decoder.
    pub(super) async fn read(
        &mut self,
        response: &mut Response,
        decoder: &mut BodyDecoder,
    ) -> Result<Ending, DecodeError> {
        decoder.expect(response.content_length().unwrap_or_default());
        let mut alarm = pin!(sleep_until(self.pace.due()));
        loop {
            let chunk = tokio::select! {
                biased;
                chunk = response.chunk() => chunk,
                () = &mut alarm => {
                    if let Some(cut) = self.pace.look(Instant::now(), decoder.wire_bytes()) {
                        return Ok(Ending::Cut(cut));
                    }
                    alarm.as_mut().reset(self.pace.due());
                    continue;
                }
            };
            match chunk {
                Ok(Some(bytes)) => {
                    if let Some(reason) = decoder.push(&bytes)?.break_value() {
                        return Ok(Ending::Cut(reason));
                    }
                }
                Ok(None) => return Ok(Ending::Whole),
                Err(error) => return Ok(Ending::Broken(error)),
            }
            if decoder.decoded_bytes() > SMALL && self.room.is_none() {
                self.wait_for_room(response.content_length(), decoder.is_plain()).await;
                alarm.as_mut().reset(self.pace.due());
            }
        }
    }

    /// A big body waits here, and the server with it, until others are done with.
    async fn wait_for_room(&mut self, promised: Option<u64>, plain: bool) {
        let length = promised.filter(|_| plain).map_or(self.max_body, |length| length.min(self.max_body));
        let began = Instant::now();
        self.room = self.memory.room(length).await;
        self.pace.pause(began.elapsed());
    }
}
