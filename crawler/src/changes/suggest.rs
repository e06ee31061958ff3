//! [`Suggestions`]: ignore rules for lines that rotate, each tried on every text before it is offered.

use std::collections::{BTreeMap, HashSet};

use regex::{Regex, RegexSet};

use super::{
    pattern::{PatternReach, differs_in_numbers, pattern, shape},
    rotating::{KeptTexts, rotating, standing},
};

/// Rules that are tried, at most: those of the most pages.
const MOST_TRIED: usize = 200;

/// Kinds of lines that are distinguished, at most, and versions of one that make its pattern.
const MOST_KINDS: usize = 10_000;
const MOST_VERSIONS: usize = 1_000;

/// Lines that rotate, by what parts their words: those of one site mostly have one pattern.
///
/// ```
/// use webloom::internals::{changes::{KeptTexts, Suggestions}, text::Text, time::Moment};
/// let look = |views: u64| (Moment::from_millis(views), Text::from_lines(["A page", &format!("{views} views")]));
/// let page = KeptTexts { url: "http://h/".into(), looks: 2, texts: vec![look(7), look(8)] };
/// let mut suggestions = Suggestions::default();
/// suggestions.add(&page);
/// let mut trial = suggestions.try_out();
/// trial.add(&page);
/// assert_eq!(trial.offered()[0].rule, "re:^[0-9]+ views$");
/// ```
#[derive(Debug, Default)]
pub struct Suggestions {
    kinds: BTreeMap<String, Kind>,
}

/// Lines of one shape.
#[derive(Debug, Default)]
struct Kind {
    pages: usize,
    /// The versions of a line of each page.
    lines: Vec<Vec<String>>,
}

/// A rule that can be used as it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Suggestion {
    /// It, in the form of [`Ignore`](super::Ignore).
    pub rule: String,
    /// Pages with a line that it leaves out.
    pub pages: u64,
    /// One of these.
    pub url: String,
    /// A line of it, as it was.
    pub before: String,
    /// The same as it became.
    pub after: String,
}

/// Rules that are tried on each page.
#[derive(Debug)]
pub struct Trial {
    /// With the kind of lines each is for; of one kind the first that holds is offered, and more only where they are for others.
    rules: Vec<Tried>,
    set: RegexSet,
}

#[derive(Debug)]
struct Tried {
    kind: usize,
    /// Whether it is for all lines of its kind, not for those of single pages.
    whole: bool,
    pattern: String,
    holds: bool,
    pages: u64,
    example: Option<[String; 3]>,
}

impl Suggestions {
    /// Another page.
    pub fn add(&mut self, page: &KeptTexts) {
        for versions in rotating(page) {
            let lines: Vec<&str> = versions.iter().map(String::as_str).collect();
            // Of two texts, what is no number may be an edit.
            if lines.len() < 3 && !differs_in_numbers(&lines) {
                continue;
            }
            let kind = shape(lines[0]);
            if self.kinds.len() >= MOST_KINDS && !self.kinds.contains_key(&kind) {
                continue;
            }
            let kind = self.kinds.entry(kind).or_default();
            kind.pages += 1;
            if kind.lines.len() * versions.len() < MOST_VERSIONS {
                kind.lines.push(versions);
            }
        }
    }

    /// The rules that may do, to be tried on every page.
    pub fn try_out(self) -> Trial {
        let mut kinds: Vec<Kind> = self.kinds.into_values().collect();
        kinds.sort_by_key(|kind| std::cmp::Reverse(kind.pages));
        let mut rules = Vec::new();
        let mut known = HashSet::new();
        for (number, kind) in kinds.iter().enumerate() {
            for (pattern, whole) in kind.patterns() {
                if rules.len() < MOST_TRIED && Regex::new(&pattern).is_ok() && known.insert(pattern.clone()) {
                    rules.push(Tried { kind: number, whole, pattern, holds: true, pages: 0, example: None });
                }
            }
        }
        let set = RegexSet::new(rules.iter().map(|rule| &rule.pattern)).unwrap_or_default();
        Trial { rules, set }
    }
}

impl Kind {
    /// Those for all lines first, the widest first.
    fn patterns(&self) -> Vec<(String, bool)> {
        let all: Vec<&str> = self.lines.iter().flatten().map(String::as_str).collect();
        let reaches = [PatternReach::Wide, PatternReach::Close];
        let whole = reaches.iter().filter_map(|reach| pattern(&all, *reach)).map(|pattern| (pattern, true));
        let mut each = BTreeMap::new();
        for line in &self.lines {
            let versions: Vec<&str> = line.iter().map(String::as_str).collect();
            for (order, reach) in reaches.iter().enumerate() {
                if let Some(pattern) = pattern(&versions, *reach) {
                    *each.entry((order, pattern)).or_insert(0) += 1;
                }
            }
        }
        let mut each: Vec<_> = each.into_iter().collect();
        each.sort_by_key(|((order, _), pages)| (std::cmp::Reverse(*pages), *order));
        whole.chain(each.into_iter().map(|((_, pattern), _)| (pattern, false))).collect()
    }
}

