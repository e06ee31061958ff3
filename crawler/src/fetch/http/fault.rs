//! Turns the client's errors into ours.

use std::error::Error;
use std::io;
use std::iter::successors;

use rustix::io::Errno;

use super::names::Refused;
use crate::fetch::{Cause, FetchError, Phase};
use crate::health::TlsFault;

/// What an error in the chain tells by its type.
enum Sign {
    Refused(std::net::IpAddr),
    OwnMachine,
    Tls(TlsFault),
    Malformed,
}

/// Names the trouble. The URL is left out: it may hold credentials, and whoever asked knows it.
pub(super) fn of(error: reqwest::Error) -> FetchError {
    let error = error.without_url();
    let dns = error.is_dns();
    let connect = error.is_connect();
    let timeout = error.is_timeout();
    let sign = chain(&error).find_map(sign);
    match sign {
        Some(Sign::Refused(address)) => FetchError::AddressRefused(address),
        Some(Sign::OwnMachine) => FetchError::OwnMachine(Cause::new(error)),
        // The resolver hides that it could not open its socket.
        _ if dns && no_file_can_be_opened() => FetchError::OwnMachine(Cause::new(error)),
        Some(Sign::Tls(fault)) => FetchError::Tls(fault, Cause::new(error)),
        _ if dns => look_up(error),
        _ if connect && timeout => FetchError::TimedOut(Phase::Connect),
        _ if connect => connection(error),
        Some(Sign::Malformed) => FetchError::Protocol(Cause::new(error)),
        // A URL beyond what fits in a request.
        None if error.is_builder() => FetchError::Protocol(Cause::new(error)),
        None => FetchError::Closed(Cause::new(error)),
    }
}

/// The same where it went through a proxy: what keeps us from asking that is no host's fault. `by_tunnel` says that the proxy makes a
/// connection to the host before anything is sent.
pub(super) fn of_proxied(error: reqwest::Error, by_tunnel: bool) -> FetchError {
    let says = |words: &str| chain(&error).any(|error| error.to_string().contains(words));
    if ["proxy authorization required", "credentials not accepted", "does not support user/pass"]
        .iter()
        .any(|one| says(one))
    {
        return proxy_wants_log_in();
    }
    // A connector for SOCKS hides why it has no connection to the proxy.
    let has_none = says("failed to create underlying connection");
    let is_away = |error: &io::Error| {
        use io::ErrorKind::{ConnectionRefused, HostUnreachable, NetworkUnreachable};
        matches!(error.kind(), ConnectionRefused | HostUnreachable | NetworkUnreachable)
    };
    let is_unreachable =
        has_none || error.is_dns() || chain(&error).any(|error| error.downcast_ref().is_some_and(is_away));
    match of(error) {
        FetchError::NoName(cause)
        | FetchError::Resolve(cause)
        | FetchError::Refused(cause)
        | FetchError::NoRoute(cause)
        | FetchError::Connect(cause)
            if is_unreachable =>
        {
            FetchError::OwnMachine(Cause::new(ProxyFailure::Away(cause)))
        }
        // Nothing but the connection to the proxy is made before a request goes.
        FetchError::TimedOut(Phase::Connect) if !by_tunnel => FetchError::OwnMachine(Cause::new(ProxyFailure::Silent)),
        error => error,
    }
}

/// The proxy does not let us through.
pub(super) fn proxy_wants_log_in() -> FetchError {
    FetchError::OwnMachine(Cause::new(ProxyFailure::LogIn))
}

/// Why a proxy is of no use. The causes are in the text, because only the innermost error is shown.
#[derive(Debug, thiserror::Error)]
enum ProxyFailure {
    #[error("the proxy does not answer: {0}")]
    Away(Cause),
    #[error("the proxy does not answer in time")]
    Silent,
    #[error("the proxy wants a user name and a password: --proxy http://USER:PASS@HOST:PORT")]
    LogIn,
}

/// What `getaddrinfo` says of a name that has no address, and what is said of one that a resolver of ours does not know.
const NO_NAME: [&str; 4] =
    ["Name or service not known", "No address associated with hostname", "has no address", "no such name"];

