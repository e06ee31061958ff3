//! [`Cookies`]: a fetcher that sends the cookies of a jar, and keeps those that servers set.
//!
//! Owns: [`CookieJar`] (RFC 6265, as the crate `cookie_store` has it), its limits, and its form as a file (the one that browsers' extensions
//! and curl write: `netscape`).
//!
//! Invariants: a cookie goes to the hosts that its domain names and to no other, a secure one over https alone; a request of a stranger
//! sends none, and what its answer sets is not kept; no value of a cookie is ever printed.
//!
//! Does not know: where a jar is kept, and who a request is to be of.

mod netscape;

use std::{
    borrow::Cow,
    convert::Infallible,
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use cookie_store::{Cookie, CookieStore};
use url::Url;

pub use self::netscape::{BadCookies, CookiesRead, domains};
use super::{
    FetchFailure, FetchRequest, FetchResponse, Fetcher, Headers, Identity, RequestHeader, resolve::HostAddresses,
};
use crate::url::WebUrl;

/// The longest `Set-Cookie` that is kept, in bytes: what browsers take.
const LONGEST: usize = 4_096;

/// How many cookies one answer may set.
const MOST_OF_ANSWER: usize = 50;

/// How many cookies servers may set for one domain, as in browsers.
const MOST_OF_DOMAIN: usize = 180;

/// How many they may set in all.
const MOST: usize = 10_000;

/// The cookies of a crawl. Its values never print.
#[derive(Default)]
pub struct CookieJar {
    jar: Mutex<Jar>,
}

#[derive(Default)]
struct Jar {
    store: CookieStore,
    /// Whether it has changed since it was last asked.
    is_changed: bool,
}

/// A fetcher with a jar, if there is one. Clones share it.
#[derive(Clone)]
pub struct Cookies<F> {
    fetcher: F,
    jar: Option<Arc<CookieJar>>,
}

impl CookieJar {
    /// The cookies for a URL, as one header; none where there are none.
    pub fn header(&self, url: &WebUrl) -> Option<RequestHeader> {
        let url = Url::parse(url.as_str()).ok()?;
        let jar = self.locked();
        let mut cookies = jar.store.matches(&url);
        // Longer paths first (RFC 6265, 5.4).
        cookies.sort_by_key(|cookie| (usize::MAX - cookie.path.len(), cookie.name().to_owned()));
        let text = cookies.iter().map(|cookie| pair(cookie)).collect::<Vec<_>>().join("; ");
        (!text.is_empty()).then(|| RequestHeader { name: "cookie".into(), value: text.into_bytes().into() })
    }

    /// Keeps what the answer for a URL sets.
    pub fn keep(&self, url: &WebUrl, headers: &Headers) {
        let mut set = headers.iter().filter(|(name, _)| name.eq_ignore_ascii_case("set-cookie")).peekable();
        if set.peek().is_none() {
            return;
        }
        let Ok(url) = Url::parse(url.as_str()) else { return };
        for (_, value) in set.take(MOST_OF_ANSWER).filter(|(_, value)| value.len() <= LONGEST) {
            let text = std::str::from_utf8(value).ok().filter(|text| !text.bytes().any(|byte| byte.is_ascii_control()));
            if let Some(Ok(cookie)) = text.map(|text| Cookie::parse(text.to_owned(), &url)) {
                self.insert(cookie, &url);
            }
        }
    }

    /// Whether it has changed since this was asked last.
    pub fn take_change(&self) -> bool {
        std::mem::take(&mut self.locked().is_changed)
    }

    /// What had changed was not kept.
    pub fn note_change(&self) {
        self.locked().is_changed = true;
    }

    /// Puts a cookie in that came with this URL; whether it is there now.
    fn insert(&self, cookie: Cookie<'static>, url: &Url) -> bool {
        let Some(domain) = cookie.domain.as_cow().map(Cow::into_owned) else { return false };
        if is_public_suffix(&domain) && url.host_str() != Some(&domain) {
            return false;
        }
        let mut jar = self.locked();
        let is_new = !jar.store.contains_any(&domain, &cookie.path, cookie.name());
        if is_new && jar.is_full(&domain) {
            jar.forget_expired();
        }
        if is_new && jar.is_full(&domain) {
            return false;
        }
        let is_kept = jar.store.insert(cookie, url).is_ok();
        jar.is_changed |= is_kept;
        is_kept
    }

    fn locked(&self) -> MutexGuard<'_, Jar> {
        self.jar.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Jar {
    /// Whether there are as many cookies as may be, for a domain or in all.
    fn is_full(&self, domain: &str) -> bool {
        let of_domain = |cookie: &&Cookie<'_>| cookie.domain.as_cow().is_some_and(|of| of == domain);
        self.store.iter_any().filter(of_domain).count() >= MOST_OF_DOMAIN || self.store.iter_any().count() >= MOST
    }

    fn forget_expired(&mut self) {
        let fresh: Vec<_> = self.store.iter_unexpired().cloned().map(Ok::<_, Infallible>).collect();
        let Ok(store) = CookieStore::from_cookies(fresh, false);
        self.store = store;
    }
}

impl fmt::Debug for CookieJar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CookieJar({} cookies)", self.locked().store.iter_any().count())
    }
}

