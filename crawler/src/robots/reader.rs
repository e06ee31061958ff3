//! [`LineReader`]: turns the lines of a file into the rules for one crawler.

use std::{collections::HashSet, time::Duration};

use super::{
    ProductToken,
    lines::{Field, RobotsLine},
    product_token::is_anyone,
    table::{RuleEffect, RuleTable},
};

/// The longest crawl delay that is believed; a longer one counts as this.
pub const MAX_CRAWL_DELAY: Duration = Duration::from_hours(24);

/// What was read so far, and where in the file's groups the reader is.
#[derive(Debug)]
pub(super) struct LineReader<'a> {
    /// Whose groups are read; `None`: those for anyone.
    agent: Option<&'a ProductToken>,
    /// The group as rules see it (RFC 9309, 2.2.1): only they end its list of agents.
    rule_group: Group,
    /// The group as delays see it: a delay ends the list of agents too, since files give one agent after another its
    /// own.
    delay_group: Group,
    sitemaps_seen: HashSet<&'a [u8]>,
    pub(super) rules: RuleTable,
    pub(super) crawl_delay: Option<Duration>,
    pub(super) sitemaps: Vec<String>,
}

/// A list of agents and what follows it.
#[derive(Debug, Default)]
struct Group {
    /// It is one of those that are read.
    ours: bool,
    /// Nothing has followed the last `User-agent` line yet, so that another one adds to the list.
    naming_agents: bool,
}

impl Group {
    fn agent(&mut self, named: bool) {
        self.ours = named || (self.ours && self.naming_agents);
        self.naming_agents = true;
    }

    fn end_of_agents(&mut self) {
        self.naming_agents = false;
    }
}

impl<'a> LineReader<'a> {
    /// A reader before the first line. Without an `agent`, it reads the groups for anyone.
    pub(super) fn new(agent: Option<&'a ProductToken>) -> Self {
        Self {
            agent,
            rule_group: Group::default(),
            delay_group: Group::default(),
            sitemaps_seen: HashSet::new(),
            rules: RuleTable::default(),
            crawl_delay: None,
            sitemaps: Vec::new(),
        }
    }

    /// Takes the next line.
    pub(super) fn read(&mut self, line: &RobotsLine<'a>) {
        match line.field {
            Field::UserAgent => self.user_agent(line.value),
            Field::Allow => self.rule(RuleEffect::Allow, line),
            Field::Disallow => self.rule(RuleEffect::Disallow, line),
            Field::CrawlDelay => self.delay(line.value),
            Field::Sitemap => self.sitemap(line.value),
        }
    }

    fn user_agent(&mut self, value: &[u8]) {
        let named = self.agent.map_or_else(|| is_anyone(value), |agent| agent.is_named_by(value));
        self.rule_group.agent(named);
        self.delay_group.agent(named);
    }

    fn rule(&mut self, effect: RuleEffect, line: &RobotsLine<'_>) {
        self.rule_group.end_of_agents();
        self.delay_group.end_of_agents();
        if self.rule_group.ours {
            self.rules.push(effect, line.text, line.value);
        }
    }

    fn delay(&mut self, value: &[u8]) {
        self.delay_group.end_of_agents();
        if self.delay_group.ours {
            self.crawl_delay = self.crawl_delay.max(seconds(value));
        }
    }

    fn sitemap(&mut self, value: &'a [u8]) {
        if !value.is_empty() && self.sitemaps_seen.insert(value) {
            self.sitemaps.push(String::from_utf8_lossy(value).into_owned());
        }
    }
}

/// The decimal number that a value begins with, as seconds.
fn seconds(value: &[u8]) -> Option<Duration> {
    let end = value.iter().position(|byte| !matches!(byte, b'0'..=b'9' | b'.')).unwrap_or(value.len());
    let seconds: f64 = std::str::from_utf8(&value[..end]).ok()?.parse().ok()?;
    Some(Duration::try_from_secs_f64(seconds).map_or(MAX_CRAWL_DELAY, |delay| delay.min(MAX_CRAWL_DELAY)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_delay_is_the_number_that_a_value_begins_with() {
        let cases =
            [("10", 10.0), ("0", 0.0), (".5", 0.5), ("1.25 s", 1.25), ("10<br>", 10.0), ("2.", 2.0), ("3600", 3600.0)];
        for (value, expected) in cases {
            assert_eq!(seconds(value.as_bytes()), Some(Duration::from_secs_f64(expected)), "{value}");
        }
    }

    #[test]
    fn no_number_is_no_delay() {
        for value in ["", "-1", "ten", ".", "1.2.3", "inf", "nan", "+5", "\u{ff}"] {
            assert_eq!(seconds(value.as_bytes()), None, "{value}");
        }
    }

    #[test]
    fn an_absurd_delay_is_a_day() {
        for value in ["86401", "999999999999999999999999999999", &"9".repeat(400)] {
            assert_eq!(seconds(value.as_bytes()), Some(MAX_CRAWL_DELAY), "{value}");
        }
    }
}
