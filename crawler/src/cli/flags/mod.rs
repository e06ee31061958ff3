//! The flags of a crawl, as clap arguments.
//!
//! Owns: names, help and grouping of the flags, and which configuration key each one sets. Values stay text here:
//! what is allowed is checked with all other layers, so that every fault is reported at once.
//!
//! Invariants: each flag but `--config`, `--profile`, `--json`, `--no-progress`, `--color` and `--auth` sets one key (`-q` and `-v` the
//! same); the default its help names is the one of `default.toml`.
//!
//! Does not know: subcommands, START arguments, the crawl directory.

mod change;
mod check;
mod extract;
mod listen;
mod machine;
mod schedule;
mod values;

use std::path::PathBuf;

use clap::{ArgAction, Args, ValueEnum};

use crate::{
    config::{RawSettings, RawValue, SecretText, SecretValue},
    observe::{progress::Style, terminal::Color},
};

use self::{
    change::ChangeFlags,
    check::CheckFlags,
    extract::ExtractFlags,
    machine::MachineFlags,
    values::{list, text},
};
pub use self::{listen::ListenFlags, schedule::ScheduleFlags};

const USER_AGENT_HELP: &str = "Name and contact address that servers see \
    [default: webloom/{version} (+https://webloom.example/bot)]";

const USER_AGENT_LONG_HELP: &str = "Name and contact address that servers see \
    [default: webloom/{version} (+https://webloom.example/bot)]\n\n\
    Give a URL or a mail address of your own, so that site owners can reach you. {version} is replaced by the version of Webloom.";

const PROXY_HELP: &str = "Proxy for all requests, for HTTP or SOCKS [default: env]";

const PROXY_LONG_HELP: &str = "Proxy for all requests, for HTTP or SOCKS [default: env]\n\n\
    Such as http://proxy.example.org:3128 or socks5://127.0.0.1:1080, with USER:PASS@ before the host or without. The proxy looks \
    names up itself. `env` takes the proxies that http_proxy, https_proxy, all_proxy and no_proxy name.";

/// The flags that set a crawl up.
///
/// ```
/// use clap::Parser;
/// use webloom::{cli::flags::CrawlFlags, internals::config::Layers};
///
/// #[derive(Parser)]
/// struct Crawl {
///     #[command(flatten)]
///     flags: CrawlFlags,
/// }
///
/// let crawl = Crawl::parse_from(["crawl", "--delay", "0", "--max-pages", "100"]);
/// let resolved = Layers::new().flags(&crawl.flags.overlay()).resolve()?;
/// assert!(resolved.settings.politeness.delay.is_zero());
/// # Ok::<(), webloom::internals::config::ConfigFaults>(())
/// ```
#[derive(Debug, Clone, Args)]
pub struct CrawlFlags {
    /// TOML file with settings
    ///
    /// Flags and environment variables win over the file.
    #[arg(long, value_name = "FILE", env = "WEBLOOM_CONFIG", hide_env_values = true, help_heading = "Settings")]
    pub config: Option<PathBuf>,
    /// Set of defaults: focused, revisit, broad or container
    ///
    /// `focused` covers a small area completely. `revisit` crawls a site again and again; `watch` uses it if you give
    /// no profile. `broad` crawls a little of each of many hosts. `container` is for one that runs for months. A settings file, environment variables and flags win over
    /// the profile.
    #[arg(long, value_name = "NAME", env = "WEBLOOM_PROFILE", hide_env_values = true, help_heading = "Settings")]
    pub profile: Option<String>,
    #[command(flatten)]
    scope: ScopeFlags,
    #[command(flatten)]
    budget: BudgetFlags,
    #[command(flatten)]
    politeness: PolitenessFlags,
    #[command(flatten)]
    check: CheckFlags,
    #[command(flatten)]
    extract: ExtractFlags,
    #[command(flatten)]
    cache: CacheFlags,
    #[command(flatten)]
    access: AccessFlags,
    #[command(flatten)]
    change: ChangeFlags,
    #[command(flatten)]
    machine: MachineFlags,
}

