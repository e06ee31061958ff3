//! [`Credentials`]: a user name and a password, kept apart from the URL they were given in.

use std::fmt;

use percent_encoding::{NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use url::Url;

/// User name and password as a URL writes them (percent-encoded). They never print.
///
/// ```
/// use webloom::internals::url::{Credentials, WebUrl};
/// let (url, credentials) = WebUrl::parse("http://bob:secret@h/a")?.split_credentials();
/// assert_eq!(url.as_str(), "http://h/a");
/// assert_eq!(format!("{credentials:?}"), "Some(Credentials(secret))");
/// # Ok::<(), webloom::internals::url::UrlError>(())
/// ```
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Credentials {
    user: Box<str>,
    password: Option<Box<str>>,
}

impl Credentials {
    /// Takes them out of a URL.
    pub(super) fn take(url: &mut Url) -> Option<Self> {
        if url.username().is_empty() && url.password().is_none() {
            return None;
        }
        let credentials = Self { user: url.username().into(), password: url.password().map(Into::into) };
        // Cannot fail: a URL of http or https has a host.
        let _ = (url.set_username(""), url.set_password(None));
        Some(credentials)
    }

    /// Reads `user:password`, as a person types it; `None` without a colon or a user. The password may hold further colons.
    pub fn typed(text: &str) -> Option<Self> {
        let (user, password) = text.split_once(':').filter(|(user, _)| !user.is_empty())?;
        let [user, password] = [user, password].map(|part| utf8_percent_encode(part, NON_ALPHANUMERIC).to_string());
        Some(Self { user: user.into(), password: Some(password.into()) })
    }

    /// `user:password`, as bytes: for the request alone.
    pub fn user_and_password(&self) -> Vec<u8> {
        let password = self.password.as_deref().unwrap_or_default();
        let decoded = |text| percent_decode_str(text);
        decoded(&*self.user).chain(*b":").chain(decoded(password)).collect()
    }

    /// Puts them into a URL.
    pub(super) fn put(&self, url: &mut Url) {
        let _ = (url.set_username(&self.user), url.set_password(self.password.as_deref()));
    }
}

impl fmt::Debug for Credentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Credentials(secret)")
    }
}

#[cfg(test)]
mod tests {
    use crate::url::WebUrl;

    #[test]
    fn what_was_taken_out_can_be_put_back() {
        for text in ["http://bob:p%40ss@h:81/a?b", "https://bob@h/", "http://:x@h/"] {
            let whole = WebUrl::parse(text).unwrap();
            let (bare, credentials) = whole.clone().split_credentials();
            assert!(!bare.as_str().contains('@'), "{text}");
            assert_eq!(bare.with_credentials(&credentials.unwrap()), whole);
        }
        let (_, credentials) = WebUrl::parse("http://b%FFb:p%40%3A@h/").unwrap().split_credentials();
        assert_eq!(credentials.unwrap().user_and_password(), b"b\xffb:p@:");
        let (bare, none) = WebUrl::parse("http://@h/@").unwrap().split_credentials();
        assert_eq!((bare.as_str(), none), ("http://h/@", None));
    }
}
