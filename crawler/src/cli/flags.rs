//! The flags of a crawl, as clap arguments.
//!
//! Owns: names, help and grouping of the flags, and which configuration key each one sets. Values stay text here:
//! what is allowed is checked with all other layers, so that every fault is reported at once.
//!
//! Invariants: each flag but `--config`, `--profile`, `--json`, `--no-progress`, `--color` and `--auth` sets one key (`-q` and `-v` the
//! same); the default its help names is the one of `default.toml`.
//!
//! Does not know: subcommands, START arguments, the crawl directory.

use std::path::PathBuf;

use clap::{ArgAction, Args, ValueEnum};

use crate::{
    config::{RawSettings, RawValue, SecretText, SecretValue},
    observe::{progress::Style, terminal::Color},
};

const USER_AGENT_HELP: &str = "Product name and contact, {version} standing for the program's version \
    [default: webloom/{version} (+https://webloom.example/bot)]";

/// The flags that set a crawl up.
///
/// ```
/// use clap::Parser;
/// use webloom::{cli::flags::CrawlFlags, config::Layers};
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
/// # Ok::<(), webloom::config::ConfigFaults>(())
/// ```
#[derive(Debug, Clone, Args)]
pub struct CrawlFlags {
    /// TOML file with settings; variables and flags win over it
    #[arg(long, value_name = "FILE", env = "WEBLOOM_CONFIG", help_heading = "Settings")]
    pub config: Option<PathBuf>,
    /// Settings made for a purpose; a file, variables and flags win over them
    #[arg(long, value_name = "focused|revisit", env = "WEBLOOM_PROFILE", help_heading = "Settings")]
    pub profile: Option<String>,
    #[command(flatten)]
    scope: ScopeFlags,
    #[command(flatten)]
    budget: BudgetFlags,
    #[command(flatten)]
    politeness: PolitenessFlags,
    #[command(flatten)]
    cache: CacheFlags,
    #[command(flatten)]
    access: AccessFlags,
    #[command(flatten)]
    change: ChangeFlags,
}

/// When sequences begin.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Schedule")]
pub struct ScheduleFlags {
    /// Time from the start of a sequence to that of the next, such as 6h or 1d [default: none]
    #[arg(long, value_name = "DURATION", conflicts_with = "cron")]
    every: Option<String>,
    /// When sequences begin: minute, hour, day of the month, month and day of the week, such as '0 3 * * *', or @daily
    /// [default: none]
    #[arg(long, value_name = "LINE")]
    cron: Option<String>,
    /// Time zone of --cron and --window, such as Europe/Berlin [default: UTC]
    #[arg(long, value_name = "ZONE")]
    tz: Option<String>,
    /// A part of the week in which sequences may begin, such as 'mon-fri 22:00-06:00'; may be repeated. A start outside waits
    /// until the next one opens; a sequence that runs when one closes goes on [default: none]
    #[arg(long, value_name = "WINDOW")]
    window: Vec<String>,
    /// When a sequence still runs as the next is due: leave that one out, begin it right after, or stop the running one
    /// [default: skip]
    #[arg(long, value_name = "skip|queue|restart")]
    overlap: Option<String>,
    /// Move starts by up to a tenth of the interval, so that many crawls do not begin all at once [default: off]
    #[arg(long, value_name = "on|off")]
    spread: Option<String>,
    /// Visit single pages between the sequences, those most likely to have changed; =off ends that [default: off]
    #[arg(long, value_name = "on|off", num_args = 0..=1, default_missing_value = "on", require_equals = true)]
    adaptive: Option<String>,
    /// How these visits are divided among the pages: each in turn, by an interval that grows and shrinks, or for the greatest
    /// expected freshness [default: optimal]
    #[arg(long, value_name = "fixed|multiplicative|optimal")]
    policy: Option<String>,
    /// How many of them there may be [default: 1000/day]
    #[arg(long, value_name = "N/day|N/hour")]
    budget: Option<String>,
    /// Visit the pages that match so often, whatever --budget allows; may be repeated, the first that matches decides
    /// [default: none]
    #[arg(long, value_name = "REGEX=INTERVAL")]
    section: Vec<String>,
}

/// What is printed during and after a run.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Output")]
pub struct OutputFlags {
    /// Print the summary as one JSON document on stdout, and nothing else there
    #[arg(long)]
    pub json: bool,
    /// Print nothing but the document of --json and, on failure, why
    #[arg(short, long, conflicts_with = "verbose")]
    pub quiet: bool,
    /// Log more: -v debug messages of the crawler, -vv all of them
    #[arg(short, long, action = ArgAction::Count)]
    pub verbose: u8,
    /// Form of log lines, which go to stderr [default: text]
    #[arg(long, value_name = "text|json")]
    log_format: Option<String>,
    /// Do not show the progress of the crawl
    #[arg(long)]
    pub no_progress: bool,
    /// Colour of the summary and of log lines: on a terminal without the variable `NO_COLOR`, always, or never
    #[arg(long, value_enum, value_name = "WHEN", default_value_t = ColorChoice::Auto)]
    pub color: ColorChoice,
}

