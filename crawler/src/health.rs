//! The health of a host, as the frontier and the URL table exchange it.
//!
//! Owns: the causes for which a host is left alone, with their words, and a host's health as it is stored.
//!
//! Does not know: when a host is asked again (the frontier's matter), or how rows are kept.

use std::{fmt, str::FromStr};

use crate::time::Moment;

/// Why a host gives no answer that could be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FailureCause {
    /// Its name has no address.
    NoName,
    /// Its name cannot be looked up.
    LookUp,
    /// No network leads there.
    NoRoute,
    /// It refuses connections.
    Refused,
    /// It is silent until a limit of time ends.
    TimedOut,
    /// There is no secure connection.
    Tls(TlsFault),
    /// It closes connections before it answers.
    Closed,
    /// The crawl may not connect to its address.
    Address,
    /// Its robots.txt redirects to a host that gives no answer, or may not be asked.
    RobotsRedirect,
    /// It shows its log-in page: the session that the crawl's cookies are of has ended.
    LogIn,
    /// It answers with this status (429, or 500 and more), or forbids everything with it (401, 403).
    Status(u16),
}

/// Why there is no secure connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TlsFault {
    /// The certificate has expired, or is not valid yet.
    Expired,
    /// It is for another name.
    OtherName,
    /// Nobody whom this machine trusts has signed it.
    UnknownIssuer,
    /// Anything else: the server speaks no TLS, or none that we do.
    Other,
}

impl TlsFault {
    fn explained(self) -> &'static str {
        match self {
            Self::Expired => "its certificate has expired, or is not valid yet: is the clock of this machine right?",
            Self::OtherName => "its certificate is for another name",
            Self::UnknownIssuer => {
                "nobody whom this machine trusts has signed its certificate: if the host is yours, give it with --insecure-host"
            }
            Self::Other => "no secure connection: does it speak TLS on this port?",
        }
    }
}

/// A word that names no cause.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown cause {0:?}")]
pub struct UnknownCause(String);

impl FailureCause {
    const WORDS: [(Self, &'static str); 13] = [
        (Self::NoName, "no_name"),
        (Self::LookUp, "look_up"),
        (Self::NoRoute, "no_route"),
        (Self::Refused, "refused"),
        (Self::TimedOut, "timed_out"),
        (Self::Tls(TlsFault::Expired), "tls_expired"),
        (Self::Tls(TlsFault::OtherName), "tls_name"),
        (Self::Tls(TlsFault::UnknownIssuer), "tls_issuer"),
        (Self::Tls(TlsFault::Other), "tls"),
        (Self::Closed, "closed"),
        (Self::Address, "address"),
        (Self::RobotsRedirect, "robots_redirect"),
        (Self::LogIn, "log-in"),
    ];

    /// Whether something answered, so that this machine is online.
    pub fn is_sign_of_life(self) -> bool {
        !matches!(self, Self::LookUp | Self::NoRoute | Self::TimedOut | Self::RobotsRedirect)
    }

    /// What a person reads, with what can be done about it.
    pub fn explained(self) -> &'static str {
        match self {
            Self::NoName => "no such name: check its spelling, and whether this machine can look up names",
            Self::LookUp => "its name cannot be looked up at the moment",
            Self::NoRoute => "this machine has no route to it",
            Self::Refused => "it refuses the connection: is a server running on this port?",
            Self::TimedOut => "no answer in time",
            Self::Tls(fault) => fault.explained(),
            Self::Closed => "it closes connections before it answers",
            Self::Address => "its address is not on the public internet: if it is yours, give it with --allow-private",
            Self::RobotsRedirect => "its robots.txt redirects to a host that gives no answer, or may not be asked",
            Self::LogIn => "the log-in has expired, or was never valid: give new cookies with --cookies FILE",
            Self::Status(401 | 403) => {
                "it forbids all that it is asked for: it may not want to be crawled, or wants a password"
            }
            Self::Status(429) => "it asks for fewer requests (429): a longer --delay may help",
            Self::Status(_) => "it answers with a server error",
        }
    }
}

/// The word used in the database and in output.
impl fmt::Display for FailureCause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Status(status) => write!(f, "{status}"),
            named => f.write_str(Self::WORDS.iter().find(|(cause, _)| cause == named).map_or("", |(_, word)| word)),
        }
    }
}

impl FromStr for FailureCause {
    type Err = UnknownCause;

    fn from_str(word: &str) -> Result<Self, UnknownCause> {
        if let Ok(status) = word.parse() {
            return Ok(Self::Status(status));
        }
        let found = Self::WORDS.iter().find(|(_, name)| *name == word);
        found.map(|(cause, _)| *cause).ok_or_else(|| UnknownCause(word.to_owned()))
    }
}

/// A host that is not well, as it is stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HealthRow {
    /// Failures in a row.
    pub failures: u32,
    /// When the first of them was.
    pub since: Moment,
    /// Why the last of them was.
    pub cause: FailureCause,
    /// It is not asked before this moment.
    pub not_before: Moment,
    /// Who chose that moment.
    pub wait: Wait,
    /// A URL of the host that had an answer before, by which its recovery is found out.
    pub known_good: Option<Box<str>>,
}

/// Why a host is left alone until a moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wait {
    /// The crawl backs off.
    BackOff,
    /// The host asked for it (`Retry-After`).
    Asked,
    /// The host asked for more than the crawl waits for: a later start may ask it.
    Paused,
}

impl Wait {
    /// The word used in the database.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::BackOff => "back_off",
            Self::Asked => "asked",
            Self::Paused => "paused",
        }
    }

    /// Reads [`Wait::as_str`]; an unknown word counts as a back-off.
    pub fn from_word(word: &str) -> Self {
        match word {
            "asked" => Self::Asked,
            "paused" => Self::Paused,
            _ => Self::BackOff,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_read_back() {
        for cause in FailureCause::WORDS.map(|(cause, _)| cause).into_iter().chain([FailureCause::Status(503)]) {
            assert_eq!(cause.to_string().parse(), Ok(cause));
            assert!(!cause.explained().is_empty());
        }
        assert!("ill".parse::<FailureCause>().is_err());
        for wait in [Wait::BackOff, Wait::Asked, Wait::Paused] {
            assert_eq!(Wait::from_word(wait.as_str()), wait);
        }
    }
}
