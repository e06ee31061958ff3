//! [`WebUrl`]: an absolute http(s) URL, as it is fetched.

use std::fmt;

use thiserror::Error;
use url::{ParseError, Url};

use super::Credentials;

/// An absolute `http` or `https` URL without a fragment, parsed and serialised by the WHATWG URL standard.
///
/// ```
/// use webloom::internals::url::WebUrl;
/// let base = WebUrl::parse("http://example.org/a/b.html#top")?;
/// assert_eq!(base.as_str(), "http://example.org/a/b.html");
/// assert_eq!(base.join("../c?q=1#x")?.as_str(), "http://example.org/c?q=1");
/// assert!(base.join("mailto:me@example.org").is_err());
/// # Ok::<(), webloom::internals::url::UrlError>(())
/// ```
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct WebUrl(Url);

/// Why a text is not a [`WebUrl`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum UrlError {
    /// The WHATWG parser refuses it.
    #[error("not a URL: {0}")]
    Syntax(#[from] ParseError),
    /// It parses, but is not for a web server (`mailto:`, `ftp:`, …).
    #[error("scheme is not http or https")]
    Scheme,
}

impl WebUrl {
    /// Parses an absolute URL; the fragment is dropped.
    ///
    /// # Errors
    /// [`UrlError`] when the text is no absolute URL, or its scheme is not http(s).
    pub fn parse(text: &str) -> Result<Self, UrlError> {
        Self::checked(Url::parse(text)?)
    }

    /// Resolves a reference (an `href`, a `Location`) against this URL.
    ///
    /// # Errors
    /// [`UrlError`] as for [`WebUrl::parse`].
    pub fn join(&self, reference: &str) -> Result<Self, UrlError> {
        match many_slashes(reference) {
            Some(authority_and_path) => Self::checked(self.0.join(&format!("//{authority_and_path}"))?),
            None => Self::checked(self.0.join(reference)?),
        }
    }

    fn checked(mut url: Url) -> Result<Self, UrlError> {
        if !matches!(url.scheme(), "http" | "https") {
            return Err(UrlError::Scheme);
        }
        url.set_fragment(None);
        if url.path().contains('^') {
            // In the standard's path percent-encode set; the `url` crate leaves it.
            let path = url.path().replace('^', "%5E");
            url.set_path(&path);
        }
        Ok(Self(url))
    }

    /// The whole URL.
    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }

    /// `http` or `https`.
    pub fn scheme(&self) -> &str {
        self.0.scheme()
    }

    /// Host name or address as serialised (IPv6 in brackets).
    pub fn host(&self) -> &str {
        self.0.host_str().unwrap_or_default()
    }

    /// The address, when the host is an IP literal.
    pub fn ip_literal(&self) -> Option<std::net::IpAddr> {
        match self.0.host()? {
            url::Host::Ipv4(ip) => Some(ip.into()),
            url::Host::Ipv6(ip) => Some(ip.into()),
            url::Host::Domain(_) => None,
        }
    }

    /// Port, explicit or the scheme's default.
    pub fn port(&self) -> u16 {
        self.0.port_or_known_default().unwrap_or_default()
    }

    /// Path with a leading `/`.
    pub fn path(&self) -> &str {
        self.0.path()
    }

    /// Path, and `?query` where there is one: what a request line and robots rules see.
    pub fn path_and_query(&self) -> &str {
        &self.0[url::Position::BeforePath..url::Position::AfterQuery]
    }

    /// The part before the path: `http://user@host:port`.
    pub(super) fn before_path(&self) -> &str {
        &self.0[..url::Position::BeforePath]
    }

    /// `host` or `host:port` (not the default port of the scheme), without credentials: what a scope compares.
    pub fn authority(&self) -> &str {
        &self.0[url::Position::BeforeHost..url::Position::AfterPort]
    }

    /// This URL without user name and password, and these: what a page or a redirect says of them is nobody's login, and
    /// what a user says is kept where it never prints.
    #[must_use]
    pub fn split_credentials(mut self) -> (Self, Option<Credentials>) {
        let credentials = Credentials::take(&mut self.0);
        (self, credentials)
    }

    /// The same without asking what they were.
    #[must_use]
    pub fn without_credentials(self) -> Self {
        self.split_credentials().0
    }

    /// This URL with user name and password, to be stored where only the owner reads.
    #[must_use]
    pub fn with_credentials(&self, credentials: &Credentials) -> Self {
        let mut url = self.0.clone();
        credentials.put(&mut url);
        Self(url)
    }

    /// This URL with `www.` in front of its host where there is none, and without it where there is; `None` where that is no host.
    #[must_use]
    pub fn with_other_www(&self) -> Option<Self> {
        let host = self.host().strip_prefix("www.").map_or_else(|| format!("www.{}", self.host()), str::to_owned);
        let mut url = self.0.clone();
        url.set_host(Some(&host)).ok()?;
        Some(Self(url)).filter(|url| url.ip_literal().is_none() && self.ip_literal().is_none())
    }

    /// This URL with `https` or `http` instead (the port is kept only if it was explicit).
    #[must_use]
    pub fn with_scheme(&self, scheme: &str) -> Option<Self> {
        let mut url = self.0.clone();
        url.set_scheme(scheme).ok()?;
        Self::checked(url).ok()
    }
}

