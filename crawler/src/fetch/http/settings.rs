//! [`FetchSettings`]: the settings of a fetcher.

use std::collections::{HashMap, HashSet};
use std::num::NonZeroU64;
use std::sync::Arc;
use std::time::Duration;

use thiserror::Error;

use super::proxy::{BadProxy, ProxyRules};
use crate::fetch::address::{AddressPolicy, StartNames};
use crate::fetch::resolve::ResolveOverride;
use crate::url::{Credentials, Origin};

/// Settings of an [`HttpFetcher`](super::HttpFetcher). It does not print: headers may hold secrets.
#[derive(Clone)]
pub struct FetchSettings {
    /// `User-Agent`; a crawler's names it and has a URL where its operator is found.
    pub user_agent: String,
    /// Further headers of every request to `headers_for`; one of ours by name replaces ours.
    pub headers: Vec<(String, String)>,
    /// Origins that get them. They may log in: no other origin does.
    pub headers_for: HashSet<Origin>,
    /// User names and passwords, by the one origin that gets them.
    pub credentials: HashMap<Origin, Credentials>,
    /// Which languages pages are wanted in.
    pub accept_language: Option<String>,
    /// What goes through a proxy.
    pub proxy: ProxyRules,
    /// Hosts whose certificates are not checked, by name.
    pub insecure_hosts: Vec<String>,
    /// Longest time for addresses, connection and TLS together.
    pub connect_timeout: Duration,
    /// Longest time from a request on a standing connection to the end of the headers.
    pub first_byte_timeout: Duration,
    /// Longest time for everything; a body that takes longer is cut there.
    pub total_timeout: Duration,
    /// Decoded bytes for each received one, once a body has decoded to
    /// [`BodyLimits::FREE_EXPANSION`](crate::fetch::decode::BodyLimits::FREE_EXPANSION).
    pub max_expansion: u32,
    /// Bytes a second that a body must come with, over some seconds; it is cut where it does not.
    pub min_rate: Option<NonZeroU64>,
    /// Origins to which connections are kept open between two requests,
    pub kept_origins: usize,
    /// and how many to each at most.
    pub kept_per_origin: usize,
    /// Which addresses may be connected to.
    pub addresses: AddressPolicy,
    /// Names of starts, which may be private.
    pub start_names: Arc<StartNames>,
    /// Addresses given by the user instead of looked up.
    pub resolve: Vec<ResolveOverride>,
}

/// Why a fetcher cannot be built from its settings.
#[derive(Debug, Error)]
pub enum SetupError {
    /// The user agent has a line break or a control character.
    #[error("user agent {0:?} cannot be sent as a header: use one line of printable characters")]
    UserAgent(String),
    /// A further header is no header (its value is not shown).
    #[error("header {0:?} cannot be sent: a name is a token, a value one line of printable characters")]
    Header(String),
    /// What is to be a proxy is none.
    #[error(transparent)]
    Proxy(#[from] BadProxy),
    /// TLS is unusable.
    #[error("cannot set up TLS")]
    Tls(#[from] rustls::Error),
    /// The HTTP client refuses its settings.
    #[error("cannot set up the HTTP client")]
    Client(#[from] reqwest::Error),
}

impl FetchSettings {
    /// Ten seconds to connect, thirty to the first byte, two minutes in all, no rate, an expansion of 200, connections kept
    /// to 256 origins, the public internet.
    pub fn new(user_agent: impl Into<String>) -> Self {
        Self {
            user_agent: user_agent.into(),
            headers: Vec::new(),
            headers_for: HashSet::new(),
            credentials: HashMap::new(),
            accept_language: None,
            proxy: ProxyRules::default(),
            insecure_hosts: Vec::new(),
            connect_timeout: Duration::from_secs(10),
            first_byte_timeout: Duration::from_secs(30),
            total_timeout: Duration::from_mins(2),
            max_expansion: 200,
            min_rate: None,
            kept_origins: 256,
            kept_per_origin: 32,
            addresses: AddressPolicy::default(),
            start_names: Arc::default(),
            resolve: Vec::new(),
        }
    }
}
