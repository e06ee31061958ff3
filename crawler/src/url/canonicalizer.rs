//! [`Canonicalizer`]: the rules by which a URL becomes a key.
//!
//! Invariants: making a key of a key changes nothing; a key is a URL as the parser writes it. Where a rule would break that, it does
//! not hold for this URL.

use std::{borrow::Cow, sync::Arc};

use super::{Fingerprint, FingerprintSeed, Key, KeyRule, KeyRuleSet, RuleLists, WebUrl, key_parts::KeyParts};

/// How often expressions are replaced in one URL. What has not come to an end by then goes on for ever, and is left as it was.
const MOST_REWRITES: usize = 8;

/// The longest text that replacing expressions may make, in bytes.
const LONGEST_REWRITTEN: usize = 8_192;

/// The rules that can change a URL only where it has a percent sign, or a question mark at its end.
const SPELLING: KeyRuleSet = KeyRuleSet::DEFAULT;

/// What makes keys of URLs. Whoever compares two keys, or their fingerprints, must have made both by the same rules: so a
/// crawl directory keeps the [name](Self::name) of its rules.
///
/// Whatever the rules, nothing is fetched by its key: it says which URLs are one page. Clones share the lists.
///
/// ```
/// use webloom::internals::url::{Canonicalizer, KeyRule, KeyRuleSet, RuleLists, WebUrl};
/// let rules = Canonicalizer::default();
/// let one = rules.key(&WebUrl::parse("http://EXAMPLE.org:80/a/./%7eb?#x")?);
/// let two = rules.key(&WebUrl::parse("http://example.org/a/~b")?);
/// assert_eq!(one, two);
/// assert_eq!(Canonicalizer::named(&rules.name())?, rules);
/// let more = Canonicalizer::new(KeyRuleSet::DEFAULT.with(KeyRule::SortQuery), RuleLists::default());
/// assert_eq!(more.key(&WebUrl::parse("http://h/?b&a")?).as_str(), "http://h/?a&b");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Canonicalizer {
    rules: KeyRuleSet,
    /// None where no rule has any.
    lists: Option<Arc<RuleLists>>,
}

/// The text of a key, and the rules that changed it.
struct Keyed<'a> {
    text: Cow<'a, str>,
    changed: KeyRuleSet,
}

impl Default for Canonicalizer {
    /// The rules that hold if nothing else is said: `unreserved`, `hex-case` and `empty-query`.
    fn default() -> Self {
        Self { rules: KeyRuleSet::DEFAULT, lists: None }
    }
}

impl Canonicalizer {
    /// What the WHATWG parser and the dropped fragment merge, and nothing else.
    pub const WHATWG: Self = Self { rules: KeyRuleSet::NONE, lists: None };

    /// These rules. A list counts where its rule is among them.
    pub fn new(rules: KeyRuleSet, lists: RuleLists) -> Self {
        let RuleLists { mut strip_query, mut session_names, mut index_pages, mut rewrites } = lists;
        if !rules.has(KeyRule::StripQuery) {
            strip_query.clear();
        }
        if !rules.has(KeyRule::Session) {
            session_names.clear();
        }
        if !rules.has(KeyRule::IndexPage) {
            index_pages.clear();
        }
        if !rules.has(KeyRule::Rewrite) {
            rewrites.clear();
        }
        let lists = RuleLists { strip_query, session_names, index_pages, rewrites };
        let lists = (lists != RuleLists::default()).then(|| Arc::new(lists));
        Self { rules, lists }
    }

    /// The rules.
    pub fn rules(&self) -> KeyRuleSet {
        self.rules
    }

    /// Their lists.
    pub fn lists(&self) -> &RuleLists {
        static NONE: RuleLists = RuleLists {
            strip_query: Vec::new(),
            session_names: Vec::new(),
            index_pages: Vec::new(),
            rewrites: Vec::new(),
        };
        self.lists.as_deref().unwrap_or(&NONE)
    }

    /// The key of a URL.
    pub fn key(&self, url: &WebUrl) -> Key {
        Key::of(&self.keyed(url).text)
    }

    /// The fingerprint of a URL's key, for those who need no key.
    pub fn fingerprint(&self, url: &WebUrl, seed: FingerprintSeed) -> Fingerprint {
        self.judged(url, seed).0
    }

    /// The same, with the rules that changed the key.
    pub fn judged(&self, url: &WebUrl, seed: FingerprintSeed) -> (Fingerprint, KeyRuleSet) {
        let Keyed { text, changed } = self.keyed(url);
        (seed.of_text(&text), changed)
    }