/// What is printed during and after a run.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Output")]
pub struct OutputFlags {
    /// Print the summary as one JSON document
    ///
    /// Stdout has nothing else; progress and log go to stderr.
    #[arg(long)]
    pub json: bool,
    /// Print only the --json document, and errors
    ///
    /// If the command fails, it prints the reason on stderr.
    #[arg(short, long, conflicts_with = "verbose")]
    pub quiet: bool,
    /// Log more: -v for debug messages of the crawler, -vv for everything
    #[arg(short, long, action = ArgAction::Count)]
    pub verbose: u8,
    /// Format of the log, which goes to stderr [default: text]
    #[arg(long, value_name = "text|json")]
    log_format: Option<String>,
    /// Do not show progress
    #[arg(long)]
    pub no_progress: bool,
    /// When to use colour in the summary and the log
    #[arg(long, value_enum, value_name = "auto|always|never", default_value_t = ColorChoice::Auto)]
    pub color: ColorChoice,
}

/// When output has colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ColorChoice {
    /// On a terminal that supports it, unless `NO_COLOR` is set.
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

impl ColorChoice {
    /// What was chosen.
    pub fn color(self) -> Color {
        match self {
            Self::Auto => Color::Auto,
            Self::Always => Color::Always,
            Self::Never => Color::Never,
        }
    }
}

#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "What belongs to the crawl")]
struct ScopeFlags {
    /// Area to crawl: host, domain, prefix or any [default: host]
    ///
    /// `host` crawls the whole host of the start URL. `domain` crawls its registrable domain (`example.co.uk`) with all
    /// names below that. `prefix` crawls only what lies below the directory of the start URL, and does not find a page
    /// there if only pages outside link to it. `any` follows every link.
    #[arg(long, value_name = "AREA")]
    scope: Option<String>,
    /// Crawl only URLs that match; may be repeated [default: all]
    ///
    /// Webloom searches the whole URL for the regular expression. If you give several, one of them must match.
    /// Also: --accept-regex.
    #[arg(long, value_name = "REGEX", alias = "accept-regex")]
    include: Vec<String>,
    /// Leave out URLs that match; may be repeated [default: none]
    ///
    /// Webloom searches the whole URL for the regular expression. A URL that matches is left out, whatever else is set.
    /// Also: --reject-regex.
    #[arg(long, value_name = "REGEX", alias = "reject-regex")]
    exclude: Vec<String>,
    /// Read only bodies of this media type; may be repeated [default: all]
    ///
    /// Such as application/pdf or 'image/*'. HTML, sitemaps and feeds are always read, because links are in them. A
    /// fetch of any other type ends after its headers.
    #[arg(long = "type", value_name = "TYPE")]
    types: Vec<String>,
    /// Parameters that do not distinguish pages, such as 'utm_*,gclid'; may be repeated [default: none]
    ///
    /// URLs that differ only in these parameters are one page. `*` is any characters, and `tracking` is a list of the
    /// parameters that trackers add. It is fixed when the crawl directory is made.
    #[arg(long, value_name = "PATTERNS")]
    strip_query: Vec<String>,
    /// Follow links with rel=nofollow, or obey and leave them out [default: follow]
    #[arg(long, value_name = "follow|obey")]
    nofollow: Option<String>,
    /// Read this sitemap too; may be repeated [default: none]
    ///
    /// It must be on a host of the crawl. Webloom reads the sitemaps that robots.txt names by itself, or /sitemap.xml if
    /// it names none.
    #[arg(long, value_name = "URL")]
    sitemap: Vec<String>,
    /// Which URL of a host comes first [default: breadth]
    ///
    /// `breadth` takes the URL that is nearest to a start URL, `depth` the farthest one, and `best` the one with the
    /// greatest weight (see --priority).
    #[arg(long, value_name = "breadth|depth|best")]
    order: Option<String>,
    /// Weight of matching URLs for --order best; may be repeated [default: none]
    ///
    /// Such as '/guide/=10'. A weight is a number from 0.001 to 1000. The first rule that matches a URL sets its
    /// weight; a URL that no rule matches has weight 1.
    #[arg(long, value_name = "REGEX=WEIGHT")]
    priority: Vec<String>,
}

