//! `[key]`: which URLs are one page.

use crate::{
    config::{
        reader::KeyReader,
        rules::{Each, Parsed},
    },
    url::{Canonicalizer, KeyRewrite, KeyRule, KeyRuleSet, NamePattern, RuleLists},
};

/// The word that takes the place of the list `key.tracking`.
const TRACKING: &str = "tracking";

const RULES: Each<KeyRule> = Each(Parsed {
    allowed: "a rule: unreserved, hex-case, scheme, www, session, strip-query, sort-query, empty-query, index-page, \
              trailing-slash or rewrite",
    parse: |word| KeyRule::from_word(word).ok_or_else(|| "there is no such rule".to_owned()),
});

const NAMES: Each<Vec<NamePattern>> =
    Each(Parsed { allowed: "names of parameters with commas between them; * is any characters", parse: names });

const PAGES: Each<Box<str>> = Each(Parsed { allowed: "the last part of a path, such as index.html", parse: page });

const REWRITES: Each<KeyRewrite> = Each(Parsed {
    allowed: "REGEX => REPLACEMENT",
    parse: |text| KeyRewrite::new(text).map_err(|error| error.to_string()),
});

/// Which URLs are one page.
#[derive(Debug, Clone)]
pub struct KeySettings {
    /// The rules that make keys.
    pub rules: Canonicalizer,
}

impl KeySettings {
    pub(super) fn read(reader: &mut KeyReader<'_>) -> Self {
        let rules = KeyRuleSet::of(reader.read("key.rules", &RULES));
        let strip_query = reader.read("key.strip_query", &NAMES).concat();
        let tracking = reader.read("key.tracking", &NAMES).concat();
        let lists = RuleLists {
            strip_query: stripped(rules, strip_query, tracking),
            session_names: sorted(reader.read("key.session_names", &NAMES).concat()),
            index_pages: sorted(reader.read("key.index_pages", &PAGES)),
            rewrites: reader.read("key.rewrite", &REWRITES),
        };
        // Two rules are switched on by what they go by, and off by nothing to go by.
        let by_lists =
            [(KeyRule::StripQuery, lists.strip_query.is_empty()), (KeyRule::Rewrite, lists.rewrites.is_empty())];
        let rules = by_lists
            .into_iter()
            .fold(rules, |rules, (rule, is_idle)| if is_idle { rules.without(rule) } else { rules.with(rule) });
        Self { rules: Canonicalizer::new(rules, lists) }
    }
}

/// The parameters that are left out: of the rule without any, those of trackers.
fn stripped(rules: KeyRuleSet, given: Vec<NamePattern>, tracking: Vec<NamePattern>) -> Vec<NamePattern> {
    let is_bare = given.is_empty() && rules.has(KeyRule::StripQuery);
    let (tracked, mut stripped): (Vec<_>, Vec<_>) = given.into_iter().partition(|name| name.as_str() == TRACKING);
    if is_bare || !tracked.is_empty() {
        stripped.extend(tracking);
    }
    sorted(stripped)
}

/// Equal lists are written alike.
fn sorted<T: AsRef<str>>(mut list: Vec<T>) -> Vec<T> {
    list.sort_by(|one, other| one.as_ref().cmp(other.as_ref()));
    list.dedup_by(|one, other| one.as_ref() == other.as_ref());
    list
}

fn names(text: &str) -> Result<Vec<NamePattern>, String> {
    text.split(',').map(|name| NamePattern::new(name.trim()).map_err(|error| error.to_string())).collect()
}

fn page(text: &str) -> Result<Box<str>, String> {
    if text.is_empty() || text.contains(|c: char| c.is_whitespace() || "/?#".contains(c)) {
        return Err("a page has a name without / ? # and blanks".to_owned());
    }
    Ok(text.into())
}

#[cfg(test)]
mod tests {
    use crate::{
        config::Layers,
        url::{Canonicalizer, KeyRule},
    };

    fn rules(key: &str) -> Canonicalizer {
        Layers::new().file_text("f", &format!("[key]\n{key}")).resolve().unwrap().settings.key.rules
    }

    fn stripped(key: &str) -> Vec<String> {
        rules(key).lists().strip_query.iter().map(|name| name.as_str().to_owned()).collect()
    }

    #[test]
    fn the_default_is_that_of_the_rules_themselves() {
        assert_eq!(rules(""), Canonicalizer::default());
        assert_eq!(rules("rules = []"), Canonicalizer::WHATWG);
        assert_eq!(rules("rules = ['empty-query', 'hex-case', 'unreserved', 'unreserved']"), Canonicalizer::default());
    }

    #[test]
    fn patterns_switch_their_rule_on_and_tracking_is_a_list() {
        assert_eq!(stripped("strip_query = 'b, a*,b'"), ["a*", "b"]);
        assert!(rules("strip_query = ['b']\nrules = []").rules().has(KeyRule::StripQuery));
        assert_eq!(stripped("strip_query = 'tracking,b'\ntracking = ['c', 'a']"), ["a", "b", "c"]);
        assert_eq!(stripped("rules = ['strip-query']\ntracking = ['c']"), ["c"]);
        assert_eq!(stripped("tracking = ['c']"), [""; 0]);
        let known = stripped("strip_query = 'tracking'");
        assert!(
            ["utm_*", "gclid", "fbclid", "msclkid", "mc_cid", "mc_eid"]
                .iter()
                .all(|name| known.contains(&(*name).to_owned()))
        );
        assert!(rules("rewrite = 'a => b'").rules().has(KeyRule::Rewrite));
        assert!(rules("rules = ['rewrite']").rules().is_empty());
        assert!(rules("rules = ['session', 'index-page']").lists().session_names.len() > 5);
    }

    #[test]
    fn faults_say_what_is_allowed() {
        for (key, expected) in [
            ("rules = ['slash']", "entry 1: there is no such rule; give a rule: unreserved"),
            ("strip_query = 'a,,b'", "entry 1: there is no name; give names of parameters"),
            ("rewrite = ['a']", "entry 1: the arrow => is missing; give REGEX => REPLACEMENT"),
            (
                "index_pages = ['a/b']",
                "entry 1: a page has a name without / ? # and blanks; give the last part of a path",
            ),
        ] {
            let faults = Layers::new().file_text("f", &format!("[key]\n{key}")).resolve().unwrap_err().to_string();
            assert!(faults.contains(expected), "{faults}");
        }
        let faults = Layers::new().file_text("f", "[key]\nrules = ['x']").resolve().unwrap_err().to_string();
        assert!(KeyRule::ALL.iter().all(|rule| faults.contains(rule.as_str())), "{faults}");
    }
}
