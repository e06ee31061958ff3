//! [`Robots`]: the rules of one robots.txt that apply to one crawler.

use std::time::Duration;

use super::{
    Availability, ProductToken, availability,
    lines::{Field, lines, readable},
    path::normal_path,
    reader::LineReader,
    table::{RuleEffect, RuleTable},
};

/// The rules of one robots.txt that apply to one [`ProductToken`], its crawl delay, and the file's sitemaps.
///
/// ```
/// use webloom::internals::robots::{ProductToken, Robots};
/// let file = b"User-agent: *\nDisallow: /private\nAllow: /private/open$\nCrawl-delay: 1.5\n";
/// let robots = Robots::parse(file, &ProductToken::new("webloom")?);
/// assert!(robots.decide("/private/open").allowed);
/// assert_eq!(robots.decide("/private/x?y=1").rule, Some("Disallow: /private"));
/// assert_eq!(robots.crawl_delay(), Some(std::time::Duration::from_millis(1500)));
/// # Ok::<(), webloom::internals::robots::TokenError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Robots {
    rules: RuleTable,
    unmatched_allowed: bool,
    crawl_delay: Option<Duration>,
    sitemaps: Vec<String>,
}

/// What [`Robots::decide`] says of one path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RuleDecision<'a> {
    /// Whether the path may be fetched.
    pub allowed: bool,
    /// The line that decided, as written but for its comment (`Disallow: /x`); `None` where no rule matches.
    pub rule: Option<&'a str>,
}

impl Robots {
    /// Reads a robots.txt: all groups that name `agent`, or else all groups for `*` (RFC 9309, 2.2.1).
    ///
    /// Any bytes will do; the first [`MAX_BYTES`](super::MAX_BYTES) count. Rules before the first `User-agent` line,
    /// empty values and patterns that begin with neither `/` nor `*` say nothing.
    pub fn parse(body: &[u8], agent: &ProductToken) -> Self {
        let text = readable(body);
        let named = lines(&text).any(|line| line.field == Field::UserAgent && agent.is_named_by(line.value));
        let mut reader = LineReader::new(named.then_some(agent));
        lines(&text).for_each(|line| reader.read(&line));
        let LineReader { mut rules, crawl_delay, sitemaps, .. } = reader;
        rules.arrange();
        Self { rules, unmatched_allowed: true, crawl_delay, sitemaps }
    }

    /// What the answer to a robots.txt fetch says, by its status (see [`availability`]). The body counts for a 2xx
    /// only.
    pub fn of_answer(status: u16, body: &[u8], agent: &ProductToken) -> Self {
        match availability(status) {
            Availability::Parse => Self::parse(body, agent),
            Availability::AllowAll => Self::allow_all(),
            Availability::Unreachable => Self::disallow_all(),
        }
    }

    /// No rules: everything is allowed.
    pub fn allow_all() -> Self {
        Self { rules: RuleTable::default(), unmatched_allowed: true, crawl_delay: None, sitemaps: Vec::new() }
    }

    /// Nothing is allowed, but `/robots.txt` itself.
    pub fn disallow_all() -> Self {
        Self { unmatched_allowed: false, ..Self::allow_all() }
    }