#[derive(Debug, Clone, Args)]
#[expect(clippy::struct_field_names, reason = "fields are named as their flags are")]
#[command(next_help_heading = "Budgets (the rest stays queued)")]
struct BudgetFlags {
    /// Stop after N stored pages [default: unlimited]
    ///
    /// The budget counts for one crawl sequence. At most 2N + 10 URLs are fetched, so that the crawl also ends on a
    /// site of errors and redirects. Also: --limit.
    #[arg(long, value_name = "N", alias = "limit")]
    max_pages: Option<String>,
    /// Levels of links to follow [default: unlimited]
    ///
    /// 0 fetches only the start URLs, 1 also the pages that they link to. Also: --depth, --level.
    #[arg(long, value_name = "N", aliases = ["depth", "level"])]
    max_depth: Option<String>,
    /// End the run after this time, such as 90s or 1h30m [default: unlimited]
    #[arg(long, value_name = "DURATION")]
    max_time: Option<String>,
    /// Stop after so many received bytes, such as 10MB or 64MiB [default: unlimited]
    ///
    /// The budget counts for one crawl sequence. Also: --quota.
    #[arg(long, value_name = "SIZE", alias = "quota")]
    max_bytes: Option<String>,
}

#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Politeness")]
struct PolitenessFlags {
    /// Pause between requests to a host [default: 1s]
    ///
    /// The pause begins when a request ends. A longer Crawl-delay in robots.txt wins, up to one minute. Use 0 only for
    /// your own server. With "auto", the pause is five times as long as the host takes to answer, from 100 ms to one
    /// minute. Also: --wait.
    #[arg(long, value_name = "DURATION", alias = "wait")]
    delay: Option<String>,
    /// Requests in flight to one host [default: 1]
    #[arg(long, value_name = "N")]
    per_host: Option<String>,
    /// Requests in flight to all hosts [default: 64]
    ///
    /// Also: --max-concurrency.
    #[arg(long, value_name = "N", alias = "max-concurrency")]
    concurrency: Option<String>,
    /// Requests per second to all hosts [default: unlimited]
    ///
    /// Also: --rate-limit.
    #[arg(long, value_name = "N", alias = "rate-limit")]
    max_rate: Option<String>,
    /// Bytes received per second from all hosts, on average [default: unlimited]
    ///
    /// Also: --limit-rate.
    #[arg(long, value_name = "SIZE", alias = "limit-rate")]
    max_bandwidth: Option<String>,
    /// Make requests only in this window; may be repeated [default: all]
    ///
    /// Such as 'mon-fri 22:00-06:00', in the time zone of the setting `schedule.tz`. Outside of the windows the crawl waits.
    #[arg(long, value_name = "WINDOW")]
    hours: Vec<String>,
    /// Do not read the robots.txt of this host; may be repeated [default: none]
    ///
    /// Give HOST or HOST:PORT. Use it only for your own hosts.
    #[arg(long, value_name = "HOST")]
    ignore_robots: Vec<String>,
}

