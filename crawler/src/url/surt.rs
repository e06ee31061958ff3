//! SURT: the form of a URL by which web archives sort and look up their pages.
//!
//! The host is turned round (`org,example)`), and what rarely distinguishes two pages is left out: the scheme, `www.` and its
//! numbers, a default port, upper case, the order of parameters, session identifiers, a slash at the end. It is the form that the
//! CDX indexes of archives have, as the Python package `surt` (0.3) writes it.
//!
//! Invariant: equal keys by the rules of a crawl may have different SURTs, and the other way round: it is no [`Key`](super::Key).

use std::sync::LazyLock;

use regex::Regex;

use super::{WebUrl, spelling::value};

/// Session identifiers in a path: of ASP.NET pages, and of Java servers.
static PATH_SESSIONS: LazyLock<[Regex; 3]> = LazyLock::new(|| {
    [
        r"^(.*/)\((?:[a-z]\([0-9a-z]{24}\))+\)/([^?]+\.aspx.*)$",
        r"^(.*/)\([0-9a-z]{24}\)/([^?]+\.aspx.*)$",
        r"^(.*);jsessionid=[0-9a-z]{32}()$",
    ]
    .map(expression)
});

/// The same in a query: each takes its `&` with it.
static QUERY_SESSIONS: LazyLock<[Regex; 5]> = LazyLock::new(|| {
    [
        r"^(.*)jsessionid=[0-9a-z]{32}(?:&(.*))?$",
        r"^(.*)phpsessid=[0-9a-z]{32}(?:&(.*))?$",
        r"^(.*)sid=[0-9a-z]{32}(?:&(.*))?$",
        r"^(.*)aspsessionid[a-z]{8}=[a-z]{24}(?:&(.*))?$",
        r"^(.*)cfid=[^&]+&cftoken=[^&]+(?:&(.*))?$",
    ]
    .map(expression)
});

static NUMBERED_WWW: LazyLock<Regex> = LazyLock::new(|| expression(r"^www[0-9]*\."));

fn expression(text: &str) -> Regex {
    Regex::new(text).expect("expressions of this file are valid")
}

impl WebUrl {
    /// The SURT of this URL, without its scheme.
    ///
    /// ```
    /// use webloom::internals::url::WebUrl;
    /// let url = WebUrl::parse("https://www.example.org:443/B/?d=2&c=1")?;
    /// assert_eq!(url.surt(), "org,example)/b?c=1&d=2");
    /// # Ok::<(), webloom::internals::url::UrlError>(())
    /// ```
    pub fn surt(&self) -> String {
        let path = path(self.path());
        let query = self.path_and_query().strip_prefix(self.path()).and_then(|query| query.strip_prefix('?'));
        let query = query.map(query_of).filter(|query| !query.is_empty());
        let (mark, query) = query.as_deref().map_or(("", ""), |query| ("?", query));
        [&*host(self), ")", &path, mark, query].concat()
    }
}

/// Its parts from the last to the first, those of an IPv4 address too; an IPv6 address is without brackets.
fn host(url: &WebUrl) -> String {
    let name = url.host();
    let name = match name.strip_prefix('[').and_then(|name| name.strip_suffix(']')) {
        Some(address) => address.to_owned(),
        None => turned(name),
    };
    match url.authority().strip_prefix(url.host()) {
        Some(port) => name + port,
        None => name,
    }
}

fn turned(name: &str) -> String {
    let name = unescaped(name).to_ascii_lowercase();
    let name = String::from_utf8_lossy(&name);
    let name = NUMBERED_WWW.find(&name).map_or(&*name, |www| &name[www.end()..]);
    let parts: Vec<_> = name.split('.').filter(|part| !part.is_empty()).rev().collect();
    parts.join(",")
}

fn path(path: &str) -> String {
    let plain = unescaped(path);
    let mut segments: Vec<&[u8]> = Vec::new();
    for segment in plain.split(|byte| *byte == b'/').filter(|segment| !segment.is_empty() && *segment != b".") {
        if segment == b".." {
            segments.pop();
        } else {
            segments.push(segment);
        }
    }
    let ends = segments.last().is_some_and(|_| plain.ends_with(b"/"));
    let joined = [b"/".as_slice(), &segments.join(&b'/'), if ends { b"/" } else { b"" }].concat();
    let path = escaped(&joined).to_ascii_lowercase();
    let path = PATH_SESSIONS.iter().find_map(|session| without(session, &path)).unwrap_or(path);
    match path.strip_suffix('/') {
        Some(shorter) if !shorter.is_empty() => shorter.to_owned(),
        _ => path,
    }
}

fn query_of(query: &str) -> String {
    let query = escaped(&unescaped(query)).to_ascii_lowercase();
    let query = QUERY_SESSIONS.iter().fold(query, |query, session| without(session, &query).unwrap_or(query));
    let mut parameters: Vec<_> = query.split('&').map(|parameter| (parameter.split_once('='), parameter)).collect();
    parameters.sort_by_key(|(parts, parameter)| parts.map_or((*parameter, None), |(name, rest)| (name, Some(rest))));
    parameters.into_iter().map(|(_, parameter)| parameter).collect::<Vec<_>>().join("&")
}

/// What an expression leaves of a text: its two groups.
fn without(session: &Regex, text: &str) -> Option<String> {
    let groups = session.captures(text)?;
    Some([1, 2].map(|group| groups.get(group).map_or("", |group| group.as_str())).concat())
}

/// Without escapes, and without those that come to be when one is replaced.
fn unescaped(text: &str) -> Vec<u8> {
    let mut plain = Vec::with_capacity(text.len());
    for byte in text.bytes() {
        plain.push(byte);
        while let [.., b'%', high, low] = plain[..] {
            let Some(value) = value([high, low]) else { break };
            plain.truncate(plain.len() - 3);
            plain.push(value);
        }
    }
    plain
}

/// With those escapes that must be, once.
fn escaped(plain: &[u8]) -> String {
    let mut text = String::with_capacity(plain.len());
    for byte in plain {
        if (0x21..0x7f).contains(byte) && !b"#%".contains(byte) {
            text.push(char::from(*byte));
        } else {
            text.push_str(&format!("%{byte:02x}"));
        }
    }
    text
}
