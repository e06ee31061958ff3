//! What belongs to the crawl.
//!
//! Owns: the judgement of a URL by host, domain or prefix, include and exclude patterns and length. Cheap rules come first.
//!
//! Invariant: a scope only grows while a crawl runs ([`CrawlScope::widen`]); narrowing it is a new set of settings.
//!
//! Does not know: who proposed a URL, robots.txt, or whether it was seen.

mod names;

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
    sync::Arc,
};

use names::Names;
use regex::Regex;

use crate::url::WebUrl;

/// How far a start URL reaches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reach {
    /// Its host: name and port; http and https on their own ports are one host.
    Host,
    /// Its host and everything below the folder of its path.
    Prefix,
    /// Its registrable domain and all names below that, with any scheme and port. A name or address that has none reaches as far as
    /// with [`Reach::Host`].
    Domain,
    /// Everything.
    Any,
}

/// The patterns and limits beside the reach.
#[derive(Debug, Clone)]
pub struct ScopeRules {
    /// How far each start URL reaches.
    pub reach: Reach,
    /// If there are any, one of them must match the URL.
    pub include: Vec<Regex>,
    /// None of them may match the URL.
    pub exclude: Vec<Regex>,
    /// Longer URLs (in bytes) are refused.
    pub max_url_length: usize,
}

/// A function that says which URLs belong to the crawl, beside the patterns. For one URL it must always say the same.
#[derive(Clone)]
pub struct UrlFilter(Arc<dyn Fn(&WebUrl) -> bool + Send + Sync>);

impl UrlFilter {
    /// One that has the URLs pass for which the function is true.
    pub fn new(passes: impl Fn(&WebUrl) -> bool + Send + Sync + 'static) -> Self {
        Self(Arc::new(passes))
    }
}

impl fmt::Debug for UrlFilter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("UrlFilter(function)")
    }
}

/// Why a URL does not belong to the crawl: a counted reason.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Refusal {
    /// Longer than the limit.
    TooLong,
    /// Another host, or outside the prefix.
    Scope,
    /// An exclude pattern matches.
    Exclude,
    /// No include pattern matches.
    Include,
    /// The function that filters URLs refuses it.
    Filter,
    /// Too many redirects in a row.
    Redirects,
    /// It was removed because somebody asked for it.
    Removed,
}

impl Refusal {
    /// The reason's name in counts and output.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::TooLong => "too_long",
            Self::Scope => "scope",
            Self::Exclude => "exclude",
            Self::Include => "include",
            Self::Filter => "filter",
            Self::Redirects => "redirects",
            Self::Removed => "removed",
        }
    }
}

/// The area of the crawl.
///
/// ```
/// use webloom::internals::{scope::*, url::WebUrl};
/// let rules = ScopeRules { reach: Reach::Prefix, include: vec![], exclude: vec![], max_url_length: 2048 };
/// let mut scope = CrawlScope::new(rules);
/// scope.widen(&WebUrl::parse("https://h/docs/index.html")?);
/// assert_eq!(scope.judge(&WebUrl::parse("https://h/docs/a/b")?), Ok(()));
/// assert_eq!(scope.judge(&WebUrl::parse("https://h/blog/")?), Err(Refusal::Scope));
/// # Ok::<(), webloom::internals::url::UrlError>(())
/// ```
#[derive(Debug, Clone)]
pub struct CrawlScope {
    rules: ScopeRules,
    filter: Option<UrlFilter>,
    /// Whether what pages show and load belongs to it, wherever it is.
    assets: bool,
    /// The authorities that belong to it whole.
    hosts: Names,
    /// The registrable domains that do.
    domains: Names,
    /// Where folders belong to it: by authority, each with its `/` at the end.
    folders: BTreeMap<Box<str>, BTreeSet<Box<str>>>,
}

impl CrawlScope {
    /// A scope that holds nothing yet.
    pub fn new(rules: ScopeRules) -> Self {
        Self {
            rules,
            filter: None,
            assets: false,
            hosts: Names::default(),
            domains: Names::default(),
            folders: BTreeMap::new(),
        }
    }

    /// The same, as far as a function has URLs pass, if there is one.
    #[must_use]
    pub fn filtered(self, filter: Option<UrlFilter>) -> Self {
        Self { filter, ..self }
    }

    /// The same with what pages show and load, if that is so.
    #[must_use]
    pub fn with_assets(self, assets: bool) -> Self {
        Self { assets, ..self }
    }