#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "URL cache")]
struct CacheFlags {
    /// How to remember which URLs were seen [default: single]
    ///
    /// `single` is one filter; it takes a few bytes per URL and may lose some URLs. `spatial` is several filters that
    /// must all agree. `temporal` and `spatio-temporal` are the same, but use other hash functions in each sequence.
    /// `multilayer` has one filter for each level of the path and one for the whole URL. `exact` loses no URL and takes
    /// several times the memory.
    #[arg(long, value_name = "exact|single|spatial|temporal|spatio-temporal|multilayer")]
    cache: Option<String>,
    /// How the bits of the filter are arranged [default: auto]
    ///
    /// `classic` spreads the bits of a URL over the whole filter. `line` keeps them within one or two cache lines,
    /// which is fastest. `fingerprint` keeps 32-bit tags. `auto` takes a fast layout: it pays up to 4 bits of
    /// memory per URL for each cache line that it need not read.
    #[arg(long, value_name = "auto|classic|line|fingerprint")]
    cache_layout: Option<String>,
    /// Loss budget: how many URLs a sequence may be expected to lose [default: 0.5]
    ///
    /// Less takes more memory. Without a budget (none), the cache keeps the false-positive rate that
    /// `cache.max_false_positive_rate` allows, or 1 % if that is not set either.
    #[arg(long, value_name = "X|none")]
    max_lost_urls: Option<String>,
    /// Number of URLs that the cache is first made for [default: auto]
    ///
    /// `auto` takes a tenth more than the last sequence admitted, and at least 65536.
    #[arg(long, value_name = "N|auto")]
    expected_urls: Option<String>,
    /// What to do when the loss budget would be exceeded [default: rebuild]
    ///
    /// `rebuild` rebuilds the cache larger from the table of all URLs. `grow` adds to the filter. `rotate` keeps its
    /// size and forgets the older half of the URLs. `restart` fetches what is queued and begins the next sequence with
    /// a larger filter. `stop` ends the crawl with exit code 3. `none` goes on.
    #[arg(long, value_name = "rebuild|grow|rotate|restart|stop|none")]
    reset: Option<String>,
    /// Most memory that the URL cache may take [default: unlimited]
    ///
    /// If that is too little, the cache loses more URLs than the loss budget allows, and the log says how many.
    #[arg(long, value_name = "SIZE")]
    max_cache_memory: Option<String>,
    /// Hash seed of the filter, for repeatable experiments [default: random]
    ///
    /// 1 to 16 hexadecimal digits. A site that knows the seed can choose pages that get lost.
    #[arg(long, value_name = "HEX")]
    hash_seed: Option<SecretText>,
    /// Number of URLs in the sample of the audit [default: 65536]
    ///
    /// The audit measures how many URLs of the sample are really lost. 0 switches it off.
    #[arg(long, value_name = "N")]
    audit_sample: Option<String>,
    /// Admit a URL at once if the audit finds it lost [default: on]
    ///
    /// `off` only counts it and leaves it to the sweep.
    #[arg(long, value_name = "on|off")]
    audit_rescue: Option<String>,
    /// What to do about lost URLs when nothing is left to fetch [default: rescue]
    ///
    /// The sweep compares every in-scope link with the table of all URLs. `rescue` fetches the lost ones, `report` only
    /// names them, and `off` does not compare.
    #[arg(long, value_name = "rescue|report|off")]
    sweep: Option<String>,
}

#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Access")]
struct AccessFlags {
    /// Who asks.
    #[arg(long, value_name = "TEXT", help = USER_AGENT_HELP, long_help = USER_AGENT_LONG_HELP)]
    user_agent: Option<String>,
    /// Header for the servers of the start URLs; may be repeated [default: none]
    ///
    /// It goes only to the origins (scheme, host and port) of the start URLs.
    #[arg(short = 'H', long, value_name = "NAME: VALUE")]
    header: Vec<SecretText>,
    /// User name and password for the start URLs' servers [default: none]
    ///
    /// They go only to the origins (scheme, host and port) of the start URLs. The crawl directory does not keep them:
    /// give them for each run.
    #[arg(long, value_name = "USER:PASS", env = "WEBLOOM_AUTH", hide_env_values = true)]
    auth: Option<SecretText>,
    /// File with the cookies of a log-in, in Netscape's form [default: off]
    ///
    /// As curl and cookies.txt extensions of browsers write it. They go to the hosts of the crawl alone. The crawl directory keeps
    /// them, and those that servers set. If a log-in has expired, give a file with new ones. Also: --load-cookies.
    #[arg(long, value_name = "FILE|on|off", alias = "load-cookies")]
    cookies: Option<String>,
    /// Languages in which pages are wanted, such as 'de, en;q=0.8' [default: none]
    #[arg(long, value_name = "LANGUAGES")]
    accept_language: Option<String>,
    /// What requests go through.
    #[arg(long, value_name = "URL|env|none", help = PROXY_HELP, long_help = PROXY_LONG_HELP)]
    proxy: Option<SecretText>,
    /// Do not check the certificate of this host; may be repeated [default: none]
    ///
    /// Give its name, or its address. Use it only for your own hosts.
    #[arg(long, value_name = "HOST")]
    insecure_host: Vec<String>,
    /// Private network, address or name to connect to; may be repeated [default: none]
    ///
    /// Without it, Webloom refuses private and loopback addresses, unless one is a start URL.
    #[arg(long, value_name = "CIDR|NAME[:PORT]")]
    allow_private: Vec<String>,
    /// Who looks up host names [default: system]
    ///
    /// `system` asks the operating system. `dns` asks its DNS servers directly, which takes no thread for each host.
    /// ADDRESS:PORT is the DNS server to ask.
    #[arg(long, value_name = "system|dns|ADDRESS:PORT")]
    resolver: Option<String>,
    /// Address to use instead of asking DNS; may be repeated [default: none]
    ///
    /// Such as example.org:443:192.0.2.7.
    #[arg(long, value_name = "NAME:PORT:ADDRESS")]
    resolve: Vec<String>,
}

