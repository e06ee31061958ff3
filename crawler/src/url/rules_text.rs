//! The rules of keys as text: what a crawl directory keeps of them.

use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::{Canonicalizer, KeyRewrite, KeyRule, KeyRuleSet, NamePattern, RuleLists};

/// No rules are written so.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("its keys are made by the rules {0:?}, which this version does not know: use the version that began the crawl")]
pub struct UnknownRules(pub String);

/// The name of no rules at all.
const WHATWG: &str = "whatwg";

/// All others, as JSON: lists that are empty are left out.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenRules {
    rules: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    strip_query: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    session_names: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    index_pages: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    rewrite: Vec<String>,
}

impl Canonicalizer {
    /// The rules of this name.
    ///
    /// # Errors
    /// [`UnknownRules`] when this version does not know one of them.
    pub fn named(name: &str) -> Result<Self, UnknownRules> {
        if name == WHATWG {
            return Ok(Self::WHATWG);
        }
        let written = serde_json::from_str::<WrittenRules>(name).ok();
        written.and_then(read).ok_or_else(|| UnknownRules(name.to_owned()))
    }

    /// What a crawl directory keeps of them: `whatwg` where there are none, else all of them with their lists, as JSON.
    pub fn name(&self) -> String {
        if self.rules().is_empty() {
            return WHATWG.to_owned();
        }
        let RuleLists { strip_query, session_names, index_pages, rewrites } = self.lists();
        let names = |patterns: &[NamePattern]| patterns.iter().map(|pattern| pattern.as_str().to_owned()).collect();
        let written = WrittenRules {
            rules: self.rules().iter().map(|rule| rule.as_str().to_owned()).collect(),
            strip_query: names(strip_query),
            session_names: names(session_names),
            index_pages: index_pages.iter().map(ToString::to_string).collect(),
            rewrite: rewrites.iter().map(ToString::to_string).collect(),
        };
        serde_json::to_string(&written).expect("lists of texts are JSON")
    }
}

impl Canonicalizer {
    /// Their names for people, in the order in which they are applied.
    pub fn described(&self) -> String {
        let names: Vec<_> = self.rules().iter().map(KeyRule::as_str).collect();
        if names.is_empty() { "none".to_owned() } else { names.join(", ") }
    }
}

fn read(written: WrittenRules) -> Option<Canonicalizer> {
    let WrittenRules { rules, strip_query, session_names, index_pages, rewrite } = written;
    let rules: Option<Vec<_>> = rules.iter().map(|word| KeyRule::from_word(word)).collect();
    let patterns = |names: Vec<String>| names.iter().map(|name| NamePattern::new(name).ok()).collect::<Option<_>>();
    let lists = RuleLists {
        strip_query: patterns(strip_query)?,
        session_names: patterns(session_names)?,
        index_pages: index_pages.into_iter().map(Into::into).collect(),
        rewrites: rewrite.iter().map(|text| KeyRewrite::new(text).ok()).collect::<Option<_>>()?,
    };
    Some(Canonicalizer::new(KeyRuleSet::of(rules?), lists))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_read_back_with_their_lists() {
        let lists = RuleLists {
            strip_query: vec![NamePattern::new("utm_*").unwrap()],
            session_names: vec![NamePattern::new("sid").unwrap()],
            index_pages: vec!["index.html".into()],
            rewrites: vec![KeyRewrite::new("\"a\\d => b").unwrap()],
        };
        let all = Canonicalizer::new(KeyRuleSet::of(KeyRule::ALL.iter().copied()), lists.clone());
        let few = Canonicalizer::new(KeyRuleSet::of([KeyRule::Www]), lists);
        for rules in [all, few, Canonicalizer::default(), Canonicalizer::WHATWG] {
            assert_eq!(Canonicalizer::named(&rules.name()), Ok(rules));
        }
        assert_eq!(Canonicalizer::WHATWG.name(), "whatwg");
        assert_eq!(Canonicalizer::default().name(), r#"{"rules":["unreserved","hex-case","empty-query"]}"#);
    }

    #[test]
    fn people_see_names() {
        assert_eq!(Canonicalizer::default().described(), "unreserved, hex-case, empty-query");
        assert_eq!(Canonicalizer::WHATWG.described(), "none");
    }

    #[test]
    fn what_another_version_wrote_is_refused() {
        for name in [
            "",
            "merged",
            "{}",
            r#"{"rules":["later"]}"#,
            r#"{"rules":[],"later":[]}"#,
            r#"{"rules":["rewrite"],"rewrite":["("]}"#,
        ] {
            assert_eq!(Canonicalizer::named(name), Err(UnknownRules(name.to_owned())));
        }
    }
}