    /// Takes in what this start URL (or the target of its redirect) reaches; `true` if that is more than before.
    pub fn widen(&mut self, start: &WebUrl) -> bool {
        if self.reached(start) {
            return false;
        }
        let authority = start.authority();
        match self.rules.reach {
            Reach::Host => self.hosts.insert(authority),
            Reach::Domain => match start.registrable_domain() {
                Some(domain) => self.domains.insert(domain),
                None => self.hosts.insert(authority),
            },
            Reach::Any => {}
            Reach::Prefix => {
                let folders_of = self.folders.entry(authority.into()).or_default();
                folders_of.extend(folders(start.path()).last().map(Into::into));
            }
        }
        true
    }

    /// Whether the URL belongs to the crawl.
    ///
    /// # Errors
    /// The first rule that refuses it.
    pub fn judge(&self, url: &WebUrl) -> Result<(), Refusal> {
        let text = url.as_str();
        let matched = |patterns: &[Regex]| patterns.iter().any(|pattern| pattern.is_match(text));
        if text.len() > self.rules.max_url_length {
            Err(Refusal::TooLong)
        } else if !self.reached(url) {
            Err(Refusal::Scope)
        } else if matched(&self.rules.exclude) {
            Err(Refusal::Exclude)
        } else if !self.rules.include.is_empty() && !matched(&self.rules.include) {
            Err(Refusal::Include)
        } else if self.filter.as_ref().is_some_and(|UrlFilter(passes)| !passes(url)) {
            Err(Refusal::Filter)
        } else {
            Ok(())
        }
    }

    /// Whether a list of URLs, such as a sitemap, may be read: on a host of the crawl it may, whichever of its pages are wanted.
    ///
    /// # Errors
    /// The first rule that refuses it.
    pub fn judge_list(&self, url: &WebUrl) -> Result<(), Refusal> {
        let is_of_a_host = match self.rules.reach {
            Reach::Prefix => self.folders.contains_key(url.authority()),
            Reach::Any | Reach::Host | Reach::Domain => self.reached(url),
        };
        if url.as_str().len() > self.rules.max_url_length {
            Err(Refusal::TooLong)
        } else if !is_of_a_host {
            Err(Refusal::Scope)
        } else if self.rules.exclude.iter().any(|pattern| pattern.is_match(url.as_str())) {
            Err(Refusal::Exclude)
        } else {
            Ok(())
        }
    }

    /// Whether something may be fetched because a page shows or loads it: if so, wherever it is, unless it is excluded.
    ///
    /// # Errors
    /// The first rule that refuses it.
    pub fn judge_asset(&self, url: &WebUrl) -> Result<(), Refusal> {
        if url.as_str().len() > self.rules.max_url_length {
            Err(Refusal::TooLong)
        } else if !self.assets {
            Err(Refusal::Scope)
        } else if self.rules.exclude.iter().any(|pattern| pattern.is_match(url.as_str())) {
            Err(Refusal::Exclude)
        } else if self.filter.as_ref().is_some_and(|UrlFilter(passes)| !passes(url)) {
            Err(Refusal::Filter)
        } else {
            Ok(())
        }
    }

    /// However many starts there are, this looks up one host or domain, and the folders above the URL.
    fn reached(&self, url: &WebUrl) -> bool {
        match self.rules.reach {
            Reach::Any => true,
            Reach::Host => self.hosts.contains(url.authority()),
            Reach::Domain => {
                let own = url.registrable_domain().is_some_and(|domain| self.domains.contains(domain));
                own || self.hosts.contains(url.authority())
            }
            Reach::Prefix => self
                .folders
                .get(url.authority())
                .is_some_and(|own| folders(url.path()).any(|folder| own.contains(folder))),
        }
    }
}

