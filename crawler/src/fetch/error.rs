//! [`FetchError`]: why there is no response, and whether asking again may help.

use std::error::Error;
use std::fmt;
use std::net::IpAddr;
use std::sync::Arc;

use thiserror::Error;

use super::decode::DecodeError;

/// Why a request got no response at all.
#[derive(Debug, Clone, Error)]
pub enum FetchError {
    /// The host name has no address, or the resolver did not say.
    #[error("cannot resolve the host name: {0}")]
    Resolve(#[source] Cause),
    /// Every address of the host is one that the crawl may not connect to; this is the first.
    #[error("address {0} is not on the public internet: name it with --allow-private if it is yours")]
    AddressRefused(IpAddr),
    /// No connection.
    #[error("cannot connect: {0}")]
    Connect(#[source] Cause),
    /// A connection, but no TLS session on it (an unknown or expired certificate, a server that does not speak TLS).
    #[error("no secure connection: {0}")]
    Tls(#[source] Cause),
    /// A limit of time ended before there was a status line and headers.
    #[error("timed out {0}")]
    TimedOut(Phase),
    /// The connection ended before there was an answer (for a 2xx status: before the first byte of a promised body).
    #[error("connection closed before an answer: {0}")]
    Closed(#[source] Cause),
    /// What came is not HTTP, or headers beyond all bounds; or the URL cannot be put in a request line.
    #[error("no valid HTTP: {0}")]
    Protocol(#[source] Cause),
    /// This machine cannot ask: no file descriptor or memory is left. Nobody else's fault.
    #[error("this machine cannot connect: {0}")]
    OwnMachine(#[source] Cause),
    /// A fault of this program, which the log describes.
    #[error("a fault of this program")]
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
}

/// Whether the same request may succeed later.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RetryClass {
    /// It may: trouble of the moment.
    Transient,
    /// It will not, as long as settings and server stay as they are.
    Permanent,
    /// It may, once this machine can ask again: no request was made, so that it is no attempt.
    OwnMachine,
}

/// The error below a [`FetchError`], shared so that an outcome can be kept twice; it prints as the innermost one, which
/// names the trouble (`Connection refused`), while [`Error::source`] leads through all of them.
#[derive(Clone)]
pub struct Cause(Arc<dyn Error + Send + Sync>);

impl FetchError {
    /// Whether to ask again. Where an error cannot tell (a name server that knows no name, a body that came broken), it
    /// is taken for transient: a retry too many costs a request, one too few a page.
    pub fn class(&self) -> RetryClass {
        match self {
            Self::Resolve(_) | Self::Connect(_) | Self::TimedOut(_) | Self::Closed(_) => RetryClass::Transient,
            Self::Decode(fault) => match fault {
                DecodeError::Corrupt(_) => RetryClass::Transient,
                DecodeError::TooManyCodings => RetryClass::Permanent,
            },
            Self::AddressRefused(_) | Self::Tls(_) | Self::Protocol(_) | Self::Internal => RetryClass::Permanent,
            Self::OwnMachine(_) => RetryClass::OwnMachine,
        }
    }

    /// A short stable word for counters.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Resolve(_) => "dns",
            Self::AddressRefused(_) => "address",
            Self::Connect(_) => "connect",
            Self::Tls(_) => "tls",
            Self::TimedOut(_) => "timeout",
            Self::Closed(_) => "closed",
            Self::Protocol(_) => "protocol",
            Self::OwnMachine(_) => "own_machine",
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
    fn trouble_of_the_moment_is_tried_again() {
        let cause = || Cause::new("x");
        for error in [FetchError::Resolve(cause()), FetchError::Closed(cause()), FetchError::TimedOut(Phase::Connect)] {
            assert_eq!(error.class(), RetryClass::Transient, "{}", error.name());
        }
        for error in [FetchError::Tls(cause()), FetchError::AddressRefused([10, 0, 0, 1].into())] {
            assert_eq!(error.class(), RetryClass::Permanent, "{}", error.name());
        }
    }
}
