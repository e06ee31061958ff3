//! Turns the client's response into ours.

use reqwest::Response;
use reqwest::header::{CONTENT_ENCODING, HeaderMap, HeaderValue};
use tokio::time::Instant;

use super::body::{self, BodyEnding, BodyReader};
use super::exchange::{Patience, Steps};
use super::outgoing::Outgoing;
use super::pace::BodyPace;
use super::room::RoomShare;
use super::{HttpFetcher, Sent, fault, raw_head};
use crate::fetch::decode::{BodyDecoder, BodyLimits, Decoded};
use crate::fetch::{AsSent, FetchError, FetchResponse, Head, Headers, Method, Phase, ReadBody, Timings, Truncation};

/// How much of a body is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Wanted {
    /// It is left where it is.
    Nothing,
    /// So many bytes; a longer one is cut there, for this reason.
    AtMost(u64, Truncation),
}

/// What was read of a body.
struct Read {
    decoded: Decoded,
    truncated: Option<Truncation>,
    as_sent: Option<AsSent>,
    share: RoomShare,
}

impl HttpFetcher {
    /// Turns an answer whose headers are there into ours, and reads its body.
    pub(super) async fn receive(
        &self,
        sent: Sent,
        outgoing: Outgoing,
        patience: Patience,
    ) -> Result<FetchResponse, FetchError> {
        let Sent { answer, steps, requests, .. } = sent;
        let mut response = answer?;
        let first_byte = patience.elapsed();
        let raw_head =
            outgoing.keep.raw_head.then(|| raw_head::of(&response, &outgoing, self.plain_headers(&outgoing)));
        let (status, headers) = (response.status().as_u16(), headers(response.headers()));
        let wanted = wanted(&outgoing, Head { status, headers: &headers });
        let beside = raw_head.as_ref().map_or(0, |head| head.bytes.len() as u64);
        let read = self.read(&mut response, Reading { outgoing: &outgoing, wanted, beside }, patience).await?;
        let Steps { look_up, connect } = steps;
        Ok(FetchResponse {
            final_url: outgoing.url,
            status,
            headers,
            body: read.decoded.body,
            room: read.share.into_room(),
            wire_bytes: read.decoded.wire_bytes,
            truncated: read.truncated,
            // Through a proxy it is the proxy's.
            remote: response.remote_addr().filter(|_| !outgoing.aim.proxied),
            timings: Timings { look_up, connect, tls: None, first_byte, total: patience.elapsed() },
            requests,
            raw_head,
            as_sent: read.as_sent,
        })
    }

    async fn read(&self, response: &mut Response, of: Reading<'_>, patience: Patience) -> Result<Read, FetchError> {
        let (most, cut) = match of.wanted {
            Wanted::AtMost(most, cut) => (most, cut),
            // Whoever drops a body has the connection closed, unless the rest of it is there already.
            Wanted::Nothing => return Ok(Read::nothing(response, of.outgoing.keep.body_as_sent)),
        };
        let limits = BodyLimits { max_body: most, max_expansion: self.settings.max_expansion };
        let codings = response.headers().get_all(CONTENT_ENCODING).iter();
        let mut undoing = BodyDecoder::new(codings.map(HeaderValue::as_bytes), limits)?;
        let keeps_coded = of.outgoing.keep.body_as_sent && !undoing.is_plain();
        let mut reader = BodyReader {
            pace: BodyPace::new(Instant::now(), patience.end(), self.settings.min_rate),
            memory: &self.memory,
            share: RoomShare::default(),
            sent: keeps_coded.then(|| body::Sent::new(of.outgoing.max_body)),
            beside: of.beside,
        };
        let ending = match reader.read(response, &mut undoing).await? {
            BodyEnding::Cut(Truncation::Size) => BodyEnding::Cut(cut),
            ending => ending,
        };
        let decoded = undoing.finish();
        let truncated = truncation(ending, &decoded, response.status().is_success())?;
        let coded = reader.sent.map(|sent| AsSent::Coded(sent.into_bytes()));
        let as_sent = coded.or_else(|| of.outgoing.keep.body_as_sent.then_some(AsSent::Body));
        Ok(Read { decoded, truncated, as_sent, share: reader.share })
    }
}

/// What reading a body depends on.
struct Reading<'a> {
    outgoing: &'a Outgoing,
    wanted: Wanted,
    /// Bytes held beside the body.
    beside: u64,
}

impl Read {
    /// Of a body that is not wanted; one that is empty is whole all the same.
    fn nothing(response: &Response, keeps_sent: bool) -> Self {
        let empty = response.content_length() == Some(0);
        Self {
            decoded: Decoded { body: Vec::new(), wire_bytes: 0, complete: empty },
            truncated: (!empty).then_some(Truncation::Rule),
            as_sent: keeps_sent.then_some(AsSent::Body),
            share: RoomShare::default(),
        }
    }
}

fn wanted(outgoing: &Outgoing, head: Head<'_>) -> Wanted {
    let most = outgoing.max_body;
    // What answers a HEAD has no body to be judged.
    let rule = outgoing.rule.as_ref().filter(|_| outgoing.method == Method::Get);
    match rule.map(|rule| rule.judge(head)) {
        Some(ReadBody::Nothing) => Wanted::Nothing,
        Some(ReadBody::AtMost(less)) if less < most => Wanted::AtMost(less, Truncation::Rule),
        Some(ReadBody::AtMost(_)) | None => Wanted::AtMost(most, Truncation::Size),
    }
}

/// What the end of a body means. A success whose connection broke, or whose time was over, before the first byte of its body has
/// answered nothing; any other status says what it has to say without a body.
fn truncation(ending: BodyEnding, decoded: &Decoded, success: bool) -> Result<Option<Truncation>, FetchError> {
    let is_silent = success && decoded.wire_bytes == 0;
    match ending {
        BodyEnding::Whole if decoded.complete => Ok(None),
        BodyEnding::Cut(Truncation::Time | Truncation::Slow) if is_silent => Err(FetchError::TimedOut(Phase::Body)),
        BodyEnding::Cut(reason) => Ok(Some(reason)),
        BodyEnding::Broken(error) if is_silent => Err(fault::of(error)),
        BodyEnding::Whole | BodyEnding::Broken(_) => Ok(Some(Truncation::Disconnect)),
    }
}

fn headers(headers: &HeaderMap) -> Headers {
    headers.iter().map(|(name, value)| (name.as_str().into(), value.as_bytes().into())).collect()
}