impl<F> Cookies<F> {
    /// A fetcher with a jar; without one it is as it was.
    pub fn new(fetcher: F, jar: Option<Arc<CookieJar>>) -> Self {
        Self { fetcher, jar }
    }
}

impl<F: Fetcher> Fetcher for Cookies<F> {
    async fn fetch(&self, mut request: FetchRequest) -> Result<FetchResponse, FetchFailure> {
        let Some(jar) = self.jar.as_ref().filter(|_| request.identity == Identity::Own) else {
            return self.fetcher.fetch(request).await;
        };
        let url = request.url.clone();
        request.headers.extend(jar.header(&url));
        let response = self.fetcher.fetch(request).await?;
        jar.keep(&url, &response.headers);
        Ok(response)
    }

    async fn look_up(&self, url: &WebUrl) -> HostAddresses {
        self.fetcher.look_up(url).await
    }
}

/// `name=value`, as the server wrote it.
fn pair(cookie: &Cookie<'_>) -> String {
    let (name, value) = cookie.name_value();
    format!("{name}={value}")
}

/// Whether names below this one belong to different people. An address is no suffix.
fn is_public_suffix(domain: &str) -> bool {
    WebUrl::parse(&format!("http://{domain}/"))
        .is_ok_and(|url| url.ip_literal().is_none() && url.registrable_domain().is_none())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(text: &str) -> WebUrl {
        WebUrl::parse(text).unwrap()
    }

    fn set(jar: &CookieJar, at: &str, cookies: &[&str]) {
        let header = |cookie: &&str| ("Set-Cookie".into(), cookie.as_bytes().into());
        jar.keep(&url(at), &cookies.iter().map(header).collect());
    }

    fn sent(jar: &CookieJar, to: &str) -> String {
        jar.header(&url(to)).map(|header| String::from_utf8(header.value.into()).unwrap()).unwrap_or_default()
    }

    #[test]
    fn a_cookie_goes_where_its_domain_path_and_scheme_say() {
        let jar = CookieJar::default();
        let cookies = ["a=1", "b=2; Domain=example.org", "c=3; Path=/shop/", "d=4; Secure", "e=\"5\"; HttpOnly"];
        set(&jar, "https://www.example.org/", &cookies);
        assert_eq!(sent(&jar, "https://www.example.org/shop/1"), "c=3; a=1; b=2; d=4; e=\"5\"");
        assert_eq!(sent(&jar, "http://www.example.org/"), "a=1; b=2; e=\"5\"");
        assert_eq!(sent(&jar, "https://shop.example.org/"), "b=2");
        for other in ["https://example.com/", "https://wwww.example.org.example.com/", "https://notexample.org/"] {
            assert_eq!(sent(&jar, other), "");
        }
        assert!(jar.take_change() && !jar.take_change());
    }

    #[test]
    fn a_cookie_for_another_host_or_a_public_suffix_is_not_kept() {
        let jar = CookieJar::default();
        set(
            &jar,
            "https://a.example.co.uk/",
            &["a=1; Domain=co.uk", "b=1; Domain=example.com", "c=1; Domain=b.example.co.uk"],
        );
        set(&jar, "https://me.github.io/", &["d=1; Domain=github.io"]);
        set(&jar, "http://127.0.0.1:8000/", &["e=1; Domain=0.0.1", "f=1"]);
        set(&jar, "http://localhost/", &["g=1; Domain=localhost"]);
        assert_eq!(format!("{jar:?}"), "CookieJar(2 cookies)");
        assert_eq!([sent(&jar, "http://127.0.0.1:8000/x"), sent(&jar, "http://localhost/")], ["f=1", "g=1"]);
    }

    #[test]
    fn a_server_can_take_a_cookie_back_and_cannot_fill_memory() {
        let jar = CookieJar::default();
        set(&jar, "http://h.example.org/", &["a=1"]);
        set(&jar, "http://h.example.org/", &["a=; Max-Age=0", "b=1; Expires=Thu, 01 Jan 1970 00:00:00 GMT"]);
        assert_eq!(sent(&jar, "http://h.example.org/"), "");
        for number in 0..300 {
            set(&jar, "http://h.example.org/", &[&format!("n{number}=1")]);
        }
        set(&jar, "http://h.example.org/", &[&format!("long={}", "x".repeat(LONGEST)), "n0=2", "t=a\tb"]);
        set(&jar, "http://g.example.org/", &["x=1"]);
        for number in 0..MOST_OF_DOMAIN {
            set(&jar, "http://g.example.org/", &[&format!("g{number}=1"), &format!("g{number}=; Max-Age=0")]);
        }
        set(&jar, "http://g.example.org/", &["session=1"]);
        assert_eq!(sent(&jar, "http://g.example.org/"), "session=1; x=1", "what has expired takes no room");
        let text = sent(&jar, "http://h.example.org/");
        assert!(
            text.split("; ").count() <= MOST_OF_DOMAIN && text.starts_with("n0=2") && !text.contains("long"),
            "{text}"
        );
    }
}