impl CrawlFlags {
    /// User name and password for the start URLs.
    pub fn auth(&self) -> Option<&SecretText> {
        self.access.auth.as_ref()
    }

    /// The layer of settings that these flags are.
    pub fn overlay(&self) -> RawSettings {
        let mut raw = RawSettings::default();
        self.scope.apply(&mut raw);
        self.budget.apply(&mut raw);
        self.politeness.apply(&mut raw);
        self.check.apply(&mut raw);
        self.extract.apply(&mut raw);
        self.cache.apply(&mut raw);
        self.access.apply(&mut raw);
        self.change.apply(&mut raw);
        self.machine.apply(&mut raw);
        raw
    }
}

impl OutputFlags {
    /// How progress is shown.
    pub fn progress_style(&self) -> Style {
        if self.quiet || self.no_progress { Style::Hidden } else { Style::Auto }
    }

    /// The layer of settings that these flags are.
    pub fn overlay(&self) -> RawSettings {
        let level = match (self.quiet, self.verbose) {
            (true, _) => Some("off"),
            (false, 0) => None,
            (false, 1) => Some("info,webloom=debug"),
            (false, _) => Some("trace"),
        };
        let mut raw = RawSettings::default();
        raw.log.level = level.map(RawValue::text);
        raw.log.format = text(self.log_format.as_ref());
        raw
    }
}

impl ScopeFlags {
    fn apply(&self, raw: &mut RawSettings) {
        raw.scope.kind = text(self.scope.as_ref());
        raw.scope.include = list(&self.include);
        raw.scope.exclude = list(&self.exclude);
        raw.sources.sitemap = list(&self.sitemap);
        raw.fetch.types = list(&self.types);
        raw.key.strip_query = list(&self.strip_query);
        raw.extract.nofollow = text(self.nofollow.as_ref());
        raw.frontier.order = text(self.order.as_ref());
        raw.frontier.priority = list(&self.priority);
    }
}

impl BudgetFlags {
    fn apply(&self, raw: &mut RawSettings) {
        raw.budget.max_pages = text(self.max_pages.as_ref());
        raw.budget.max_depth = text(self.max_depth.as_ref());
        raw.budget.max_time = text(self.max_time.as_ref());
        raw.budget.max_bytes = text(self.max_bytes.as_ref());
    }
}

impl PolitenessFlags {
    fn apply(&self, raw: &mut RawSettings) {
        raw.politeness.delay = text(self.delay.as_ref());
        raw.politeness.per_host = text(self.per_host.as_ref());
        raw.politeness.concurrency = text(self.concurrency.as_ref());
        raw.politeness.max_rate = text(self.max_rate.as_ref());
        raw.politeness.max_bandwidth = text(self.max_bandwidth.as_ref());
        raw.politeness.hours = list(&self.hours);
        raw.robots.ignore = list(&self.ignore_robots);
    }
}