/// When output has colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ColorChoice {
    /// On a terminal that can show it, unless the variable `NO_COLOR` is set.
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
    /// Area around each start URL: its whole host, or only what lies under its directory [default: host]
    #[arg(long, value_name = "host|prefix")]
    scope: Option<String>,
    /// Only URLs that match this regular expression; may be repeated, one of them must match [default: all]
    #[arg(long, value_name = "REGEX")]
    include: Vec<String>,
    /// No URLs that match this regular expression; may be repeated [default: none]
    #[arg(long, value_name = "REGEX")]
    exclude: Vec<String>,
    /// Treat rel=nofollow links as links, or leave them out [default: follow]
    #[arg(long, value_name = "follow|obey")]
    nofollow: Option<String>,
    /// Fetch what is nearest to a start URL first, what is farthest, or what --priority gives the most weight
    /// [default: breadth]
    #[arg(long, value_name = "breadth|depth|best")]
    order: Option<String>,
    /// With --order best, the weight (0.001 to 1000) of URLs that match; may be repeated, the first that matches decides,
    /// and what matches none has weight 1 [default: none]
    #[arg(long, value_name = "REGEX=WEIGHT")]
    priority: Vec<String>,
}

#[derive(Debug, Clone, Args)]
#[expect(clippy::struct_field_names, reason = "fields are named as their flags are")]
#[command(next_help_heading = "Budgets (what is over them stays queued)")]
struct BudgetFlags {
    /// Pages stored in one sequence; at most twice as many URLs, and ten, are fetched for them [default: unlimited]
    #[arg(long, value_name = "N")]
    max_pages: Option<String>,
    /// Links followed from a start URL; 0 fetches the start URLs alone [default: unlimited]
    #[arg(long, value_name = "N")]
    max_depth: Option<String>,
    /// Time of this run, such as 90s or 1h30m [default: unlimited]
    #[arg(long, value_name = "DURATION")]
    max_time: Option<String>,
    /// Bytes received in one sequence, such as 10MB or 64MiB [default: unlimited]
    #[arg(long, value_name = "SIZE")]
    max_bytes: Option<String>,
}

#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Politeness")]
struct PolitenessFlags {
    /// Pause between the end of a request and the next to the same host; a longer Crawl-delay wins; 0 is for one's own
    /// server [default: 1s]
    #[arg(long, value_name = "DURATION")]
    delay: Option<String>,
    /// Requests in flight to one host [default: 1]
    #[arg(long, value_name = "N")]
    per_host: Option<String>,
    /// Requests in flight in all [default: 64]
    #[arg(long, value_name = "N")]
    concurrency: Option<String>,
    /// Requests a second in all [default: unlimited]
    #[arg(long, value_name = "N")]
    max_rate: Option<String>,
    /// A host (HOST or HOST:PORT) whose robots.txt does not count; may be repeated [default: none]
    #[arg(long, value_name = "HOST")]
    ignore_robots: Vec<String>,
}

#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "URL cache")]
struct CacheFlags {
    /// One filter of a few bytes a URL that may lose some, several of them, or an exact set [default: single]
    #[arg(long, value_name = "exact|single|spatial|temporal|spatio-temporal|multilayer")]
    cache: Option<String>,
    /// How the filter's bits are arranged [default: auto]
    #[arg(long, value_name = "auto|classic|line|fingerprint")]
    cache_layout: Option<String>,
    /// URLs that one sequence may be expected to lose; none: no budget, and the cache keeps the rate that is allowed it, or
    /// 1 % [default: 0.5]
    #[arg(long, value_name = "X|none")]
    max_lost_urls: Option<String>,
    /// URLs the cache is made for at first [default: auto]
    #[arg(long, value_name = "N|auto")]
    expected_urls: Option<String>,
    /// When the loss budget would be overrun: make a larger filter, add to it, forget the oldest, begin anew, end, or go
    /// on [default: rebuild]
    #[arg(long, value_name = "rebuild|grow|rotate|restart|stop|none")]
    reset: Option<String>,
    /// Memory the cache may have [default: unlimited]
    #[arg(long, value_name = "SIZE")]
    max_cache_memory: Option<String>,
    /// What the filter's hash functions start from, 1 to 16 hexadecimal digits; for repeatable experiments
    /// [default: random]
    #[arg(long, value_name = "HEX")]
    hash_seed: Option<SecretText>,
    /// URLs of a sample whose verdicts are checked exactly; 0 checks none [default: 65536]
    #[arg(long, value_name = "N")]
    audit_sample: Option<String>,
    /// Admit a URL at once that the audit finds lost, or only count it [default: on]
    #[arg(long, value_name = "on|off")]
    audit_rescue: Option<String>,
    /// At the end find all lost URLs and fetch them, only name them, or do neither [default: rescue]
    #[arg(long, value_name = "rescue|report|off")]
    sweep: Option<String>,
}

