//! [`KeyParts`]: a URL taken apart, and the rules that leave a part of it out or put it in order.
//!
//! Invariant: each rule makes a text shorter, or sorts it: so they come to an end when they are applied again and again.
//!
//! Does not know: which rules hold, and whether what is left is a URL.

use std::borrow::Cow;

use super::{KeyRule, KeyRuleSet, NamePattern, RuleLists, WebUrl, spelling::spelled};

/// The parts of a URL.
#[derive(Debug, Clone)]
pub(super) struct KeyParts<'a> {
    scheme: &'a str,
    /// User name and password with their `@`.
    login: &'a str,
    host: &'a str,
    /// With its colon.
    port: &'a str,
    path: Cow<'a, str>,
    query: Option<Cow<'a, str>>,
}

impl<'a> KeyParts<'a> {
    /// Those of this URL.
    pub(super) fn of(url: &'a WebUrl) -> Self {
        let (scheme, authority) = (url.scheme(), url.authority());
        let login = url.before_path().strip_suffix(authority).and_then(|start| start.get(scheme.len() + 3..));
        let (host, port) = authority.split_at(url.host().len());
        let (path, query) = url.path_and_query().split_at(url.path().len());
        let query = query.strip_prefix('?').map(Cow::Borrowed);
        Self { scheme, login: login.unwrap_or_default(), host, port, path: path.into(), query }
    }

    /// Applies each of these rules once, in their order; those that changed something.
    pub(super) fn apply(&mut self, rules: KeyRuleSet, lists: &RuleLists) -> KeyRuleSet {
        let spelled = self.spell(rules);
        KeyRuleSet::of(rules.iter().filter(|rule| match rule {
            // Both are applied in one pass; rewriting has the whole URL.
            KeyRule::Unreserved | KeyRule::HexCase | KeyRule::Rewrite => false,
            KeyRule::Scheme => self.take_http(),
            KeyRule::Www => self.leave_out_www(),
            KeyRule::Session => self.leave_out_sessions(&lists.session_names),
            KeyRule::StripQuery => {
                self.keep_parameters(|name| !lists.strip_query.iter().any(|pattern| pattern.matches(name)))
            }
            KeyRule::SortQuery => self.sort_query(),
            KeyRule::EmptyQuery => self.query.take_if(|query| query.is_empty()).is_some(),
            KeyRule::IndexPage => self.leave_out_index(&lists.index_pages),
            KeyRule::TrailingSlash => self.leave_out_slash(),
        }))
        .and(spelled)
    }

    /// The whole URL.
    pub(super) fn text(&self) -> String {
        let Self { scheme, login, host, port, path, query } = self;
        let (mark, query) = query.as_deref().map_or(("", ""), |query| ("?", query));
        [scheme, "://", login, host, port, path, mark, query].concat()
    }

    fn spell(&mut self, rules: KeyRuleSet) -> KeyRuleSet {
        let mut changed = KeyRuleSet::NONE;
        for part in [Some(&mut self.path), self.query.as_mut()].into_iter().flatten() {
            if let Some((text, by)) = spelled(part, rules) {
                *part = text.into();
                changed = changed.and(by);
            }
        }
        changed
    }

    /// A port that is named may be that of another server.
    fn take_http(&mut self) -> bool {
        let is_twin = self.scheme == "https" && self.port.is_empty();
        if is_twin {
            self.scheme = "http";
        }
        is_twin
    }

    fn leave_out_www(&mut self) -> bool {
        let rest = self.host.strip_prefix("www.").filter(|rest| !rest.is_empty());
        self.host = rest.unwrap_or(self.host);
        rest.is_some()
    }

    fn leave_out_sessions(&mut self, names: &[NamePattern]) -> bool {
        let is_session = |name: &str| names.iter().any(|pattern| pattern.matches_any_case(name));
        let path = without_parameters(&self.path, is_session);
        let is_changed = path.is_some();
        if let Some(path) = path {
            self.path = path.into();
        }
        self.keep_parameters(|name| !is_session(name)) || is_changed
    }

    /// Keeps parameters by their names. A query of which nothing is left is none.
    fn keep_parameters(&mut self, keeps: impl Fn(&str) -> bool) -> bool {
        let Some(query) = &self.query else { return false };
        let is_kept = |parameter: &&str| keeps(name(parameter));
        if query.split('&').all(|parameter| is_kept(&parameter)) {
            return false;
        }
        let kept: Vec<_> = query.split('&').filter(is_kept).collect();
        self.query = (!kept.is_empty()).then(|| kept.join("&").into());
        true
    }

    /// Those of one name keep their order: it may mean something.
    fn sort_query(&mut self) -> bool {
        let Some(query) = &self.query else { return false };
        if query.split('&').map(name).is_sorted() {
            return false;
        }
        let mut parameters: Vec<_> = query.split('&').collect();
        parameters.sort_by_key(|parameter| name(parameter));
        self.query = Some(parameters.join("&").into());
        true
    }