/// The folders that a path lies in, from the root down, each with its `/` at the end.
fn folders(path: &str) -> impl Iterator<Item = &str> {
    path.match_indices('/').map(|(at, _)| &path[..=at])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(text: &str) -> WebUrl {
        WebUrl::parse(text).unwrap()
    }

    fn scope(reach: Reach, include: &[&str], exclude: &[&str]) -> CrawlScope {
        let patterns = |list: &[&str]| list.iter().map(|text| Regex::new(text).unwrap()).collect();
        let (include, exclude) = (patterns(include), patterns(exclude));
        let mut scope = CrawlScope::new(ScopeRules { reach, include, exclude, max_url_length: 60 });
        scope.widen(&url("http://h.example/docs/start.html"));
        scope
    }

    #[test]
    fn a_host_is_name_and_port_whatever_the_scheme() {
        let scope = scope(Reach::Host, &[], &[]);
        assert_eq!(scope.judge(&url("https://h.example/x")), Ok(()));
        for other in ["http://h.example:8080/", "http://www.h.example/", "http://h.example.org/"] {
            assert_eq!(scope.judge(&url(other)), Err(Refusal::Scope), "{other}");
        }
    }

    fn reached(reach: Reach, starts: &[&str]) -> impl Fn(&str) -> bool {
        let mut scope = CrawlScope::new(ScopeRules { reach, include: vec![], exclude: vec![], max_url_length: 60 });
        for start in starts {
            scope.widen(&url(start));
        }
        move |text| scope.judge(&url(text)).is_ok()
    }

    #[test]
    fn a_domain_has_all_names_below_it_with_any_scheme_and_port() {
        let belongs = reached(Reach::Domain, &["http://docs.example.co.uk/a/", "https://me.github.io/"]);
        for own in [
            "https://example.co.uk/",
            "http://a.b.example.co.uk:8080/x",
            "http://example.co.uk./",
            "http://me.github.io:1/",
            "https://x.me.github.io/",
        ] {
            assert!(belongs(own), "{own}");
        }
        for other in [
            "http://example2.co.uk/",
            "http://co.uk/",
            "http://github.io/",
            "http://you.github.io/",
            "http://10.0.0.1/",
        ] {
            assert!(!belongs(other), "{other}");
        }
    }

    #[test]
    fn what_has_no_domain_is_a_host_of_its_own() {
        let belongs = reached(
            Reach::Domain,
            &["http://127.0.0.1:81/", "http://localhost/", "http://github.io/", "http://[::1]/"],
        );
        for own in ["http://127.0.0.1:81/x", "https://localhost/", "http://github.io/x", "http://[::1]/"] {
            assert!(belongs(own), "{own}");
        }
        for other in [
            "http://127.0.0.1/",
            "http://127.0.0.2:81/",
            "http://a.localhost/",
            "http://me.github.io/",
            "http://[::2]/",
        ] {
            assert!(!belongs(other), "{other}");
        }
    }

    #[test]
    fn any_has_every_url_and_never_grows() {
        let rules = ScopeRules { reach: Reach::Any, include: vec![], exclude: vec![], max_url_length: 60 };
        let mut scope = CrawlScope::new(rules);
        assert_eq!(scope.judge(&url("https://anything.invalid:99/x")), Ok(()));
        assert!(!scope.widen(&url("http://h/")));
    }

    #[test]
    fn a_prefix_ends_at_a_folder() {
        let scope = scope(Reach::Prefix, &[], &[]);
        assert_eq!(scope.judge(&url("http://h.example/docs/")), Ok(()));
        assert_eq!(scope.judge(&url("http://h.example/docs2/")), Err(Refusal::Scope));
        assert_eq!(scope.judge(&url("http://h.example.org/docs/")), Err(Refusal::Scope));
    }

    #[test]
    fn a_list_is_read_on_each_host_of_the_crawl_unless_it_is_excluded() {
        let scope = scope(Reach::Prefix, &["/docs/"], &[r"\.zip$"]);
        assert_eq!(scope.judge_list(&url("http://h.example/sitemap.xml")), Ok(()));
        assert_eq!(scope.judge_list(&url("http://h.example/sitemap.zip")), Err(Refusal::Exclude));
        assert_eq!(scope.judge_list(&url("http://other.example/docs/sitemap.xml")), Err(Refusal::Scope));
    }

    #[test]
    fn patterns_and_length_name_their_reason() {
        let scope = scope(Reach::Host, &["/docs/"], &[r"\.zip$"]);
        assert_eq!(scope.judge(&url("http://h.example/docs/a")), Ok(()));
        assert_eq!(scope.judge(&url("http://h.example/docs/a.zip")), Err(Refusal::Exclude));
        assert_eq!(scope.judge(&url("http://h.example/a")), Err(Refusal::Include));
        assert_eq!(scope.judge(&url(&format!("http://h.example/docs/{}", "x".repeat(60)))), Err(Refusal::TooLong));
    }

    #[test]
    fn widens_to_a_redirect_target() {
        let mut scope = scope(Reach::Host, &[], &[]);
        assert!(scope.widen(&url("https://www.h.example/")));
        assert!(!scope.widen(&url("https://www.h.example/again")));
        assert_eq!(scope.judge(&url("https://www.h.example/x")), Ok(()));
    }

    /// To look at each start for each URL would take minutes here.
    #[test]
    fn many_starts_cost_no_more_than_one() {
        let rules = ScopeRules { reach: Reach::Prefix, include: vec![], exclude: vec![], max_url_length: 60 };
        let mut scope = CrawlScope::new(rules);
        for number in 0..20_000 {
            scope.widen(&url(&format!("http://h{}.example/{number}/", number % 10_000)));
        }
        let began = std::time::Instant::now();
        let inside = url("http://h7.example/10007/a/b/c");
        let outside = url("http://h8.example/10007/a/b/c");
        for _ in 0..50_000 {
            assert_eq!((scope.judge(&inside), scope.judge(&outside)), (Ok(()), Err(Refusal::Scope)));
        }
        assert!(began.elapsed() < std::time::Duration::from_secs(5), "{:?}", began.elapsed());
    }
}
