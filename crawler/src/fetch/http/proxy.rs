//! [`ProxyRules`]: which requests go through a proxy, and which.
//!
//! A proxy connects on our behalf: it looks names up, and which addresses it may connect to is its business.

use std::sync::Arc;

use hyper_util::client::proxy::matcher::Matcher;
use reqwest::{Proxy, Url};
use thiserror::Error;

use crate::url::WebUrl;

/// The schemes of proxies, and how the client is to be asked for each: a SOCKS proxy looks names up itself.
const SCHEMES: [(&str, &str); 7] = [
    ("http", "http"),
    ("https", "https"),
    ("socks", "socks4a"),
    ("socks4", "socks4a"),
    ("socks4a", "socks4a"),
    ("socks5", "socks5h"),
    ("socks5h", "socks5h"),
];

/// Proxies, and what goes through them. It does not print: they may have passwords.
#[derive(Clone, Default)]
pub struct ProxyRules(Option<Arc<Rules>>);

struct Rules {
    http: Option<Url>,
    https: Option<Url>,
    /// Finds out which hosts are left out.
    through: Matcher,
    /// Whether this machine itself is left out.
    spares_itself: bool,
}

/// What is to be a proxy is none (its text is not shown).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error(
    "{0}: it is no proxy: give http://HOST:PORT, https://HOST:PORT, socks5://HOST:PORT or socks4://HOST:PORT, with USER:PASS@ before the host or without"
)]
pub struct BadProxy(&'static str);

/// What the environment says of proxies, as curl reads it.
#[derive(Default)]
pub struct ProxyVariables {
    /// `http_proxy`.
    pub http: Option<String>,
    /// `https_proxy` or `HTTPS_PROXY`.
    pub https: Option<String>,
    /// `all_proxy` or `ALL_PROXY`: where neither of the others is set.
    pub all: Option<String>,
    /// `no_proxy` or `NO_PROXY`: hosts, domains and networks that are asked without.
    pub none: Option<String>,
}

impl ProxyRules {
    /// Everything goes through this proxy.
    ///
    /// # Errors
    /// [`BadProxy`] where the text names none.
    pub fn all(text: &str) -> Result<Self, BadProxy> {
        let proxy = url("the proxy", text)?;
        let rules = Rules { http: Some(proxy.clone()), https: Some(proxy), through: matcher(""), spares_itself: false };
        Ok(Self(Some(Arc::new(rules))))
    }

    /// What the environment says; this machine itself is asked without a proxy whatever that is.
    ///
    /// # Errors
    /// [`BadProxy`] where a variable names none.
    pub fn of_environment(given: &ProxyVariables) -> Result<Self, BadProxy> {
        let read = |name: &'static str, text: &Option<String>| {
            let text = text.as_ref().filter(|text| !text.trim().is_empty());
            text.map(|text| url(name, text)).transpose()
        };
        let all = || read("all_proxy", &given.all);
        let http = read("http_proxy", &given.http)?.map_or_else(all, |http| Ok(Some(http)))?;
        let https = read("https_proxy", &given.https)?.map_or_else(all, |https| Ok(Some(https)))?;
        if http.is_none() && https.is_none() {
            return Ok(Self::default());
        }
        let through = matcher(given.none.as_deref().unwrap_or_default());
        Ok(Self(Some(Arc::new(Rules { http, https, through, spares_itself: true }))))
    }

    /// Whether nothing goes through any.
    pub fn are_none(&self) -> bool {
        self.0.is_none()
    }

    /// Whether a URL is asked for through a proxy.
    pub(super) fn has(&self, url: &WebUrl) -> bool {
        self.0.as_ref().is_some_and(|rules| Url::parse(url.as_str()).is_ok_and(|url| rules.proxy(&url).is_some()))
    }

    /// The same for the client.
    pub(super) fn for_client(&self) -> Option<Proxy> {
        let rules = Arc::clone(self.0.as_ref()?);
        Some(Proxy::custom(move |url| rules.proxy(url).cloned()))
    }
}

