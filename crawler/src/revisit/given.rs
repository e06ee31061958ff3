//! [`GivenIntervals`]: parts of a site with an interval of their own, which overrides the policy.

use std::time::Duration;

use regex::Regex;

/// Intervals of the pages whose URL matches; the first rule that does decides.
#[derive(Debug, Clone, Default)]
pub struct GivenIntervals {
    rules: Vec<GivenInterval>,
}

/// A rule.
#[derive(Debug, Clone)]
pub struct GivenInterval {
    /// Is found in the URLs of the pages.
    pub pattern: Regex,
    /// From one visit to the next.
    pub interval: Duration,
}

impl GivenIntervals {
    /// These rules, in this order.
    pub fn new(rules: Vec<GivenInterval>) -> Self {
        Self { rules }
    }

    /// The rules.
    pub fn rules(&self) -> &[GivenInterval] {
        &self.rules
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.rules.is_empty()
    }

    /// The place of the rule that decides for a URL; `None` where none matches.
    pub fn rule_of(&self, url: &str) -> Option<usize> {
        self.rules.iter().position(|rule| rule.pattern.is_match(url))
    }

    /// The patterns, a line each: what decides which page has which rule.
    pub fn patterns(&self) -> String {
        let lines: Vec<_> = self.rules.iter().map(|rule| rule.pattern.as_str()).collect();
        lines.join("\n")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_rule_that_matches_decides() {
        let rule = |pattern, seconds| GivenInterval {
            pattern: Regex::new(pattern).unwrap(),
            interval: Duration::from_secs(seconds),
        };
        let given = GivenIntervals::new(vec![rule("^https?://[^/]+/news/", 60), rule("/", 600)]);
        let found = ["http://h/news/a", "http://h/old/news/", "ftp:"].map(|url| given.rule_of(url));
        assert_eq!(found, [Some(0), Some(1), None]);
        assert_eq!(given.patterns(), "^https?://[^/]+/news/\n/");
        assert_eq!(GivenIntervals::default().rule_of("http://h/"), None);
    }
}
