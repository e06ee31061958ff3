//! [`Crawl`]: a crawl that a program describes, and runs.

use std::{fmt, path::PathBuf, sync::Arc, time::Duration};

use toml::Value;

use super::{ProgressHandle, StopHandle, fetcher::Fetcher, runner::Http};
use crate::{
    config::{Layers, print_duration},
    scope::UrlFilter,
    url::WebUrl,
};

/// What these settings are called where one of them is wrong.
const SETTINGS: &str = "the crawl's settings";

/// Which area around each start belongs to a crawl.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// The whole host.
    Host,
    /// What lies below the directory of the start URL.
    Prefix,
    /// The registrable domain (by the public suffix list) with all names below it, with any scheme and port.
    Domain,
    /// The whole web.
    Any,
}

/// A crawl: where it starts, how it goes, and where it is kept.
///
/// Nothing is checked and nothing happens before [`run`](Self::run): what is wrong is its error.
///
/// ```no_run
/// use std::time::Duration;
///
/// # async fn example() -> Result<(), webloom::CrawlError> {
/// let crawl = webloom::Crawl::new("https://docs.example.org/")
///     .user_agent("mybot/1.0 (+https://example.org/bot)")
///     .delay(Duration::from_millis(500))
///     .dir("docs");
/// let mut titles = Vec::new();
/// let summary = crawl.run(|page| titles.extend(page.title().map(str::to_owned))).await?;
/// println!("{summary}");
/// assert!(summary.is_complete());
/// # Ok(())
/// # }
/// ```
///
/// The defaults are those of the program: a host is asked for one page a second, robots.txt is obeyed, addresses that are not
/// on the public internet are refused unless a start is one, and at most 0.5 URLs are expected to be lost, which the sweep at the
/// end finds and fetches. Variables of the environment and settings files are not read.
#[must_use = "a crawl does nothing before it is run"]
pub struct Crawl<F = Http> {
    pub(super) starts: Vec<String>,
    pub(super) dir: Option<PathBuf>,
    pub(super) again: bool,
    profile: Option<String>,
    settings: Vec<(String, Value)>,
    pub(super) login: Option<(String, String)>,
    pub(super) fetcher: Option<Arc<F>>,
    pub(super) filter: Option<UrlFilter>,
    pub(super) progress: ProgressHandle,
    pub(super) stop: StopHandle,
}

impl Crawl {
    /// A crawl from this start: a URL, or a host without a scheme (then `https` is tried, then `http`).
    pub fn new(start: impl Into<String>) -> Self {
        Self {
            starts: vec![start.into()],
            dir: None,
            again: false,
            profile: None,
            settings: Vec::new(),
            login: None,
            fetcher: None,
            filter: None,
            progress: ProgressHandle::default(),
            stop: StopHandle::new(),
        }
    }
}

impl<F> Crawl<F> {
    /// One more start.
    pub fn start(mut self, start: impl Into<String>) -> Self {
        self.starts.push(start.into());
        self
    }

    /// Keeps the crawl in this directory, which is made if it is not there. A crawl that was stopped, killed or has reached
    /// a budget goes on where it was; one that was complete has nothing left to do, unless it begins [`again`](Self::again).
    ///
    /// Without a directory nothing is kept: the crawl lies in a temporary one, which is removed at the end.
    pub fn dir(mut self, dir: impl Into<PathBuf>) -> Self {
        self.dir = Some(dir.into());
        self
    }

    /// Crawls the site again if the directory holds a crawl that has ended: the next crawl sequence asks for every known URL once more.
    /// A page that a server calls unchanged (304) is not sent, and not given out, but for the few that are checked
    /// (`revisit.audit_not_modified`). A sequence that was stopped or killed is resumed before, and the next one begins if it is complete
    /// then. The first one begins where there is none.
    pub fn again(mut self) -> Self {
        self.again = true;
        self
    }

    /// The pause of a host between the end of a request and the next (1 s).
    pub fn delay(self, delay: Duration) -> Self {
        self.set("politeness.delay", print_duration(whole_millis(delay)))
    }

    /// Requests at once, over all hosts (64). A host has one at a time (`politeness.per_host`).
    pub fn concurrency(self, requests: u32) -> Self {
        self.set("politeness.concurrency", requests.to_string())
    }

    /// Which area around each start belongs to the crawl (its whole host).
    pub fn scope(self, scope: Scope) -> Self {
        let kind = match scope {
            Scope::Host => "host",
            Scope::Prefix => "prefix",
            Scope::Domain => "domain",
            Scope::Any => "any",
        };
        self.set("scope.kind", kind)
    }

    /// Only URLs that match this regular expression; of several one must match.
    pub fn include(self, pattern: impl Into<String>) -> Self {
        self.add("scope.include", pattern.into())
    }

    /// No URLs that match this regular expression, or another one given so.
    pub fn exclude(self, pattern: impl Into<String>) -> Self {
        self.add("scope.exclude", pattern.into())
    }

