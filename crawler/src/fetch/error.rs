//! [`FetchError`]: why there is no response, and who may be to blame; [`FetchFailure`]: the error, with the requests
//! sent.

use std::error::Error;
use std::fmt;
use std::net::IpAddr;
use std::sync::Arc;

use thiserror::Error;

use super::decode::DecodeError;
use crate::health;

/// A fetch without a response.
#[derive(Debug, Clone, Error)]
#[error("{error}")]
pub struct FetchFailure {
    /// Why there is none.
    #[source]
    pub error: FetchError,
    /// Requests that reached a server, counted as [`FetchResponse::requests`](super::FetchResponse::requests) is. None did
    /// where there was no connection.
    pub requests: u64,
}

/// Why a request got no response at all.
#[derive(Debug, Clone, Error)]
pub enum FetchError {
    /// The resolver did not say which address the host name has.
    #[error("cannot look the host name up: {0}")]
    Resolve(#[source] Cause),
    /// The host name has no address.
    #[error("no such name: {0}")]
    NoName(#[source] Cause),
    /// Every address of the host is one that the crawl may not connect to; this is the first.
    #[error("address {0} is not on the public internet: if it is yours, give it with --allow-private")]
    AddressRefused(IpAddr),
    /// The request is pinned to no address, or to others than the one its URL spells.
    #[error("the host has no address that the request is pinned to")]
    NotPinned,
    /// Nothing listens at the host's address and port.
    #[error("connection refused: {0}")]
    Refused(#[source] Cause),
    /// No network leads to the host's address.
    #[error("no route to the host: {0}")]
    NoRoute(#[source] Cause),
    /// No connection, for another reason.
    #[error("cannot connect: {0}")]
    Connect(#[source] Cause),
    /// A connection, but no TLS session on it (an unknown or expired certificate, a server that does not speak TLS).
    #[error("no secure connection: {1}")]
    Tls(health::TlsFault, #[source] Cause),
    /// The server shows its log-in page where pages were: the session has ended, and the URL is to be asked for with another.
    #[error("the log-in has expired")]
    LoggedOut,
    /// The server shows a log-in page, and nothing shows whether the session has ended or the page is for others.
    #[error("a log-in page")]
    LogInPage,
    /// A limit of time ended before there was a status line and headers (for a 2xx status: before the first byte of a promised body).
    #[error("timed out {0}")]
    TimedOut(Phase),
    /// The connection ended before there was an answer (for a 2xx status: before the first byte of a promised body).
    #[error("connection closed before an answer: {0}")]
    Closed(#[source] Cause),
    /// What came is not HTTP, or headers beyond all bounds; or the URL cannot be put in a request line.
    #[error("not valid HTTP: {0}")]
    Protocol(#[source] Cause),
    /// This machine cannot ask: no file descriptor or memory is left. Nobody else's fault.
    #[error("this machine cannot connect: {0}")]
    OwnMachine(#[source] Cause),
    /// It was given up before it was sent, because the crawl is being stopped.
    #[error("given up before it was sent")]
    Withdrawn,
    /// A fault of this program, which the log describes.
    #[error("a bug in Webloom")]
    Internal,
    /// The body is not in the content coding that the headers announce.
    #[error("cannot decode the body: {0}")]
    Decode(#[from] DecodeError),
}

/// What a request was waiting for when its time ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// Addresses, a connection, a TLS session.
    Connect,
    /// The status line and headers, on a connection that stood.
    FirstByte,
    /// Any of these: the limit of the whole request was shorter.
    Total,
    /// The first byte of the body of a 2xx.
    Body,
}

/// The error below a [`FetchError`], shared so that an outcome can be kept twice; it prints as the innermost one, which
/// names the trouble (`Connection refused`), while [`Error::source`] leads through all of them.
#[derive(Clone)]
pub struct Cause(Arc<dyn Error + Send + Sync>);

impl FetchError {
    /// The failure that this is, after so many requests that reached a server.
    pub fn after(self, requests: u64) -> FetchFailure {
        FetchFailure { error: self, requests }
    }

    /// What is wrong with the host, where it may be to blame: it gave no answer at all.
    pub fn cause(&self) -> Option<health::FailureCause> {
        Some(match self {
            Self::Resolve(_) => health::FailureCause::LookUp,
            Self::NoName(_) => health::FailureCause::NoName,
            Self::Refused(_) => health::FailureCause::Refused,
            Self::NoRoute(_) | Self::Connect(_) => health::FailureCause::NoRoute,
            Self::Tls(fault, _) => health::FailureCause::Tls(*fault),
            Self::TimedOut(_) => health::FailureCause::TimedOut,
            Self::Closed(_) => health::FailureCause::Closed,
            Self::LoggedOut => health::FailureCause::LogIn,
            Self::LogInPage
            | Self::AddressRefused(_)
            | Self::NotPinned
            | Self::Protocol(_)
            | Self::Decode(_)
            | Self::OwnMachine(_)
            | Self::Withdrawn
            | Self::Internal => return None,
        })
    }

    /// Whether the same request may succeed later, where its host is not to blame: a body that came broken. A retry too
    /// many costs a request, one too few a page.
    pub fn may_pass(&self) -> bool {
        matches!(self, Self::Decode(DecodeError::Corrupt(_)) | Self::OwnMachine(_) | Self::Withdrawn)
            || self.cause().is_some()
    }

    /// A short stable word for counters.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Resolve(_) => "dns",
            Self::AddressRefused(_) => "address",
            Self::NotPinned => "not_pinned",
            Self::NoName(_) => "no_name",
            Self::Refused(_) => "refused",
            Self::NoRoute(_) => "no_route",
            Self::Connect(_) => "connect",
            Self::Tls(fault, _) => match fault {
                health::TlsFault::Expired => "tls_expired",
                health::TlsFault::OtherName => "tls_name",
                health::TlsFault::UnknownIssuer => "tls_issuer",
                health::TlsFault::Other => "tls",
            },
            Self::LoggedOut | Self::LogInPage => "log-in",
            Self::TimedOut(_) => "timeout",
            Self::Closed(_) => "closed",
            Self::Protocol(_) => "protocol",
            Self::OwnMachine(_) => "own_machine",
            Self::Withdrawn => "withdrawn",
            Self::Internal => "internal",
            Self::Decode(_) => "decode",
        }
    }
}

impl fmt::Display for Phase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Connect => "while connecting",
            Self::FirstByte => "waiting for the first byte",
            Self::Total => "before the answer began",
            Self::Body => "waiting for the body",
        })
    }
}

impl Cause {
    /// Keeps an error, or a text.
    pub fn new(error: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self(error.into().into())
    }

    /// The innermost error.
    fn root(&self) -> &dyn Error {
        let mut error: &dyn Error = &*self.0;
        while let Some(below) = error.source() {
            error = below;
        }
        error
    }
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self.root(), f)
    }
}

impl fmt::Debug for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}

impl Error for Cause {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.0.source()
    }
}

#[cfg(test)]
mod tests {
    use std::io;

    use super::*;

    #[test]
    fn a_cause_prints_its_root_and_keeps_the_way_there() {
        #[derive(Debug, Error)]
        #[error("outer")]
        struct Outer(#[source] io::Error);
        let cause = Cause::new(Outer(io::Error::other("refused")));
        assert_eq!(FetchError::Connect(cause.clone()).to_string(), "cannot connect: refused");
        assert!(cause.source().is_some());
    }

    #[test]
    fn only_a_host_that_gave_no_answer_is_to_blame() {
        let cause = || Cause::new("x");
        for error in [
            FetchError::Resolve(cause()),
            FetchError::Tls(health::TlsFault::Expired, cause()),
            FetchError::TimedOut(Phase::Connect),
        ] {
            assert!(error.cause().is_some() && error.may_pass(), "{}", error.name());
        }
        for error in [FetchError::Protocol(cause()), FetchError::AddressRefused([10, 0, 0, 1].into())] {
            assert!(error.cause().is_none() && !error.may_pass(), "{}", error.name());
        }
    }
}