impl Trial {
    /// Another page: a rule that matches a line of it does not hold.
    pub fn add(&mut self, page: &KeptTexts) {
        for line in standing(page) {
            for rule in self.set.matches(line) {
                self.rules[rule].holds = false;
            }
        }
        let rotating = rotating(page);
        let mut found = HashSet::new();
        for (_, text) in &page.texts {
            found.extend(text.lines().flat_map(|line| self.set.matches(line)));
        }
        for rule in found {
            let tried = &mut self.rules[rule];
            tried.pages += 1;
            if tried.example.is_none() {
                let is_of_it = |versions: &&Vec<String>| self.set.matches(&versions[0]).matched(rule);
                let versions = rotating.iter().find(is_of_it);
                tried.example = versions.map(|versions| [page.url.clone(), versions[0].clone(), versions[1].clone()]);
            }
        }
    }

    /// Those that leave out no line that stays, the one for the most pages first.
    pub fn offered(self) -> Vec<Suggestion> {
        let (mut whole, mut covered) = (HashSet::new(), HashSet::new());
        let mut offered = Vec::new();
        for tried in self.rules.into_iter().filter(|tried| tried.holds) {
            let Some([url, before, after]) = tried.example else { continue };
            // One for all lines of the kind, or one for each line.
            if whole.contains(&tried.kind) || !covered.insert((tried.kind, before.clone())) {
                continue;
            }
            if tried.whole {
                whole.insert(tried.kind);
            }
            offered.push(Suggestion { rule: format!("re:{}", tried.pattern), pages: tried.pages, url, before, after });
        }
        offered.sort_by(|one, other| other.pages.cmp(&one.pages).then_with(|| one.rule.cmp(&other.rule)));
        offered
    }
}

#[cfg(test)]
mod tests {
    use super::{super::rotating::tests::page, *};
    use crate::{changes::Ignore, text::Text};

    fn offered(pages: &[KeptTexts]) -> Vec<Suggestion> {
        let mut suggestions = Suggestions::default();
        for page in pages {
            suggestions.add(page);
        }
        let mut trial = suggestions.try_out();
        for page in pages {
            trial.add(page);
        }
        trial.offered()
    }

    fn rules(pages: &[KeptTexts]) -> Vec<(String, u64)> {
        offered(pages).into_iter().map(|found| (found.rule, found.pages)).collect()
    }

    const DAY: u64 = 86_400;

    #[test]
    fn one_rule_is_offered_for_all_pages() {
        let pages = [
            page(
                DAY,
                &[
                    "a|Seen 1 times on /1|Quote: to be",
                    "a|Seen 2 times on /1|Quote: or not",
                    "a|Seen 9 times on /1|Quote: be",
                ],
            ),
            page(DAY, &["b|Seen 71 times on /2", "b|Seen 72 times on /2", "b|Seen 73 times on /2"]),
            page(DAY, &["c|Seen 8 times on /3", "d|Seen 81 times on /3"]),
        ];
        let found = [("re:^Seen [0-9]+ times on /[0-9]+$".to_owned(), 3), ("re:^Quote: .*$".to_owned(), 1)];
        assert_eq!(rules(&pages), found);
        let rules: Vec<_> = found.iter().map(|(rule, _)| rule.clone()).collect();
        let ignore = Ignore::parse(&rules).unwrap();
        let left: Vec<_> =
            pages.iter().flat_map(|page| page.texts.iter().map(|(_, text)| ignore.apply(text))).collect();
        assert_eq!(left.iter().map(Text::as_str).collect::<Vec<_>>(), ["a", "a", "a", "b", "b", "b", "c", "d"]);
    }

    #[test]
    fn a_rule_that_matches_what_stays_is_never_offered() {
        let restless = || page(9, &["a|Version 1.2", "a|Version 1.3"]);
        assert_eq!(rules(&[restless()]), [("re:^Version [0-9]+\\.[0-9]+$".to_owned(), 1)]);
        let steady = page(9, &["x|Version 7.4", "y|Version 7.4"]);
        assert_eq!(rules(&[restless(), steady]), [("re:^Version 1\\.[0-9]+$".to_owned(), 1)], "a closer one is");
        let steady = page(9, &["x|Version 1.1", "y|Version 1.1"]);
        assert!(rules(&[restless(), steady]).is_empty());
        let one_text = KeptTexts { looks: 5, ..page(9, &["x|Version 1.1"]) };
        assert!(rules(&[restless(), one_text]).is_empty());
    }

    #[test]
    fn an_edit_is_no_line_that_rotates() {
        assert!(rules(&[page(9, &["a|It is red", "a|It is blue"])]).is_empty());
        assert!(rules(&[page(DAY, &["a|17 pages", "a|18 pages"])]).is_empty());
        assert!(rules(&[page(DAY, &["a|17 pages|x", "a|18 pages|x", "a|18 pages|y"])]).is_empty());
    }
}