    fn leave_out_index(&mut self, names: &[Box<str>]) -> bool {
        let folder = self.path.rfind('/').map_or(0, |slash| slash + 1);
        let is_index = names.iter().any(|name| **name == self.path[folder..]);
        if is_index {
            self.shorten_path(folder);
        }
        is_index
    }

    fn leave_out_slash(&mut self) -> bool {
        let length = self.path.trim_end_matches('/').len().max(1);
        let has_slash = length < self.path.len();
        if has_slash {
            self.shorten_path(length);
        }
        has_slash
    }

    fn shorten_path(&mut self, length: usize) {
        match &mut self.path {
            Cow::Borrowed(path) => *path = &path[..length],
            Cow::Owned(path) => path.truncate(length),
        }
    }
}

/// The name of a parameter.
fn name(parameter: &str) -> &str {
    parameter.split_once('=').map_or(parameter, |(name, _)| name)
}

/// A path without the parameters of these names (`;name=value`, up to the next of them or the end of the segment); `None` where it
/// has none.
fn without_parameters(path: &str, is_left_out: impl Fn(&str) -> bool) -> Option<String> {
    let mut kept = String::new();
    let (mut copied, mut at) = (0, 0);
    while let Some(found) = path[at..].find(';') {
        let start = at + found;
        let end = path[start + 1..].find([';', '/']).map_or(path.len(), |length| start + 1 + length);
        let is_named = path[start + 1..end].split_once('=').is_some_and(|(name, _)| is_left_out(name));
        if is_named {
            kept.push_str(&path[copied..start]);
            copied = end;
        }
        at = end;
    }
    (copied > 0).then(|| kept + &path[copied..])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn applied(text: &str, rule: KeyRule) -> (String, bool) {
        let url = WebUrl::parse(text).unwrap();
        let pattern = |text: &&str| NamePattern::new(text).unwrap();
        let lists = RuleLists {
            strip_query: ["utm_*", "gclid"].iter().map(pattern).collect(),
            session_names: ["jsessionid", "sid"].iter().map(pattern).collect(),
            index_pages: ["index.html", "index.php"].map(Into::into).into(),
            rewrites: Vec::new(),
        };
        let mut parts = KeyParts::of(&url);
        let changed = parts.apply(KeyRuleSet::NONE.with(rule), &lists);
        assert_eq!(changed.has(rule), parts.text() != text, "{text}");
        (parts.text(), changed.has(rule))
    }

    #[test]
    fn each_rule_changes_its_part_and_no_other() {
        use KeyRule::*;
        for (rule, text, expected) in [
            (Scheme, "https://h/a?b", "http://h/a?b"),
            (Scheme, "https://h:8443/", "https://h:8443/"),
            (Www, "http://www.h.example:81/", "http://h.example:81/"),
            (Www, "http://www@www2.h/www.x", "http://www@www2.h/www.x"),
            (Www, "http://www./", "http://www./"),
            (Session, "http://h/a;jsessionid=1A!2/b;c=d;JSESSIONID=3?x=1&SID=7", "http://h/a/b;c=d?x=1"),
            (Session, "http://h/a;sid?sid=1", "http://h/a;sid"),
            (StripQuery, "http://h/?utm_a=1&b=2&gclid", "http://h/?b=2"),
            (StripQuery, "http://h/?utm_a=1", "http://h/"),
            (StripQuery, "http://h/?a=utm_b", "http://h/?a=utm_b"),
            (SortQuery, "http://h/?b=2&a=2&b=1&a=1", "http://h/?a=2&a=1&b=2&b=1"),
            (SortQuery, "http://h/?a=2&a=1", "http://h/?a=2&a=1"),
            (EmptyQuery, "http://h/p?", "http://h/p"),
            (EmptyQuery, "http://h/p??", "http://h/p??"),
            (IndexPage, "http://h/a/index.php?b", "http://h/a/?b"),
            (IndexPage, "http://h/index.html", "http://h/"),
            (IndexPage, "http://h/a/my-index.html", "http://h/a/my-index.html"),
            (TrailingSlash, "http://h/a//?b", "http://h/a?b"),
            (TrailingSlash, "http://h//", "http://h/"),
            (TrailingSlash, "http://h/", "http://h/"),
        ] {
            assert_eq!(applied(text, rule), (expected.to_owned(), text != expected), "{rule:?}");
        }
    }

    #[test]
    fn parts_are_the_whole() {
        for text in ["http://u:p@[::1]:81/a/b;c?d?e", "https://@h/?", "http://h/"] {
            let url = WebUrl::parse(text).unwrap();
            assert_eq!(KeyParts::of(&url).text(), url.as_str());
        }
    }
}
