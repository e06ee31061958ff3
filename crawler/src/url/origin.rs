//! [`Origin`]: scheme, host and port.

use std::{fmt, sync::Arc};

use super::{UrlError, WebUrl};

/// Scheme, host and port of a [`WebUrl`], as text (`https://example.org`, the scheme's default port left out): one host queue, one robots.txt.
/// Clones share the text.
///
/// ```
/// use webloom::internals::url::WebUrl;
/// let origin = WebUrl::parse("http://u:p@Example.org:8080/a?b")?.origin();
/// assert_eq!(origin.as_str(), "http://example.org:8080");
/// assert_eq!(origin.robots_txt().as_str(), "http://example.org:8080/robots.txt");
/// # Ok::<(), webloom::internals::url::UrlError>(())
/// ```
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Origin(Arc<str>);

impl WebUrl {
    /// Scheme, host and port.
    pub fn origin(&self) -> Origin {
        let start = self.before_path();
        let scheme = self.scheme();
        if start.len() == scheme.len() + 3 + self.authority().len() {
            return Origin(start.into());
        }
        Origin(format!("{scheme}://{}", self.authority()).into())
    }
}

impl Origin {
    /// Reads an origin as [`Origin::as_str`] gives it.
    ///
    /// # Errors
    /// [`UrlError`] when the text is no http(s) origin.
    pub fn parse(text: &str) -> Result<Self, UrlError> {
        Ok(WebUrl::parse(text)?.origin())
    }

    /// The same, of text that is shared.
    ///
    /// # Errors
    /// Those of [`Origin::parse`].
    pub fn shared(text: Arc<str>) -> Result<Self, UrlError> {
        let origin = Self::parse(&text)?;
        Ok(if *origin.0 == *text { Self(text) } else { origin })
    }

    /// `scheme://host[:port]`.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// `host[:port]`: what a scope compares, so that http and https on their own default ports are one host.
    pub fn authority(&self) -> &str {
        self.0.split_once("://").map_or(&*self.0, |(_, authority)| authority)
    }

    /// Where this origin's robots.txt is.
    pub fn robots_txt(&self) -> WebUrl {
        WebUrl::parse(&format!("{}/robots.txt", self.0)).expect("an origin and a path are a URL")
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Origin({})", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn has_no_credentials_and_no_default_port() {
        let of = |text: &str| WebUrl::parse(text).unwrap().origin();
        assert_eq!(of("https://a:b@h:443/x").as_str(), "https://h");
        assert_eq!(of("http://h:443/x").as_str(), "http://h:443");
        assert_eq!(of("http://h/").authority(), of("https://h/").authority());
        assert_eq!(of("http://[::1]:81/").as_str(), "http://[::1]:81");
        assert_eq!(Origin::parse("http://h:81").unwrap(), of("http://h:81/y"));
    }
}