    /// The rules that change the key of a URL.
    pub fn changing(&self, url: &WebUrl) -> KeyRuleSet {
        self.keyed(url).changed
    }

    /// A URL, and where a host is the same with `www.` and without, that of its other name: what reaches one of them reaches both.
    pub fn reached_with(&self, url: &WebUrl) -> impl Iterator<Item = WebUrl> + use<> {
        let twin = self.rules.has(KeyRule::Www).then(|| url.with_other_www()).flatten();
        [Some(url.clone()), twin].into_iter().flatten()
    }

    fn keyed<'a>(&self, url: &'a WebUrl) -> Keyed<'a> {
        let text = url.as_str();
        if self.rules.is_within(SPELLING) && !text.ends_with('?') && memchr::memchr(b'%', text.as_bytes()).is_none() {
            return Keyed { text: text.into(), changed: KeyRuleSet::NONE };
        }
        let keyed = self.ordered(url);
        if self.rules.has(KeyRule::Rewrite) { self.rewritten(keyed) } else { keyed }
    }

    /// By all rules but the user's expressions. Each makes the text shorter or sorts it, so this comes to an end.
    fn ordered<'a>(&self, url: &'a WebUrl) -> Keyed<'a> {
        let mut parts = KeyParts::of(url);
        let mut changed = KeyRuleSet::NONE;
        loop {
            let now = parts.apply(self.rules, self.lists());
            if now.is_empty() {
                break;
            }
            changed = changed.and(now);
        }
        // Something left out may make of its rest what the parser takes for something else: two dots.
        let text = Some(parts).filter(|_| !changed.is_empty()).map(|parts| parts.text());
        match text.filter(|text| WebUrl::parse(text).is_ok_and(|url| url.as_str() == text)) {
            Some(text) => Keyed { text: text.into(), changed },
            None => Keyed { text: url.as_str().into(), changed: KeyRuleSet::NONE },
        }
    }

    /// By the user's expressions, until they change nothing more.
    fn rewritten<'a>(&self, before: Keyed<'a>) -> Keyed<'a> {
        let mut text = before.text.to_string();
        for _ in 0..MOST_REWRITES {
            let Some(next) = self.replaced(&text) else { return before };
            if next == text {
                let is_changed = text != before.text;
                let changed = if is_changed { before.changed.with(KeyRule::Rewrite) } else { before.changed };
                return Keyed { text: text.into(), changed };
            }
            text = next;
        }
        before
    }

    /// Every expression once, and the other rules after them; `None` where that makes no URL.
    fn replaced(&self, text: &str) -> Option<String> {
        let mut text = Cow::Borrowed(text);
        for rewrite in &self.lists().rewrites {
            if let Cow::Owned(next) = rewrite.applied(&text) {
                text = Cow::Owned(next);
            }
            if text.len() > LONGEST_REWRITTEN {
                return None;
            }
        }
        let url = WebUrl::parse(&text).ok()?;
        Some(self.ordered(&url).text.into_owned())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::url::{KeyRewrite, NamePattern};

    fn lists() -> RuleLists {
        let patterns = |names: &[&str]| names.iter().map(|name| NamePattern::new(name).unwrap()).collect();
        RuleLists {
            strip_query: patterns(&["utm_*", "g"]),
            session_names: patterns(&["sid", "jsessionid"]),
            index_pages: ["index.html".into(), "a".into()].into(),
            rewrites: ["b => a", "^(.*)/c$ => $1/c/c", "e => f", "f => e", "w{3}\\. => w."]
                .map(|text| KeyRewrite::new(text).unwrap())
                .into(),
        }
    }

    fn only(rules: impl IntoIterator<Item = KeyRule>) -> Canonicalizer {
        Canonicalizer::new(KeyRuleSet::of(rules), lists())
    }

    fn key(rules: &Canonicalizer, url: &str) -> String {
        let url = WebUrl::parse(url).unwrap();
        let key = rules.key(&url);
        assert_eq!(rules.changing(&url).is_empty(), key.as_str() == url.as_str(), "{url}");
        key.as_str().to_owned()
    }

    fn url() -> impl Strategy<Value = String> {
        let host =
            prop::sample::select(vec!["h", "www.h", "www.www.h.example", "h:81", "u:p@www.h", "[::1]", "www.1.h"]);
        let piece = prop::sample::select(vec![
            "/",
            "//",
            "a",
            "b",
            "c",
            "e",
            "/c",
            ".",
            "..",
            ";sid=1",
            ";jsessionid=%2e",
            "%",
            "%2e",
            "%2E",
            "%7e",
            "%4",
            "%31",
            "%32",
            "%61",
            "%C3%a9",
            "index.html",
            "é",
            " ",
            "\\",
            "w",
            "www.",
        ]);
        let parameter = prop::sample::select(vec![
            "&", "=", "utm_x=1", "g", "sid=2", "SID=%41", "a=1", "b", "?", "%67=1", "%", "%3", "%e9", "'", "\"",
        ]);
        let path = prop::collection::vec(piece, 0..8).prop_map(|pieces| pieces.concat());
        let query = prop::option::of(prop::collection::vec(parameter, 0..8).prop_map(|pieces| pieces.concat()));
        (prop::bool::ANY, host, path, query).prop_map(|(is_secure, host, path, query)| {
            let scheme = if is_secure { "https" } else { "http" };
            let query = query.map(|query| format!("?{query}")).unwrap_or_default();
            format!("{scheme}://{host}/{path}{query}")
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4_000))]

        #[test]
        fn building_twice_changes_nothing(text in url(), rules in 0..1_u16 << KeyRule::ALL.len()) {
            let chosen = KeyRule::ALL.iter().copied().filter(|rule| rules & 1 << *rule as u16 != 0);
            let rules = only(chosen);
            if let Ok(url) = WebUrl::parse(&text) {
                let seed = FingerprintSeed::new(1);
                let key = rules.key(&url);
                prop_assert_eq!(rules.fingerprint(&url, seed), seed.fingerprint(&key));
                let parsed = WebUrl::parse(key.as_str()).unwrap();
                prop_assert_eq!(parsed.as_str(), key.as_str());
                prop_assert_eq!(rules.key(&parsed), key.clone());
                prop_assert!(rules.changing(&parsed).is_empty());
                prop_assert_eq!(rules.changing(&url).is_empty(), key.as_str() == url.as_str());
                prop_assert!(rules.changing(&url).is_within(rules.rules()));
            }
        }

        #[test]
        fn any_text_has_a_key(path in "[ -~]{0,30}", query in "[ -~]{0,20}") {
            if let Ok(url) = WebUrl::parse(&format!("https://www.h.example/{path}?{query}")) {
                let rules = only(KeyRule::ALL.iter().copied());
                let key = rules.key(&url);
                prop_assert_eq!(rules.key(&WebUrl::parse(key.as_str()).unwrap()), key);
            }
        }
    }

    #[test]
    fn rules_meet_in_their_order() {
        use KeyRule::*;
        let all = only(KeyRule::ALL.iter().copied().filter(|rule| *rule != Rewrite));
        let text = "https://www.h.example/%7Ex/index.html;sid=1/?utm_a=1&b=%e9&%67=2&a=3&SID=4";
        assert_eq!(key(&all, text), "http://h.example/~x?a=3&b=%E9");
        assert_eq!(key(&only([Unreserved]), "http://h/%7ex?"), "http://h/~x?");
        assert_eq!(key(&Canonicalizer::default(), "http://h/%7ex?"), "http://h/~x");
        assert_eq!(key(&Canonicalizer::WHATWG, "http://h/%7ex?"), "http://h/%7ex?");
        let url = WebUrl::parse("http://h/%7E%2f?").unwrap();
        let changing: Vec<_> = Canonicalizer::default().changing(&url).iter().collect();
        assert_eq!(changing, [Unreserved, HexCase, EmptyQuery]);
    }

    #[test]
    fn what_a_rule_leaves_is_never_taken_for_something_else() {
        let sessions = only([KeyRule::Session, KeyRule::Unreserved]);
        for text in ["http://h/a/..;sid=1/b", "http://h/a/%2e;sid=1/b", "http://h/x/.;sid=1"] {
            assert_eq!(key(&sessions, text), text);
        }
        assert_eq!(key(&only([KeyRule::Www]), "http://www./"), "http://www./");
    }

    #[test]
    fn expressions_are_replaced_until_nothing_changes() {
        let rules = only([KeyRule::Rewrite, KeyRule::TrailingSlash]);
        assert_eq!(key(&rules, "http://h/bb/x/"), "http://h/aa/x");
        assert_eq!(key(&rules, "http://h/f"), "http://h/e", "they are replaced in their order");
        assert_eq!(key(&rules, "http://h/x/c/"), "http://h/x/c", "it goes on for ever, and is left as it was");
        let none = Canonicalizer::new(
            KeyRuleSet::of([KeyRule::Rewrite]),
            RuleLists { rewrites: vec![KeyRewrite::new("^http: => mailto:").unwrap()], ..RuleLists::default() },
        );
        assert_eq!(key(&none, "http://h/a"), "http://h/a", "what is no URL is no key");
    }
}