    /// Judges a URL by its path and query, escaped or not. The longest matching pattern wins, by octets of its normal
    /// form; `Allow` wins a tie (RFC 9309, 2.2.2). `/robots.txt` is always allowed.
    pub fn decide(&self, path_and_query: &str) -> RuleDecision<'_> {
        let path = normal_path(path_and_query);
        if path == "/robots.txt" {
            return RuleDecision { allowed: true, rule: None };
        }
        match self.rules.deciding(&path) {
            Some((effect, line)) => RuleDecision { allowed: effect == RuleEffect::Allow, rule: Some(line) },
            None => RuleDecision { allowed: self.unmatched_allowed, rule: None },
        }
    }

    /// The pause the file asks for between requests; the longest, if it asks more than once.
    ///
    /// A `Crawl-delay` line belongs to the agents listed before it: `a`, delay 2, `b`, delay 10 gives each its own. The
    /// rules below are for both all the same (RFC 9309, 2.2.4: other records must not interfere). Its value is a
    /// decimal number of seconds, at most [`MAX_CRAWL_DELAY`]; what follows the number is ignored, and a line without
    /// one says nothing.
    pub fn crawl_delay(&self) -> Option<Duration> {
        self.crawl_delay
    }

    /// The memory that the rules and `Sitemap` lines take, in bytes.
    pub fn bytes(&self) -> usize {
        let sitemaps: usize = self.sitemaps.iter().map(|line| line.len() + size_of::<String>()).sum();
        size_of::<Self>() + self.rules.bytes() + sitemaps
    }

    /// The value of every `Sitemap` line of the file, whatever its group: each once, in order, as written (not checked
    /// to be a URL).
    pub fn sitemaps(&self) -> &[String] {
        &self.sitemaps
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::robots::MAX_BYTES;

    fn parse(file: &str, agent: &str) -> Robots {
        Robots::parse(file.as_bytes(), &ProductToken::new(agent).unwrap())
    }

    fn allowed(file: &str, agent: &str, path: &str) -> bool {
        parse(file, agent).decide(path).allowed
    }

    #[test]
    fn groups_of_one_agent_are_merged() {
        let file = "user-agent: a\ndisallow: /1\nuser-agent: b\ndisallow: /2\nuser-agent: A\ndisallow: /3\n";
        assert!(!allowed(file, "a", "/1") && allowed(file, "a", "/2") && !allowed(file, "a", "/3"));
        assert!(allowed(file, "b", "/1") && !allowed(file, "b", "/2") && allowed(file, "b", "/3"));
    }

    #[test]
    fn agents_named_in_a_row_share_a_group() {
        let shared = "user-agent: a\n# and\n\nuser-agent: b\nhost: x\nuser-agent: c\nsitemap: /s\ndisallow: /1\n";
        let file = &format!("{shared}user-agent: d\ndisallow: /2");
        for agent in ["a", "b", "c"] {
            assert!(!allowed(file, agent, "/1") && allowed(file, agent, "/2"), "{agent}");
        }
        assert!(allowed(file, "d", "/1") && !allowed(file, "d", "/2"));
    }

    #[test]
    fn groups_for_anyone_are_only_a_fallback() {
        let file =
            "user-agent: *\ndisallow: /1\nuser-agent: a\nallow: /x\nuser-agent: *\ndisallow: /2\nuser-agent: empty";
        assert!(allowed(file, "a", "/1") && allowed(file, "a", "/2") && allowed(file, "empty", "/1"));
        for agent in ["b", "*"] {
            assert!(!allowed(file, agent, "/1") && !allowed(file, agent, "/2"), "{agent}");
        }
    }

    #[test]
    fn rules_before_any_group_say_nothing() {
        assert!(allowed("disallow: /\nuser-agent: a\nallow: /x", "a", "/y"));
        assert!(allowed("disallow: /", "a", "/y"));
    }

    #[test]
    fn an_empty_value_says_nothing() {
        let file = "user-agent: a\ndisallow:\nallow:\ndisallow: # all\nuser-agent: b\ndisallow: /";
        assert_eq!(parse(file, "a").decide("/x"), RuleDecision { allowed: true, rule: None });
        assert!(!allowed(file, "b", "/x"));
    }

    #[test]
    fn special_characters_are_met_by_their_escapes() {
        let file = "user-agent: *\ndisallow: /a-%2A.html\ndisallow: /b-%24\ndisallow: /c$d\n";
        for path in ["/a-*.html", "/a-%2a.html", "/b-$", "/b-%24x", "/c$d", "/c%24de"] {
            assert!(!allowed(file, "x", path), "{path}");
        }
        for path in ["/a-x.html", "/b-", "/c"] {
            assert!(allowed(file, "x", path), "{path}");
        }
    }

    #[test]
    fn escapes_are_compared_in_one_form() {
        let file = "user-agent: *\ndisallow: /ü\ndisallow: /%6a\ndisallow: /x%2fy\ndisallow: /s p\n".to_owned();
        for path in ["/ü", "/%c3%bc", "/%C3%BC", "/j", "/%6A", "/x%2Fy", "/s%20p", "/s p"] {
            assert!(!allowed(&file, "x", path), "{path}");
        }
        assert!(allowed(&file, "x", "/x/y"));
    }

    #[test]
    fn robots_txt_itself_is_always_allowed() {
        let rule = None;
        assert_eq!(
            parse("user-agent: *\ndisallow: /", "x").decide("/robots.txt"),
            RuleDecision { allowed: true, rule }
        );
        assert_eq!(Robots::disallow_all().decide("/robots.txt"), RuleDecision { allowed: true, rule });
        assert_eq!(Robots::disallow_all().decide("/robots.txt.gz"), RuleDecision { allowed: false, rule });
        assert_eq!(Robots::allow_all().decide("/x"), RuleDecision { allowed: true, rule });
    }

    #[test]
    fn the_deciding_line_is_shown_as_written() {
        let robots = parse("User-Agent: *\n  Disallow :/a%7e  # keep out\nALLOW /a~b\n", "x");
        assert_eq!(robots.decide("/a~").rule, Some("Disallow :/a%7e"));
        assert_eq!(robots.decide("/a~b").rule, Some("ALLOW /a~b"));
        assert_eq!(robots.decide("/b").rule, None);
    }

    #[test]
    fn a_crawl_delay_belongs_to_the_agents_listed_before_it() {
        let agents = "user-agent: *\ndisallow: /x\ncrawl-delay: 3\n\nuser-agent: a\ncrawl-delay: 1\n";
        let more = "user-agent: b\nuser-agent: c\ncrawl-delay: 7\nuser-agent: d\ndisallow: /\n";
        let file = format!("crawl-delay: 9\n{agents}{more}");
        for (agent, seconds) in [("a", Some(1)), ("b", Some(7)), ("c", Some(7)), ("d", None), ("e", Some(3))] {
            assert_eq!(parse(&file, agent).crawl_delay(), seconds.map(Duration::from_secs), "{agent}");
            assert_eq!(allowed(&file, agent, "/"), agent == "e", "{agent}");
        }
    }

    #[test]
    fn the_longest_of_several_delays_counts() {
        let file = "user-agent: a\ncrawl-delay: 2\ncrawl-delay: x\nuser-agent: a\ncrawl-delay: 5\ncrawl-delay: 1";
        assert_eq!(parse(file, "a").crawl_delay(), Some(Duration::from_secs(5)));
    }

    #[test]
    fn sitemaps_are_kept_once_whatever_their_group() {
        let some = "sitemap: /1\nuser-agent: a\nsitemap: /2#x\ndisallow: /\nsitemap: /1\nsitemap:\n";
        let file = format!("{some}user-agent: b\nSiteMap : https://h/Three.xml");
        assert_eq!(parse(&file, "c").sitemaps(), ["/1", "/2", "https://h/Three.xml"]);
    }

    #[test]
    fn a_page_instead_of_a_file_has_no_rules() {
        let page = "<!DOCTYPE html>\n<title>404: not found</title>\n<p>user-agent: *<br>\ndisallow: /</p>\n</html>";
        assert_eq!(parse(page, "x"), Robots::allow_all());
    }

    #[test]
    fn what_lies_beyond_the_limit_does_not_count() {
        let filler = format!("#{}\n", "x".repeat(1022)).repeat(MAX_BYTES / 1024);
        let file = |end: &str| format!("user-agent: *\ndisallow: /a\n{filler}{end}");
        assert!(allowed(&file("disallow: /b"), "x", "/b") && !allowed(&file("disallow: /b"), "x", "/a"));
    }

    proptest! {
        #[test]
        fn any_bytes_can_be_read_and_asked(
            body in proptest::collection::vec(any::<u8>(), 0..300),
            path in "\\PC{0,40}",
        ) {
            let agent = ProductToken::new("webloom").unwrap();
            let robots = Robots::parse(&body, &agent);
            robots.decide(&path);
            robots.decide(&String::from_utf8_lossy(&body));
        }

        #[test]
        fn any_lines_can_be_read_and_asked(
            lines in proptest::collection::vec(
                "(user-agent|allow|disallow|crawl-delay|sitemap|x)? ?:? ?(\\*|webloom|/[a%$*2fü]{0,6}|[0-9.]{1,9})?[ #]?",
                0..20,
            ),
            path in "/?[a%$*2fü?]{0,12}",
        ) {
            let file = lines.join("\n");
            let robots = parse(&file, "webloom");
            let decision = robots.decide(&path);
            prop_assert!(decision.rule.is_none_or(|rule| file.contains(rule)));
            prop_assert!(decision.allowed || decision.rule.is_some());
        }
    }
}