impl Rules {
    fn proxy(&self, url: &Url) -> Option<&Url> {
        let host = url.host_str()?;
        if self.spares_itself && is_own(host) || self.through.intercept(&url.as_str().parse().ok()?).is_none() {
            return None;
        }
        if url.scheme() == "https" { self.https.as_ref() } else { self.http.as_ref() }
    }
}

/// Whether a host is this machine, by its name.
fn is_own(host: &str) -> bool {
    let address = host.trim_start_matches('[').trim_end_matches(']').parse::<std::net::IpAddr>();
    host == "localhost" || host.ends_with(".localhost") || address.is_ok_and(|address| address.is_loopback())
}

fn matcher(none: &str) -> Matcher {
    // Which proxy it is said to be does not matter.
    Matcher::builder().all("http://proxy").no(none).build()
}

/// Reads the URL of a proxy; without a scheme it is one for HTTP. An error never repeats the text: it may hold a password.
fn url(name: &'static str, text: &str) -> Result<Url, BadProxy> {
    let text = text.trim();
    let (scheme, rest) = text.split_once("://").unwrap_or(("http", text));
    let scheme = scheme.to_ascii_lowercase();
    let asked = SCHEMES.iter().find(|(known, _)| *known == scheme).map(|(_, asked)| *asked);
    let url = asked.and_then(|asked| Url::parse(&format!("{asked}://{rest}")).ok());
    let is_plain = !text.contains(|letter: char| letter.is_whitespace() || letter.is_control());
    let is_whole =
        |url: &Url| is_plain && url.host_str().is_some_and(|host| !host.is_empty()) && matches!(url.path(), "" | "/");
    url.filter(is_whole).ok_or(BadProxy(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn through(rules: &ProxyRules, url: &str) -> String {
        let rules = rules.0.as_ref().expect("there are some");
        rules.proxy(&Url::parse(url).unwrap()).map(ToString::to_string).unwrap_or_default()
    }

    #[test]
    fn one_that_is_given_takes_everything() {
        let rules = ProxyRules::all("me:secret@proxy.example:3128").unwrap();
        for url in ["http://127.0.0.1:8000/", "https://example.org/a?b", "http://localhost/"] {
            assert_eq!(through(&rules, url), "http://me:secret@proxy.example:3128/");
        }
        assert_eq!(through(&ProxyRules::all("SOCKS5://[::1]:1080").unwrap(), "http://h/"), "socks5h://[::1]:1080");
        for wrong in ["", "ftp://s3cret@h", "http://", "http://h/s3cret", "so cks"] {
            let error = ProxyRules::all(wrong).map(|_| ()).unwrap_err().to_string();
            assert!(error.contains("the proxy") && !error.contains("s3cret"), "{wrong}: {error}");
        }
    }

    #[test]
    fn the_environment_spares_hosts_and_this_machine() {
        let some = |text: &str| Some(text.to_owned());
        let none = some("example.com, 192.0.2.0/24");
        let given = ProxyVariables { http: some("h:1"), https: None, all: some("socks5://s:2"), none };
        let rules = ProxyRules::of_environment(&given).unwrap();
        assert_eq!(through(&rules, "http://example.org/"), "http://h:1/");
        assert_eq!(through(&rules, "https://example.org/"), "socks5h://s:2");
        for spared in [
            "http://www.example.com/",
            "http://192.0.2.9/",
            "http://127.0.0.1/",
            "https://[::1]/",
            "http://localhost:81/",
        ] {
            assert_eq!(through(&rules, spared), "", "{spared}");
        }
        assert!(
            ProxyRules::of_environment(&ProxyVariables { http: some(" "), ..ProxyVariables::default() })
                .unwrap()
                .0
                .is_none()
        );
        let wrong = ProxyVariables { https: some("x y"), ..ProxyVariables::default() };
        assert_eq!(
            ProxyRules::of_environment(&wrong).map(|_| ()).unwrap_err().to_string().split(':').next(),
            Some("https_proxy")
        );
    }
}
