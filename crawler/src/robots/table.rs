//! [`RuleTable`]: rules in one buffer, the most specific first.

use std::cmp::Reverse;

use super::path::{matches, push_normal_pattern};

/// Rules and the lines they come from. The first rule whose pattern matches decides.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct RuleTable {
    /// Lines as written, each followed by the normal form of its pattern where that is not its end.
    text: String,
    rules: Vec<Rule>,
}

/// Whether a rule allows or forbids what it matches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum RuleEffect {
    Allow,
    Disallow,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Rule {
    effect: RuleEffect,
    line: Span,
    pattern: Span,
}

/// A range of [`RuleTable::text`], half the size of a `Range<usize>`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Span {
    start: u32,
    end: u32,
}

impl RuleTable {
    /// Adds a rule: its line as written, and the value to be matched. A pattern that begins with neither `/` nor `*`
    /// matches nothing and is left out.
    ///
    /// To allow a directory's index page is to allow the directory's own URL, as Google's parser has it.
    pub(super) fn push(&mut self, effect: RuleEffect, line: &[u8], value: &[u8]) {
        let mut pattern = String::new();
        push_normal_pattern(value, &mut pattern);
        if !pattern.starts_with(['/', '*']) {
            return;
        }
        let line = self.push_text(&String::from_utf8_lossy(line));
        self.push_rule(effect, line, &pattern);
        if let Some(directory) = directory_of_index(&pattern).filter(|_| effect == RuleEffect::Allow) {
            self.push_rule(effect, line, &format!("{directory}$"));
        }
    }

    /// Brings the rules into their order: longest pattern first, `Allow` before `Disallow`, earlier line before later;
    /// of rules with one pattern only the first can decide, and is left.
    pub(super) fn arrange(&mut self) {
        let text = &self.text;
        self.rules.sort_by_key(|rule| (Reverse(rule.pattern.len()), rule.pattern.of(text), rule.effect));
        self.rules.dedup_by(|later, earlier| later.pattern.of(text) == earlier.pattern.of(text));
        self.rules.shrink_to_fit();
        self.text.shrink_to_fit();
    }

    /// The rule that decides on a path in normal form: its effect and its line.
    pub(super) fn deciding(&self, path: &str) -> Option<(RuleEffect, &str)> {
        let rule = self.rules.iter().find(|rule| matches(rule.pattern.of(&self.text), path))?;
        Some((rule.effect, rule.line.of(&self.text)))
    }

    /// The memory behind it, in bytes.
    pub(super) fn bytes(&self) -> usize {
        self.text.len() + self.rules.len() * size_of::<Rule>()
    }

    fn push_rule(&mut self, effect: RuleEffect, line: Span, pattern: &str) {
        let pattern = if self.text.ends_with(pattern) {
            Span::before(self.text.len(), pattern.len())
        } else {
            self.push_text(pattern)
        };
        self.rules.push(Rule { effect, line, pattern });
    }

    fn push_text(&mut self, text: &str) -> Span {
        self.text.push_str(text);
        Span::before(self.text.len(), text.len())
    }
}

impl Span {
    fn before(end: usize, len: usize) -> Self {
        let octet = |at| u32::try_from(at).expect("a few times MAX_BYTES is far below 4 GiB");
        Self { start: octet(end - len), end: octet(end) }
    }

    fn len(self) -> u32 {
        self.end - self.start
    }

    fn of(self, text: &str) -> &str {
        &text[self.start as usize..self.end as usize]
    }
}

/// `/a/` of `/a/index.html`.
fn directory_of_index(pattern: &str) -> Option<&str> {
    let slash = pattern.rfind('/')?;
    pattern[slash..].starts_with("/index.htm").then_some(&pattern[..=slash])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(rules: &[(RuleEffect, &str)]) -> RuleTable {
        let mut table = RuleTable::default();
        for (effect, value) in rules {
            table.push(*effect, format!("{effect:?}: {value}").as_bytes(), value.as_bytes());
        }
        table.arrange();
        table
    }

    #[test]
    fn the_longest_pattern_decides_and_allow_wins_a_tie() {
        use RuleEffect::{Allow, Disallow};
        let table = table(&[
            (Disallow, "/a"),
            (Allow, "/a/b"),
            (Disallow, "/a/b/c"),
            (Allow, "/*/d"),
            (Disallow, "/x/d"),
            (Disallow, "/a/b"),
        ]);
        let cases = [
            ("/", None),
            ("/a/", Some("Disallow: /a")),
            ("/a/b", Some("Allow: /a/b")),
            ("/a/b/c", Some("Disallow: /a/b/c")),
            ("/x/d", Some("Allow: /*/d")),
        ];
        for (path, line) in cases {
            assert_eq!(table.deciding(path).map(|(_, line)| line), line, "{path}");
        }
    }

    #[test]
    fn length_is_that_of_the_normal_form() {
        use RuleEffect::{Allow, Disallow};
        let table = table(&[(Disallow, "/%61%62%63%64"), (Allow, "/abcd*"), (Disallow, "/ツ"), (Allow, "/%E3%83%84")]);
        assert_eq!(table.deciding("/abcde"), Some((Allow, "Allow: /abcd*")));
        assert_eq!(table.deciding("/%E3%83%84"), Some((Allow, "Allow: /%E3%83%84")));
    }

    #[test]
    fn an_allowed_index_allows_its_directory_only() {
        use RuleEffect::{Allow, Disallow};
        let table = table(&[(Disallow, "/"), (Allow, "/a/index.html"), (Disallow, "/b/index.html")]);
        assert_eq!(table.deciding("/a/"), Some((Allow, "Allow: /a/index.html")));
        assert_eq!(table.deciding("/a/b"), Some((Disallow, "Disallow: /")));
        assert_eq!(table.deciding("/b/"), Some((Disallow, "Disallow: /")));
    }

    #[test]
    fn patterns_that_match_nothing_take_no_room() {
        use RuleEffect::Disallow;
        let table =
            table(&[(Disallow, ""), (Disallow, "a"), (Disallow, "http://h/"), (Disallow, "%2Fa"), (Disallow, "$")]);
        assert_eq!(table, RuleTable::default());
    }

    #[test]
    fn a_pattern_shares_the_text_of_its_line() {
        let table = table(&[(RuleEffect::Disallow, "/shared"), (RuleEffect::Disallow, "/shared")]);
        assert_eq!((table.rules.len(), table.text.len()), (1, 2 * "Disallow: /shared".len()));
    }
}