#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Access")]
struct AccessFlags {
    /// Who asks.
    #[arg(long, value_name = "TEXT", help = USER_AGENT_HELP)]
    user_agent: Option<String>,
    /// A header sent to the origins (scheme, host, port) of the start URLs; may be repeated [default: none]
    #[arg(long, value_name = "NAME: VALUE")]
    header: Vec<SecretText>,
    /// User name and password for the origins of the start URLs. They are not kept: give them for each run [default: none]
    #[arg(long, value_name = "USER:PASS", env = "WEBLOOM_AUTH", hide_env_values = true)]
    auth: Option<SecretText>,
    /// A private network, address or name that may be asked; may be repeated [default: none]
    #[arg(long, value_name = "CIDR|NAME[:PORT]")]
    allow_private: Vec<String>,
    /// An address to use instead of asking DNS; may be repeated [default: none]
    #[arg(long, value_name = "NAME:PORT:ADDRESS")]
    resolve: Vec<String>,
}

#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Changes")]
struct ChangeFlags {
    /// Keep the visible text of pages, to tell a changed text from changed bytes; auto: in a crawl that is watched
    /// [default: auto]
    #[arg(long, value_name = "auto|on|off")]
    text: Option<String>,
    /// What is no part of a page's text: elements, what matches within a line, all up to a line with a text, or all from there
    /// on; may be repeated [default: none]
    #[arg(long, value_name = "css:SELECTOR|re:REGEX|before:TEXT|after:TEXT")]
    ignore: Vec<String>,
    /// Report a text that shrank to a quarter after a second look, so long after the first [default: 10m]
    #[arg(long, value_name = "DURATION")]
    confirm: Option<String>,
    /// The same for a page that is not found any more [default: 1d]
    #[arg(long, value_name = "DURATION")]
    gone_after: Option<String>,
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
        self.cache.apply(&mut raw);
        self.access.apply(&mut raw);
        self.change.apply(&mut raw);
        raw
    }
}

impl ScheduleFlags {
    /// The layer of settings that these flags are.
    pub fn overlay(&self) -> RawSettings {
        let mut raw = RawSettings::default();
        raw.schedule.every = text(self.every.as_ref());
        raw.schedule.cron = text(self.cron.as_ref());
        raw.schedule.tz = text(self.tz.as_ref());
        raw.schedule.windows = list(&self.window);
        raw.schedule.overlap = text(self.overlap.as_ref());
        raw.schedule.spread = text(self.spread.as_ref());
        raw.revisit.adaptive = text(self.adaptive.as_ref());
        raw.revisit.policy = text(self.policy.as_ref());
        raw.revisit.budget = text(self.budget.as_ref());
        raw.revisit.sections = list(&self.section);
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

impl ChangeFlags {
    fn apply(&self, raw: &mut RawSettings) {
        raw.change.text = text(self.text.as_ref());
        raw.change.ignore = list(&self.ignore);
        raw.change.confirm = text(self.confirm.as_ref());
        raw.change.gone_after = text(self.gone_after.as_ref());
    }
}

impl AccessFlags {
    fn apply(&self, raw: &mut RawSettings) {
        let headers: Vec<_> = self.header.iter().map(|header| header.reveal().to_owned()).collect();
        raw.fetch.user_agent = text(self.user_agent.as_ref());
        raw.fetch.headers = list(&headers).map(SecretValue::new);
        raw.fetch.allow_private = list(&self.allow_private);
        raw.fetch.resolve = list(&self.resolve);
    }
}

fn text(given: Option<&String>) -> Option<RawValue> {
    given.map(RawValue::text)
}

fn list(given: &[String]) -> Option<RawValue> {
    (!given.is_empty()).then(|| RawValue::List(given.to_vec()))
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
            "max-cache-memory" => "64MiB",
            "reset" => "none",
            "audit-rescue" | "sweep" | "text" => "off",
            "ignore" => "css:.date",
            "log-format" => "json",
            "user-agent" => "test/1 (+http://localhost/)",
            "header" => "X-Team: docs",
            "resolve" => "example.org:80:127.0.0.1",
            "priority" => "/docs/=2",
            "cron" => "@daily",
            "tz" => "Europe/Berlin",
            "window" => "22:00-06:00",
            "overlap" => "queue",
            "spread" | "adaptive" => "on",
            "policy" => "fixed",
            "budget" => "5/hour",
            "section" => "/news/=1h",
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
            let described = Program::layers(&[&*format!("{dashed}={}", example(flag))]).describe().unwrap();
            let set: Vec<_> = described.iter().filter(|key| key.origin != "default").collect();
            assert_eq!(set.len(), 1, "{flag}");
            assert_eq!((set[0].key, &*set[0].origin), (row(flag).key, &*format!("flag {dashed}")));
            assert_ne!(set[0].value, row(flag).default, "{flag}");
        }
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
