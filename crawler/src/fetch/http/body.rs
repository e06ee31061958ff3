//! Reading a response's body.

use reqwest::Response;
use tokio::time::{Instant, timeout_at};

use crate::fetch::Truncation;
use crate::fetch::decode::{BodyDecoder, DecodeError};

/// How a body ended.
pub(super) enum Ending {
    /// As the server said it would.
    Whole,
    /// By one of our limits.
    Cut(Truncation),
    /// With the connection, or in broken framing.
    Broken(reqwest::Error),
}

/// Reads until the body ends, a limit is reached or the time is over; what came is in the decoder.
pub(super) async fn read(
    response: &mut Response,
    decoder: &mut BodyDecoder,
    end: Instant,
) -> Result<Ending, DecodeError> {
    decoder.expect(response.content_length().unwrap_or_default());
    timeout_at(end, drain(response, decoder)).await.unwrap_or(Ok(Ending::Cut(Truncation::Time)))
}

async fn drain(response: &mut Response, decoder: &mut BodyDecoder) -> Result<Ending, DecodeError> {
    loop {
        match response.chunk().await {
            Ok(Some(bytes)) => {
                if let Some(reason) = decoder.push(&bytes)?.break_value() {
                    return Ok(Ending::Cut(reason));
                }
            }
            Ok(None) => return Ok(Ending::Whole),
            Err(error) => return Ok(Ending::Broken(error)),
        }
    }
}