    /// Stops after so many pages (never).
    pub fn max_pages(self, pages: u64) -> Self {
        self.set("budget.max_pages", pages.to_string())
    }

    /// Fetches nothing that is more than so many links away from a start (no limit).
    pub fn max_depth(self, links: u32) -> Self {
        self.set("budget.max_depth", links.to_string())
    }

    /// Stops after so much time (never).
    pub fn max_time(self, time: Duration) -> Self {
        self.set("budget.max_time", print_duration(whole_millis(time)))
    }

    /// How many URLs may be expected to be lost in the URL cache (0.5).
    pub fn max_lost_urls(self, urls: f64) -> Self {
        self.set("cache.max_lost_urls", urls.to_string())
    }

    /// Product name and contact, such as `mybot/1.0 (+https://example.org/bot)`. The default names nobody who could be reached.
    pub fn user_agent(self, agent: impl Into<String>) -> Self {
        self.set("fetch.user_agent", agent.into())
    }

    /// A header that is sent with each request to the origin of a start, and to no other.
    pub fn header(self, name: &str, value: &str) -> Self {
        self.add("fetch.headers", format!("{name}: {value}"))
    }

    /// A user name and a password for the origins of the starts. They are not kept in the directory.
    pub fn login(mut self, user: impl Into<String>, password: impl Into<String>) -> Self {
        self.login = Some((user.into(), password.into()));
        self
    }

    /// A name or address that may be asked though it is not on the public internet.
    pub fn allow_private(self, name: impl Into<String>) -> Self {
        self.add("fetch.allow_private", name.into())
    }

    /// Settings made for a purpose, by name: `focused`, `revisit`, `broad`, or `container`.
    pub fn profile(mut self, name: impl Into<String>) -> Self {
        self.profile = Some(name.into());
        self
    }

    /// Any setting by its key, with a value as a settings file has it: `.set("retry.attempts", "6")`. A list has one entry a line. All
    /// keys with their meanings are printed by `webloom config default`.
    pub fn set(mut self, key: impl Into<String>, value: impl Into<String>) -> Self {
        let key = key.into();
        self.settings.retain(|(other, _)| *other != key);
        self.settings.push((key, Value::String(value.into())));
        self
    }

    /// One more entry of a setting that is a list.
    fn add(mut self, key: &str, entry: String) -> Self {
        match self.settings.iter_mut().find(|(other, _)| other == key) {
            Some((_, Value::Array(entries))) => entries.push(Value::String(entry)),
            Some((_, value)) => {
                let lines = value.as_str().unwrap_or_default().lines().chain([entry.as_str()]);
                *value = Value::Array(lines.map(Value::from).collect());
            }
            None => self.settings.push((key.to_owned(), Value::Array(vec![Value::String(entry)]))),
        }
        self
    }

    /// Fetches with this instead of HTTP. Its answers are taken as they are: no address is refused, and no header or password is
    /// added. The crawl asks no host more often or earlier than it would by HTTP.
    pub fn fetcher<O: Fetcher + 'static>(self, fetcher: O) -> Crawl<O> {
        let Self { starts, dir, again, profile, settings, login, fetcher: _, filter, progress, stop } = self;
        let fetcher = Some(Arc::new(fetcher));
        Crawl { starts, dir, again, profile, settings, login, fetcher, filter, progress, stop }
    }

    /// Only URLs for which the function is true, of those that are within the scope otherwise. It is asked about links, the targets of
    /// redirects, and starts. For one URL it must always say the same, in each run of the crawl: only then are losses counted right.
    pub fn filter(mut self, passes: impl Fn(&WebUrl) -> bool + Send + Sync + 'static) -> Self {
        self.filter = Some(UrlFilter::new(passes));
        self
    }

    /// What shows the figures of the crawl while it runs.
    pub fn progress(&self) -> ProgressHandle {
        self.progress.clone()
    }

    pub(super) fn layers(&self) -> Layers {
        let layers = match &self.profile {
            Some(name) => Layers::new().profile(name),
            None => Layers::new(),
        };
        let lines = self.settings.iter().map(|(key, value)| format!("{key} = {value}\n"));
        layers.file_text(SETTINGS, &lines.collect::<String>())
    }

    /// What stops the crawl while it runs.
    pub fn stop_handle(&self) -> StopHandle {
        self.stop.clone()
    }
}

/// Starts, headers and the like may hold passwords: none of them prints.
impl<F> fmt::Debug for Crawl<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Crawl").field("dir", &self.dir).field("again", &self.again).finish_non_exhaustive()
    }
}

/// Settings count in milliseconds; a pause is not to become none.
fn whole_millis(time: Duration) -> Duration {
    Duration::from_millis(u64::try_from(time.as_micros().div_ceil(1000)).unwrap_or(u64::MAX))
}