impl CacheFlags {
    fn apply(&self, raw: &mut RawSettings) {
        raw.cache.strategy = text(self.cache.as_ref());
        raw.cache.layout = text(self.cache_layout.as_ref());
        raw.cache.max_memory = text(self.max_cache_memory.as_ref());
        raw.cache.max_lost_urls = text(self.max_lost_urls.as_ref());
        raw.cache.expected_urls = text(self.expected_urls.as_ref());
        raw.cache.reset = text(self.reset.as_ref());
        raw.cache.audit_sample = text(self.audit_sample.as_ref());
        raw.cache.audit_rescue = text(self.audit_rescue.as_ref());
        raw.cache.sweep = text(self.sweep.as_ref());
        raw.cache.hash_seed = self.hash_seed.as_ref().map(|seed| SecretValue::new(RawValue::text(seed.reveal())));
    }
}

impl AccessFlags {
    fn apply(&self, raw: &mut RawSettings) {
        let headers: Vec<_> = self.header.iter().map(|header| header.reveal().to_owned()).collect();
        raw.fetch.user_agent = text(self.user_agent.as_ref());
        raw.fetch.headers = list(&headers).map(SecretValue::new);
        raw.fetch.accept_language = text(self.accept_language.as_ref());
        raw.fetch.proxy = self.proxy.as_ref().map(|proxy| SecretValue::new(RawValue::text(proxy.reveal())));
        raw.fetch.insecure_hosts = list(&self.insecure_host);
        raw.fetch.cookies = text(self.cookies.as_ref());
        raw.fetch.allow_private = list(&self.allow_private);
        raw.fetch.resolver = text(self.resolver.as_ref());
        raw.fetch.resolve = list(&self.resolve);
    }
}

#[cfg(test)]
mod tests {
    use clap::{CommandFactory, Parser};

    use super::*;
    use crate::config::{Layers, ReferenceRow, reference};

    /// Flags without a key of their own.
    const NO_KEY: [&str; 9] = ["help", "config", "profile", "json", "quiet", "verbose", "no-progress", "color", "auth"];

    #[derive(Parser)]
    struct Program {
        #[command(flatten)]
        crawl: CrawlFlags,
        #[command(flatten)]
        schedule: ScheduleFlags,
        #[command(flatten)]
        output: OutputFlags,
    }

    impl Program {
        fn layers(arguments: &[&str]) -> Layers {
            let program = Self::try_parse_from([&["webloom"], arguments].concat()).unwrap();
            let layers = Layers::new().flags(&program.crawl.overlay()).flags(&program.schedule.overlay());
            layers.flags(&program.output.overlay())
        }
    }

    fn row(flag: &str) -> ReferenceRow {
        let found = reference().into_iter().find(|row| row.flag == Some(flag));
        found.unwrap_or_else(|| panic!("--{flag} has no key"))
    }

