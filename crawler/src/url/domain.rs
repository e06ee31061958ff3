//! [`WebUrl::registrable_domain`]: the part of a host name that somebody has registered.
//!
//! Owns: how the public suffix list is asked. The list is within the program, with its private section: names below `github.io` belong to
//! different people.
//!
//! Does not know: whether a name exists.

use super::WebUrl;

impl WebUrl {
    /// The public suffix of the host's name and one label more, without a dot at its end. None for an address, and for a name that has
    /// no such label: a public suffix itself, or `localhost`.
    ///
    /// ```
    /// use webloom::internals::url::WebUrl;
    /// let url = WebUrl::parse("https://www.shop.example.co.uk/")?;
    /// assert_eq!(url.registrable_domain(), Some("example.co.uk"));
    /// # Ok::<(), webloom::internals::url::UrlError>(())
    /// ```
    pub fn registrable_domain(&self) -> Option<&str> {
        if self.ip_literal().is_some() {
            return None;
        }
        let host = self.host();
        psl::domain_str(host.strip_suffix('.').unwrap_or(host))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_the_public_suffix_and_one_label() {
        for (host, domain) in [
            ("example.org", Some("example.org")),
            ("a.b.Example.ORG", Some("example.org")),
            ("a.b.example.co.uk", Some("example.co.uk")),
            ("me.github.io", Some("me.github.io")),
            ("www.me.github.io", Some("me.github.io")),
            ("a.b.city.kawasaki.jp", Some("city.kawasaki.jp")),
            ("a.b.c.kawasaki.jp", Some("b.c.kawasaki.jp")),
            ("a.b\u{fc}cher.example", Some("xn--bcher-kva.example")),
            ("www.\u{98df}\u{72ee}.\u{4e2d}\u{56fd}", Some("xn--85x722f.xn--fiqs8s")),
            ("a.b.unlisted", Some("b.unlisted")),
            ("www.example.org.", Some("example.org")),
            ("example.org:8080", Some("example.org")),
            ("me:secret@www.example.org", Some("example.org")),
            ("github.io", None),
            ("co.uk", None),
            ("org", None),
            ("localhost", None),
            ("localhost.", None),
            ("127.0.0.1", None),
            ("0x7f.1", None),
            ("[::1]", None),
        ] {
            let url = WebUrl::parse(&format!("http://{host}/a.b")).unwrap();
            assert_eq!(url.registrable_domain(), domain, "{host}");
        }
    }

    #[test]
    fn odd_names_have_none_or_one() {
        for host in ["a..org", ".org", "org..", "_x.a_b.org", "-.-.-"] {
            if let Ok(url) = WebUrl::parse(&format!("http://{host}/")) {
                let domain = url.registrable_domain();
                assert!(domain.is_none_or(|domain| url.host().contains(domain)), "{host}: {domain:?}");
            }
        }
    }
}