/// A look-up that failed. The resolver tells only in words that it got no answer.
fn look_up(error: reqwest::Error) -> FetchError {
    let says = |words: &str| chain(&error).any(|error| error.to_string().contains(words));
    if NO_NAME.iter().any(|words| says(words)) {
        FetchError::NoName(Cause::new(error))
    } else if is_offline() {
        FetchError::OwnMachine(Cause::new(NoNetwork))
    } else {
        FetchError::Resolve(Cause::new(error))
    }
}

/// A connection that was not made.
fn connection(error: reqwest::Error) -> FetchError {
    let kind = chain(&error).find_map(|error| error.downcast_ref::<io::Error>().map(io::Error::kind));
    match kind {
        Some(io::ErrorKind::ConnectionRefused) => FetchError::Refused(Cause::new(error)),
        Some(io::ErrorKind::NetworkUnreachable) if is_offline() => FetchError::OwnMachine(Cause::new(NoNetwork)),
        Some(io::ErrorKind::NetworkUnreachable | io::ErrorKind::HostUnreachable) => {
            FetchError::NoRoute(Cause::new(error))
        }
        _ => FetchError::Connect(Cause::new(error)),
    }
}

/// This machine is in no network.
#[derive(Debug, thiserror::Error)]
#[error("no network is up")]
struct NoNetwork;

/// Whether no network but the machine's own is up: no route leads anywhere else. Where that cannot be read, one is.
fn is_offline() -> bool {
    let routes = |file: &str, device: usize| {
        let table = std::fs::read_to_string(file).ok()?;
        Some(
            table
                .lines()
                .filter_map(|line| line.split_whitespace().nth(device))
                .any(|name| name != "lo" && name != "Iface"),
        )
    };
    routes("/proc/net/route", 0) == Some(false) && routes("/proc/net/ipv6_route", 9) != Some(true)
}

/// Whether anything of a request was sent: not where it has no connection, or lost it before.
pub(super) fn was_sent(error: &reqwest::Error) -> bool {
    let no_connection = error.is_builder() || error.is_dns() || error.is_connect();
    !no_connection && !chain(error).any(|error| error.downcast_ref().is_some_and(is_unsent))
}

/// Whether a connection ended before there was an answer: it may have been at its end when the request was sent. An error
/// of HTTP/2 on a connection that is open is none of that.
pub(super) fn is_end_of_connection(error: &FetchError) -> bool {
    let FetchError::Closed(cause) = error else { return false };
    is_reset(error)
        || chain(cause).any(|error| {
            let gone = |error: &hyper::Error| error.is_incomplete_message() || is_unsent(error);
            let ended = |error: &io::Error| error.kind() == io::ErrorKind::UnexpectedEof;
            error.downcast_ref().is_some_and(gone) || error.downcast_ref().is_some_and(ended)
        })
}

/// Whether a connection ended by a reset: a server's system sends one for what comes after the server closed, or was not
/// read when it did.
pub(super) fn is_reset(error: &FetchError) -> bool {
    use io::ErrorKind::{BrokenPipe, ConnectionAborted, ConnectionReset};
    let FetchError::Closed(cause) = error else { return false };
    let reset = |error: &io::Error| matches!(error.kind(), BrokenPipe | ConnectionAborted | ConnectionReset);
    chain(cause).any(|error| error.downcast_ref().is_some_and(reset))
}

fn is_unsent(error: &hyper::Error) -> bool {
    error.is_canceled() || error.is_closed()
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
    if let Some(error) = error.downcast_ref::<rustls::Error>() {
        return Some(Sign::Tls(tls_fault(error)));
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

fn tls_fault(error: &rustls::Error) -> TlsFault {
    use rustls::CertificateError as E;
    let rustls::Error::InvalidCertificate(certificate) = error else { return TlsFault::Other };
    match certificate {
        E::Expired | E::ExpiredContext { .. } | E::NotValidYet | E::NotValidYetContext { .. } => TlsFault::Expired,
        E::NotValidForName | E::NotValidForNameContext { .. } => TlsFault::OtherName,
        E::UnknownIssuer => TlsFault::UnknownIssuer,
        // It has signed itself, as an authority.
        E::Other(error) if error.to_string().contains("CaUsedAsEndEntity") => TlsFault::UnknownIssuer,
        _ => TlsFault::Other,
    }
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
