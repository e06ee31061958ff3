//! From the client's errors to ours.

use std::error::Error;
use std::io;
use std::iter::successors;

use rustix::io::Errno;

use super::names::Refused;
use crate::fetch::{Cause, FetchError, Phase};

/// What an error in the chain tells by its type.
enum Sign {
    Refused(std::net::IpAddr),
    OwnMachine,
    Tls,
    Malformed,
}

/// Names the trouble. The URL is left out: it may hold credentials, and whoever asked knows it.
pub(super) fn of(error: reqwest::Error) -> FetchError {
    let error = error.without_url();
    let (dns, connect, timeout) = (error.is_dns(), error.is_connect(), error.is_timeout());
    let sign = chain(&error).find_map(sign);
    match sign {
        Some(Sign::Refused(address)) => FetchError::AddressRefused(address),
        Some(Sign::OwnMachine) => FetchError::OwnMachine(Cause::new(error)),
        // The resolver hides that it could not open its socket.
        _ if dns && no_file_can_be_opened() => FetchError::OwnMachine(Cause::new(error)),
        Some(Sign::Tls) => FetchError::Tls(Cause::new(error)),
        _ if dns => FetchError::Resolve(Cause::new(error)),
        _ if connect && timeout => FetchError::TimedOut(Phase::Connect),
        _ if connect => FetchError::Connect(Cause::new(error)),
        Some(Sign::Malformed) => FetchError::Protocol(Cause::new(error)),
        // A URL beyond what fits in a request.
        None if error.is_builder() => FetchError::Protocol(Cause::new(error)),
        None => FetchError::Closed(Cause::new(error)),
    }
}

/// Whether a connection ended before there was an answer: it may have been at its end when the request was sent. An error
/// of HTTP/2 on a connection that stands is none of that.
pub(super) fn is_end_of_connection(error: &FetchError) -> bool {
    let FetchError::Closed(cause) = error else { return false };
    chain(cause).any(|error| {
        let gone = |error: &hyper::Error| error.is_incomplete_message() || error.is_canceled() || error.is_closed();
        let reset = |error: &io::Error| {
            use io::ErrorKind::{BrokenPipe, ConnectionAborted, ConnectionReset, UnexpectedEof};
            matches!(error.kind(), BrokenPipe | ConnectionAborted | ConnectionReset | UnexpectedEof)
        };
        error.downcast_ref().is_some_and(gone) || error.downcast_ref().is_some_and(reset)
    })
}

/// An error and all below it.
fn chain<'a>(error: &'a (dyn Error + 'static)) -> impl Iterator<Item = &'a (dyn Error + 'static)> {
    successors(Some(error), |error| below(*error))
}

/// The next error; `io::Error` hides the one it wraps from [`Error::source`].
fn below<'a>(error: &'a (dyn Error + 'static)) -> Option<&'a (dyn Error + 'static)> {
    match error.downcast_ref::<io::Error>().and_then(io::Error::get_ref) {
        Some(wrapped) => Some(wrapped),
        None => error.source(),
    }
}

fn sign(error: &(dyn Error + 'static)) -> Option<Sign> {
    if let Some(Refused(address)) = error.downcast_ref() {
        return Some(Sign::Refused(*address));
    }
    if error.is::<rustls::Error>() {
        return Some(Sign::Tls);
    }
    if error.downcast_ref::<io::Error>().and_then(io::Error::raw_os_error).is_some_and(is_own) {
        return Some(Sign::OwnMachine);
    }
    let unparsed = error.downcast_ref::<hyper::Error>().is_some_and(hyper::Error::is_parse);
    // Broken chunk framing.
    let unframed = error.downcast_ref::<io::Error>().is_some_and(|error| {
        matches!(error.kind(), io::ErrorKind::InvalidInput | io::ErrorKind::InvalidData) && !wraps_tls(error)
    });
    (unparsed || unframed).then_some(Sign::Malformed)
}

/// What the system says when it has no descriptor, memory or buffer left. (That it has no address is not among them: it
/// says so also of hosts that it can never reach.)
fn is_own(code: i32) -> bool {
    [Errno::MFILE, Errno::NFILE, Errno::NOMEM, Errno::NOBUFS].iter().any(|own| own.raw_os_error() == code)
}

fn no_file_can_be_opened() -> bool {
    std::fs::File::open("/dev/null").is_err_and(|error| error.raw_os_error().is_some_and(is_own))
}

fn wraps_tls(error: &io::Error) -> bool {
    error.get_ref().is_some_and(<dyn Error + Send + Sync>::is::<rustls::Error>)
}
