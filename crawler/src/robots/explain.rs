//! [`explain`]: what a file says of one URL, from raw inputs.

use std::{borrow::Cow, time::Duration};

use super::{ProductToken, Robots};
use crate::url::WebUrl;

/// A robots.txt answer and the URL to judge by it.
#[derive(Debug, Clone, Copy)]
pub struct Question<'a> {
    /// Status of the robots.txt fetch.
    pub status: u16,
    /// Its body.
    pub robots: &'a [u8],
    /// Who asks.
    pub agent: &'a ProductToken,
    /// An absolute URL, or a path with its query.
    pub url: &'a str,
}

/// What the file says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Explanation {
    /// Whether the URL may be fetched.
    pub allowed: bool,
    /// The line that decided.
    pub rule: Option<String>,
    /// See [`Robots::crawl_delay`].
    pub crawl_delay: Option<Duration>,
    /// See [`Robots::sitemaps`].
    pub sitemaps: Vec<String>,
}

/// Judges a URL by a robots.txt answer, as a crawl would.
///
/// ```
/// use webloom::internals::robots::{ProductToken, Question, explain};
/// let agent = ProductToken::new("webloom")?;
/// let robots = b"User-agent: webloom\nDisallow: /a";
/// let answer = explain(&Question { status: 200, robots, agent: &agent, url: "https://example.org/a/b" });
/// assert_eq!(answer.rule.as_deref(), Some("Disallow: /a"));
/// assert!(explain(&Question { status: 404, robots, agent: &agent, url: "/a/b" }).allowed);
/// # Ok::<(), webloom::internals::robots::TokenError>(())
/// ```
pub fn explain(question: &Question<'_>) -> Explanation {
    let robots = Robots::of_answer(question.status, question.robots, question.agent);
    let decision = robots.decide(&path_and_query(question.url));
    Explanation {
        allowed: decision.allowed,
        rule: decision.rule.map(str::to_owned),
        crawl_delay: robots.crawl_delay(),
        sitemaps: robots.sitemaps().to_vec(),
    }
}

/// What rules see of a URL; of one that is not http(s), or of a bare path, what follows the authority, without the
/// fragment.
fn path_and_query(url: &str) -> Cow<'_, str> {
    if let Ok(url) = WebUrl::parse(url) {
        return Cow::Owned(url.path_and_query().to_owned());
    }
    let url = url.split_once('#').map_or(url, |(before, _)| before);
    let from_path = |rest: &'_ str| rest.find(['/', '?', ';']).map_or(rest.len(), |at| at);
    match url.split_once("://").filter(|(scheme, _)| !scheme.contains(['/', '?', ';'])) {
        Some((_, rest)) => Cow::Borrowed(&rest[from_path(rest)..]),
        None => Cow::Borrowed(url),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_is_judged_by_its_path_and_query() {
        let cases = [
            ("http://h", "/"),
            ("http://h/a/../b?c#d", "/b?c"),
            ("http://u:p@h:10/path;params?query#fragment", "/path;params?query"),
            ("ftp://h/a", "/a"),
            ("ftp://h?q", "?q"),
            ("ftp://h", ""),
            ("/a?u=http://h/b", "/a?u=http://h/b"),
            ("/a#b", "/a"),
            ("", ""),
        ];
        for (url, seen) in cases {
            assert_eq!(path_and_query(url), seen, "{url}");
        }
    }

    #[test]
    fn the_status_decides_whether_the_body_counts() {
        let agent = ProductToken::new("webloom").unwrap();
        let robots = b"User-agent: *\nDisallow: /a\nCrawl-delay: 2\nSitemap: /s.xml";
        let ask = |status, url| explain(&Question { status, robots, agent: &agent, url });
        let parsed = ask(200, "http://h/a");
        assert_eq!((parsed.allowed, parsed.rule.as_deref()), (false, Some("Disallow: /a")));
        assert_eq!((parsed.crawl_delay, parsed.sitemaps), (Some(Duration::from_secs(2)), vec!["/s.xml".to_owned()]));
        let missing = ask(404, "http://h/a");
        assert_eq!((missing.allowed, missing.rule, missing.crawl_delay), (true, None, None));
        assert!(!ask(500, "/b").allowed && !ask(429, "/b").allowed);
        assert!(ask(500, "/robots.txt").allowed);
    }
}
