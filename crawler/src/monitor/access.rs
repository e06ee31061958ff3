//! [`PortAccess`]: who may see what a port shows.

use data_encoding::BASE64;
use hyper::{
    Request,
    body::Incoming,
    header::{AUTHORIZATION, HOST},
};
use sha2::{Digest, Sha256};

use crate::session::CommandFailure;

/// The variable with the token.
pub(super) const TOKEN: &str = "WEBLOOM_LISTEN_TOKEN";

/// Whoever has the token; without one, whoever asks this machine by its own name.
#[derive(Debug, Clone)]
pub(crate) struct PortAccess {
    /// SHA-256 of the token.
    token: Option<[u8; 32]>,
}

impl PortAccess {
    /// By this token.
    pub(super) fn new(token: Option<&str>) -> Self {
        Self { token: token.map(|token| Sha256::digest(token).into()) }
    }

    /// Whether the request may see all that is shown.
    pub(crate) fn may_see(&self, request: &Request<Incoming>) -> bool {
        let Some(token) = &self.token else { return is_local(request) };
        let given = request.headers().get(AUTHORIZATION).and_then(|value| value.to_str().ok()).and_then(secret);
        // Of digests, the time that a comparison takes says nothing of the token.
        given.is_some_and(|given| <[u8; 32]>::from(Sha256::digest(given)) == *token)
    }
}

/// The token, if one is set.
pub(super) fn token() -> Result<Option<String>, CommandFailure> {
    let Some(token) = std::env::var_os(TOKEN).filter(|token| !token.is_empty()) else { return Ok(None) };
    let token = token.into_string().ok().filter(|token| token.bytes().all(|byte| byte.is_ascii_graphic()));
    // A header can hold no other.
    token
        .map(Some)
        .ok_or_else(|| CommandFailure::Usage(format!("{TOKEN}: give visible characters of ASCII, without spaces")))
}

/// What an `Authorization` header gives: a token, or a password that a browser has asked for.
fn secret(header: &str) -> Option<Vec<u8>> {
    let (scheme, value) = header.split_once(' ')?;
    if scheme.eq_ignore_ascii_case("bearer") {
        return Some(value.trim().as_bytes().to_vec());
    }
    if !scheme.eq_ignore_ascii_case("basic") {
        return None;
    }
    let decoded = BASE64.decode(value.trim().as_bytes()).ok()?;
    let colon = decoded.iter().position(|byte| *byte == b':')?;
    Some(decoded[colon + 1..].to_vec())
}

/// Whether a request names this machine: a page from elsewhere whose name was made to lead here is none of ours.
fn is_local(request: &Request<Incoming>) -> bool {
    let host = request.headers().get(HOST).and_then(|host| host.to_str().ok());
    let Some(host) = host else { return true };
    let name = host
        .rsplit_once(':')
        .filter(|(_, port)| port.bytes().all(|byte| byte.is_ascii_digit()))
        .map_or(host, |(name, _)| name);
    let name = name.trim_start_matches('[').trim_end_matches(']');
    name.eq_ignore_ascii_case("localhost") || name.parse::<std::net::IpAddr>().is_ok()
}