    /// A value other than the default that `flag` takes.
    fn example(flag: &str) -> &'static str {
        match flag {
            "scope" => "prefix",
            "nofollow" => "obey",
            "order" => "depth",
            "cache" => "exact",
            "cache-layout" => "line",
            "max-cache-memory" | "max-memory" | "min-free-disk" => "1GiB",
            "reset" | "proxy" => "none",
            "audit-rescue" | "sweep" | "text" => "off",
            "ignore" => "css:.date",
            "log-format" => "json",
            "user-agent" => "test/1 (+http://localhost/)",
            "header" => "X-Team: docs",
            "accept-language" => "de",
            "field" => "a=p",
            "resolver" => "dns",
            "resolve" => "example.org:80:127.0.0.1",
            "priority" => "/docs/=2",
            "archive" => "warc",
            "assets" => "keep",
            "cron" => "@daily",
            "tz" => "Europe/Berlin",
            "window" | "hours" => "22:00-06:00",
            "overlap" => "queue",
            "spread" | "adaptive" | "cookies" => "on",
            "policy" => "fixed",
            "budget" => "5/hour",
            "section" => "/news/=1h",
            "type" => "image/*",
            "sitemap" | "heartbeat" => "http://h/s.xml",
            _ => "7",
        }
    }

    #[test]
    fn clap_finds_no_fault() {
        Program::command().debug_assert();
    }

    #[test]
    fn every_flag_sets_its_key_and_no_other() {
        for argument in Program::command().get_arguments() {
            let flag = argument.get_long().unwrap();
            if NO_KEY.contains(&flag) {
                continue;
            }
            let dashed = format!("--{flag}");
            let has_value = argument.get_action().takes_values();
            let given = if has_value { format!("{dashed}={}", example(flag)) } else { dashed.clone() };
            let described = Program::layers(&[&*given]).describe().unwrap();
            let set: Vec<_> = described.iter().filter(|key| key.origin != "default").collect();
            assert_eq!(set.len(), 1, "{flag}");
            assert_eq!((set[0].key, &*set[0].origin), (row(flag).key, &*format!("flag {dashed}")));
            assert_ne!(set[0].value, row(flag).default, "{flag}");
        }
    }

    #[test]
    fn every_other_name_of_a_flag_means_the_same_and_is_in_its_help() {
        let mut names = 0;
        for argument in Program::command().get_arguments() {
            let flag = argument.get_long().unwrap();
            for name in argument.get_all_aliases().unwrap_or_default() {
                let described = Program::layers(&[&*format!("--{name}={}", example(flag))]).describe().unwrap();
                let set: Vec<_> = described.iter().filter(|key| key.origin != "default").map(|key| key.key).collect();
                assert_eq!(set, [row(flag).key], "--{name}");
                let help = argument.get_long_help().unwrap().to_string();
                let (_, others) =
                    help.rsplit_once("Also: ").unwrap_or_else(|| panic!("--{flag} does not name --{name}"));
                assert!(others.contains(&format!("--{name}")), "--{flag}: {others}");
                names += 1;
            }
        }
        assert!(names >= 9, "{names}");
    }

    #[test]
    fn every_flag_of_the_reference_exists() {
        let command = Program::command();
        let flags: Vec<_> = command.get_arguments().filter_map(clap::Arg::get_long).collect();
        for row in reference() {
            assert!(row.flag.is_none_or(|flag| flags.contains(&flag)), "{}", row.key);
        }
    }

    #[test]
    fn help_names_the_default_of_the_configuration() {
        for argument in Program::command().get_arguments() {
            let flag = argument.get_long().unwrap();
            if NO_KEY.contains(&flag) {
                continue;
            }
            let help = argument.get_help().unwrap().to_string();
            let (_, named) = help.rsplit_once("[default: ").unwrap_or_else(|| panic!("--{flag} names no default"));
            let default = row(flag).default.trim_matches('"').to_owned();
            let named = named.strip_suffix(']').unwrap();
            let words = if default == "[]" { vec!["none", "all"] } else { vec![&*default] };
            assert!(words.contains(&named), "--{flag}: {named} is not {default}");
        }
    }

    #[test]
    fn quiet_and_verbose_choose_the_level() {
        let level = |arguments: &[&str]| Program::layers(arguments).resolve().unwrap().settings.log.level;
        assert_eq!(level(&[]), "info");
        assert_eq!(level(&["-q"]), "off");
        assert_eq!(level(&["-v"]), "info,webloom=debug");
        assert_eq!(level(&["-vv"]), "trace");
        assert!(Program::try_parse_from(["webloom", "-q", "-v"]).is_err());
    }

    #[test]
    fn secrets_are_not_printed() {
        let program = Program::parse_from(["webloom", "--header", "Cookie: s3cr3t", "--hash-seed", "5ec4e7"]);
        let text = format!("{:?} {:?}", program.crawl, program.crawl.overlay());
        assert!(!text.contains("s3cr3t") && !text.contains("5ec4e7"), "{text}");
    }
}