/// What follows three or more leading slashes. The standard ignores all of them before the authority of a special scheme ("special authority
/// ignore slashes state"); the `url` crate does so only in absolute URLs.
fn many_slashes(reference: &str) -> Option<&str> {
    let trimmed = reference.trim_start_matches(|c: char| c <= ' ');
    let ignored = |c: char| matches!(c, '/' | '\\' | '\t' | '\n' | '\r');
    let rest = trimmed.trim_start_matches(ignored);
    let slashes = trimmed[..trimmed.len() - rest.len()].chars().filter(|c| matches!(c, '/' | '\\')).count();
    (slashes > 2).then_some(rest)
}

/// For people and logs: credentials in the URL are left out.
impl fmt::Display for WebUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}://{}{}", self.scheme(), self.authority(), self.path_and_query())
    }
}

impl fmt::Debug for WebUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "WebUrl({self})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_what_may_name_another_page() {
        for text in ["http://h/A", "http://h/a?b=1&a=2", "http://h/a/", "http://h/a?", "https://u:p@h:8443/%7Ex;p"] {
            assert_eq!(WebUrl::parse(text).unwrap().as_str(), text);
        }
    }

    #[test]
    fn has_another_name_with_www_or_without() {
        let other = |text| WebUrl::parse(text).unwrap().with_other_www().map(|url| url.as_str().to_owned());
        assert_eq!(other("http://h.example:81/a?b").as_deref(), Some("http://www.h.example:81/a?b"));
        assert_eq!(other("https://www.h/").as_deref(), Some("https://h/"));
        for none in ["http://127.0.0.1/", "http://[::1]/", "http://www./"] {
            assert_eq!(other(none), None);
        }
    }

    #[test]
    fn encodes_a_caret_in_the_path_alone() {
        assert_eq!(WebUrl::parse("http://h/^/a^?^").unwrap().as_str(), "http://h/%5E/a%5E?^");
        assert_eq!(WebUrl::parse("http://u^@h//^//%5e;?").unwrap().as_str(), "http://u%5E@h//%5E//%5e;?");
    }

    #[test]
    fn names_its_parts() {
        let url = WebUrl::parse("HTTP://u:p@Ex.org:80/a?b#c").unwrap();
        assert_eq!((url.scheme(), url.host(), url.port()), ("http", "ex.org", 80));
        assert_eq!(url.path_and_query(), "/a?b");
        assert_eq!(url.authority(), "ex.org");
    }

    #[test]
    fn prints_no_credentials() {
        let url = WebUrl::parse("http://me:secret@h:81/a?b").unwrap();
        assert_eq!(format!("{url} {url:?}"), "http://h:81/a?b WebUrl(http://h:81/a?b)");
        assert_eq!(WebUrl::parse("https://h/x?").unwrap().to_string(), "https://h/x?");
    }

    #[test]
    fn refuses_other_schemes_and_nonsense() {
        assert_eq!(WebUrl::parse("ftp://h/"), Err(UrlError::Scheme));
        assert!(matches!(WebUrl::parse("http://"), Err(UrlError::Syntax(_))));
        assert!(matches!(WebUrl::parse("/relative"), Err(UrlError::Syntax(_))));
    }

    #[test]
    fn ignores_surplus_slashes_before_an_authority() {
        let base = WebUrl::parse("https://h/a").unwrap();
        assert_eq!(base.join(" /\\//\n/x.org/b").unwrap().as_str(), "https://x.org/b");
        assert_eq!(base.join("//x.org/b").unwrap().as_str(), "https://x.org/b");
        assert!(base.join("///").is_err());
    }

    #[test]
    fn finds_ip_literals_in_every_spelling() {
        for text in ["http://127.1/", "http://0x7f000001/", "http://2130706433/", "http://0177.0.0.1/"] {
            assert_eq!(WebUrl::parse(text).unwrap().ip_literal(), Some([127, 0, 0, 1].into()), "{text}");
        }
        assert!(WebUrl::parse("http://[::1]:80/").unwrap().ip_literal().is_some());
        assert!(WebUrl::parse("http://localhost/").unwrap().ip_literal().is_none());
    }
}
