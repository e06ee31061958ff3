//! [`RawSettings`]: the keys of the configuration, every one optional, nothing checked.
//!
//! The structs are the schema: names of keys, variables and rows of the reference are made from them. Units, defaults
//! and consequences are in `config/default.toml`; what is allowed is in `settings`.

use std::{collections::BTreeMap, sync::LazyLock};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{RawValue, SecretValue};

/// Values by their key (`budget.max_pages`).
pub(super) type Flat = BTreeMap<String, RawValue>;

/// One layer of settings: what it does not mention is `None`.
///
/// ```
/// use webloom::internals::config::{RawSettings, RawValue};
/// let mut raw = RawSettings::default();
/// raw.budget.max_pages = Some(RawValue::Integer(10));
/// assert_eq!(RawSettings::from_json(&raw.to_json())?, raw);
/// # Ok::<(), webloom::internals::config::ConfigFaults>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RawSettings {
    /// What belongs to the crawl.
    pub scope: RawScope,
    /// Which URLs are one page.
    pub key: RawKey,
    /// What stops a crawl.
    pub budget: RawBudget,
    /// How hard a server may be asked.
    pub politeness: RawPoliteness,
    /// robots.txt.
    pub robots: RawRobots,
    /// One request and its answer.
    pub fetch: RawFetch,
    /// A fetch that failed and may succeed later.
    pub retry: RawRetry,
    /// What is read from pages.
    pub extract: RawExtract,
    /// Where URLs come from, beside links.
    pub sources: RawSources,
    /// Links that lead to what is no page of the crawl.
    pub check: RawCheck,
    /// The URL cache.
    pub cache: RawCache,
    /// What is fetched next.
    pub frontier: RawFrontier,
    /// Pages that are asked for once more.
    pub revisit: RawRevisit,
    /// What counts as a change.
    pub change: RawChange,
    /// When the next sequence begins.
    pub schedule: RawSchedule,
    /// The database.
    pub store: RawStore,
    /// What is kept of answers.
    pub archive: RawArchive,
    /// The full-text index.
    pub search: RawSearch,
    /// What a crawl may take of this machine.
    pub machine: RawMachine,
    /// What the program says about its work; for one run, never stored.
    pub log: RawLog,
}

/// `[scope]`: what belongs to the crawl.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RawScope {
    /// `host` or `prefix`.
    pub kind: Option<RawValue>,
    /// Patterns of which a URL must match one.
    pub include: Option<RawValue>,
    /// Patterns that a URL must not match.
    pub exclude: Option<RawValue>,
    /// Longest URL in bytes.
    pub max_url_length: Option<RawValue>,
    /// Patterns with the limits of the URLs that match.
    pub sections: Option<RawValue>,
}

/// `[key]`: which URLs are one page.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RawKey {
    /// Rules by which URLs get one key.
    pub rules: Option<RawValue>,
    /// Parameters that are left out.
    pub strip_query: Option<RawValue>,
    /// Those of trackers.
    pub tracking: Option<RawValue>,
    /// Those of sessions.
    pub session_names: Option<RawValue>,
    /// Names of index pages.
    pub index_pages: Option<RawValue>,
    /// Expressions that are replaced.
    pub rewrite: Option<RawValue>,
}

/// `[budget]`: what stops a crawl.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RawBudget {
    /// Pages a sequence.
    pub max_pages: Option<RawValue>,
    /// Bytes received a sequence.
    pub max_bytes: Option<RawValue>,
    /// Time of a run.
    pub max_time: Option<RawValue>,
    /// Links from a start.
    pub max_depth: Option<RawValue>,
    /// Pages of one host a sequence.
    pub max_pages_per_host: Option<RawValue>,
}

/// `[politeness]`: how hard a server may be asked.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RawPoliteness {
    /// Pause between requests to a host.
    pub delay: Option<RawValue>,
    /// Longest pause a host may impose.
    pub max_delay: Option<RawValue>,
    /// Longest pause by `Retry-After` that is waited for.
    pub max_retry_after: Option<RawValue>,
    /// Pause after a host's first failure.
    pub backoff: Option<RawValue>,
    /// How much longer each further pause is.
    pub backoff_factor: Option<RawValue>,
    /// Longest of these pauses.
    pub max_backoff: Option<RawValue>,
    /// How long silent hosts are waited for.
    pub give_up: Option<RawValue>,
    /// Requests in flight to one host.
    pub per_host: Option<RawValue>,
    /// What hosts share these with.
    pub share_by: Option<RawValue>,
    /// Requests in flight in all.
    pub concurrency: Option<RawValue>,
    /// Requests a second in all.
    pub max_rate: Option<RawValue>,
    /// Bytes a second in all.
    pub max_bandwidth: Option<RawValue>,
    /// When requests are made.
    pub hours: Option<RawValue>,
}

/// `[robots]`: robots.txt.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RawRobots {
    /// Hosts whose rules do not count.
    pub ignore: Option<RawValue>,
    /// When it is asked for again.
    pub max_age: Option<RawValue>,
}

/// `[fetch]`: one request and its answer.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RawFetch {
    /// Product name and contact.
    pub user_agent: Option<RawValue>,
    /// Headers sent to the origins of the start URLs.
    pub headers: Option<SecretValue>,
    /// User names and passwords, by origin.
    pub credentials: Option<SecretValue>,
    /// `off`, `on` or a file.
    pub cookies: Option<RawValue>,
    /// Languages of pages.
    pub accept_language: Option<RawValue>,
    /// `env`, `none` or a URL.
    pub proxy: Option<SecretValue>,
    /// Hosts whose certificates are not checked.
    pub insecure_hosts: Option<RawValue>,
    /// Time to connect.
    pub connect_timeout: Option<RawValue>,
    /// Time to the first byte.
    pub first_byte_timeout: Option<RawValue>,
    /// Time for the whole request.
    pub total_timeout: Option<RawValue>,
    /// Longest body after decompression.
    pub max_body: Option<RawValue>,
    /// Bytes a second that a body must come with.
    pub min_rate: Option<RawValue>,
    /// Largest growth in decompression.
    pub max_expansion: Option<RawValue>,
    /// Media types whose bodies are read.
    pub types: Option<RawValue>,
    /// Redirects in a row.
    pub max_redirects: Option<RawValue>,
    /// Private addresses that may be asked.
    pub allow_private: Option<RawValue>,
    /// Who looks names up.
    pub resolver: Option<RawValue>,
    /// Addresses used instead of DNS.
    pub resolve: Option<RawValue>,
}

/// `[retry]`: a fetch that failed and may succeed later.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RawRetry {
    /// Failures by its own fault.
    pub attempts: Option<RawValue>,
    /// Pause before the second.
    pub backoff: Option<RawValue>,
    /// Longest pause.
    pub max_backoff: Option<RawValue>,
}

/// `[extract]`: what is read from pages.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RawExtract {
    /// Links of a page that are kept.
    pub max_links: Option<RawValue>,
    /// `follow` or `obey`.
    pub nofollow: Option<RawValue>,
    /// What is taken out of pages.
    pub fields: Option<RawValue>,
    /// Data for machines that is taken out of pages.
    pub structured: Option<RawValue>,
    /// A file for items.
    pub items: Option<RawValue>,
}

/// `[sources]`: where URLs come from, beside links.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RawSources {
    /// Whether forms that are sent with GET are links.
    pub forms: Option<RawValue>,
    /// `record` or `follow`.
    pub canonical: Option<RawValue>,
    /// Whether sitemaps are looked for and read.
    pub sitemaps: Option<RawValue>,
    /// Whether feeds are read.
    pub feeds: Option<RawValue>,
    /// Sitemaps beside those that hosts name.
    pub sitemap: Option<RawValue>,
}

/// `[check]`: links that lead to what is no page of the crawl.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RawCheck {
    /// Whether links that leave the scope are checked.
    pub external: Option<RawValue>,
    /// Whether what pages show and load is.
    pub assets: Option<RawValue>,
    /// Whether the names are that links lead to.
    pub anchors: Option<RawValue>,
    /// URLs of one host that are checked.
    pub max_per_host: Option<RawValue>,
    /// The least pause between requests to a host of no page.
    pub delay: Option<RawValue>,
}

/// `[cache]`: the URL cache.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RawCache {
    /// One of the strategies.
    pub strategy: Option<RawValue>,
    /// One of the layouts.
    pub layout: Option<RawValue>,
    /// Where positions come from.
    pub hashing: Option<RawValue>,
    /// Filters that must all agree.
    pub filters: Option<RawValue>,
    /// Layers of path segments.
    pub layers: Option<RawValue>,
    /// URLs a sequence may be expected to lose.
    pub max_lost_urls: Option<RawValue>,
    /// Ceiling on the false-positive rate.
    pub max_false_positive_rate: Option<RawValue>,
    /// URLs it is made for at first.
    pub expected_urls: Option<RawValue>,
    /// One of the reset policies.
    pub reset: Option<RawValue>,
    /// Age at which it is reset.
    pub reset_every: Option<RawValue>,
    /// Memory it may have.
    pub max_memory: Option<RawValue>,
    /// Start of the filter's hash functions.
    pub hash_seed: Option<SecretValue>,
    /// URLs for which the answers of the cache are checked exactly.
    pub audit_sample: Option<RawValue>,
    /// `on` or `off`.
    pub audit_rescue: Option<RawValue>,
    /// `rescue`, `report` or `off`.
    pub sweep: Option<RawValue>,
}

/// `[frontier]`: what is fetched next.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RawFrontier {
    /// `breadth`, `depth` or `best`.
    pub order: Option<RawValue>,
    /// Patterns with the weights of the URLs that match.
    pub priority: Option<RawValue>,
    /// Queued URLs of a host in memory.
    pub heads_per_host: Option<RawValue>,
    /// The same of all hosts.
    pub heads: Option<RawValue>,
}

/// `[schedule]`: when the next sequence begins.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RawSchedule {
    /// Time from one start to the next.
    pub every: Option<RawValue>,
    /// A cron line.
    pub cron: Option<RawValue>,
    /// Its time zone.
    pub tz: Option<RawValue>,
    /// Parts of the week in which sequences may begin.
    pub windows: Option<RawValue>,
    /// `skip`, `queue` or `restart`.
    pub overlap: Option<RawValue>,
    /// `on` or `off`.
    pub spread: Option<RawValue>,
    /// A single time.
    pub also_at: Option<RawValue>,
    /// `on` or `off`.
    pub pause: Option<RawValue>,
    /// A URL that is asked for after each sequence.
    pub heartbeat: Option<SecretValue>,
}

/// `[revisit]`: pages that are asked for once more.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RawRevisit {
    /// Share of the answers "not modified" that are checked.
    pub audit_not_modified: Option<RawValue>,
    /// `on` or `off`.
    pub adaptive: Option<RawValue>,
    /// `fixed`, `multiplicative` or `optimal`.
    pub policy: Option<RawValue>,
    /// Visits in a time.
    pub budget: Option<RawValue>,
    /// The shortest time between two visits of a page.
    pub min_interval: Option<RawValue>,
    /// The longest.
    pub max_interval: Option<RawValue>,
    /// Share of the visits for the pages longest unvisited.
    pub explore: Option<RawValue>,
    /// Patterns with the intervals of the pages that match.
    pub sections: Option<RawValue>,
}

/// `[change]`: what counts as a change.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RawChange {
    /// Whether the text of pages is kept.
    pub text: Option<RawValue>,
    /// Texts of a page that are kept.
    pub texts: Option<RawValue>,
    /// What images say in the text: `off`, `alt` or `source`.
    pub images: Option<RawValue>,
    /// Rules for what is no part of a page's text.
    pub ignore: Option<RawValue>,
    /// Time to the second look at a page that lost most of its text.
    pub confirm: Option<RawValue>,
    /// The same at one that is not there any more.
    pub gone_after: Option<RawValue>,
    /// Share of the pages of a section that may change at once.
    pub mass_share: Option<RawValue>,
    /// Share of the requests that second looks may add.
    pub confirm_share: Option<RawValue>,
    /// Pages with the same edit that make it a site-wide one.
    pub site_wide_pages: Option<RawValue>,
}

/// `[store]`: the database.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RawStore {
    /// Time between commits.
    pub commit_every: Option<RawValue>,
    /// Visits between commits.
    pub commit_visits: Option<RawValue>,
    /// Time between copies of the log into the database file.
    pub checkpoint_every: Option<RawValue>,
    /// Sequences that are kept whole.
    pub keep_sequences: Option<RawValue>,
    /// How much history is kept.
    pub keep: Option<RawValue>,
    /// `fingerprints` or `full`.
    pub links: Option<RawValue>,
}

/// `[search]`: the full-text index.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RawSearch {
    /// `auto`, `on` or `off`.
    pub index: Option<RawValue>,
}

/// `[archive]`: what is kept of answers.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RawArchive {
    /// `none`, `warc` or `self-contained`.
    pub format: Option<RawValue>,
    /// Media types.
    pub types: Option<RawValue>,
    /// Bytes after which a file is full.
    pub file_size: Option<RawValue>,
    /// `gzip` or `zstd`.
    pub compression: Option<RawValue>,
    /// `off` or `keep`.
    pub assets: Option<RawValue>,
}

/// `[machine]`: what a crawl may take of this machine.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RawMachine {
    /// Memory of the whole process.
    pub max_memory: Option<RawValue>,
    /// What is left free on the disk of the crawl directory.
    pub min_free_disk: Option<RawValue>,
}

/// `[log]`: what the program says about its work; for one run, never stored.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RawLog {
    /// Levels, in all and by module.
    pub level: Option<RawValue>,
    /// `text` or `json`.
    pub format: Option<RawValue>,
}

impl RawSettings {
    /// Every key there is (`budget.max_pages`), in alphabetical order.
    pub fn keys() -> &'static [String] {
        static KEYS: LazyLock<Vec<String>> = LazyLock::new(|| {
            let mut keys: Vec<_> = fields(&RawSettings::default()).map(|(key, _)| key).collect();
            keys.sort_unstable();
            keys
        });
        &KEYS
    }

    /// The values there are.
    pub(super) fn to_flat(&self) -> Flat {
        let given = fields(self).filter(|(_, value)| !value.is_null());
        given.map(|(key, value)| (key, read(value).expect("a raw value is one"))).collect()
    }

    /// Settings with these values.
    pub(super) fn from_flat(values: Flat) -> Self {
        let mut tables = serde_json::Map::new();
        for (name, value) in values {
            let (table, key) = name.split_once('.').expect("a key has a table");
            tables.entry(table).or_insert_with(|| Value::Object(serde_json::Map::new()))[key] =
                serde_json::to_value(value).expect("a raw value has only texts and numbers");
        }
        serde_json::from_value(Value::Object(tables)).expect("flat values have known keys")
    }
}

/// Reads a value of a document; `None` for what no key takes (a table, a truth value, a date).
pub(super) fn read(value: Value) -> Option<RawValue> {
    serde_json::from_value(value).ok()
}

/// Every key with its value, null where there is none.
fn fields(settings: &RawSettings) -> impl Iterator<Item = (String, Value)> + use<> {
    let Ok(Value::Object(tables)) = serde_json::to_value(settings) else { unreachable!("a struct is an object") };
    tables.into_iter().flat_map(|(table, keys)| {
        let Value::Object(keys) = keys else { unreachable!("a struct is an object") };
        keys.into_iter().map(move |(key, value)| (format!("{table}.{key}"), value))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flat_and_back() {
        let mut raw = RawSettings::default();
        raw.cache.hash_seed = Some(SecretValue::new(RawValue::text("c0ffee")));
        raw.cache.max_lost_urls = Some(RawValue::Number(0.25));
        raw.scope.include = Some(RawValue::List(vec!["a".into()]));
        assert_eq!(raw.to_flat().len(), 3);
        assert_eq!(RawSettings::from_flat(raw.to_flat()), raw);
        assert!(!format!("{raw:?}").contains("c0ffee"));
    }

    #[test]
    fn serde_refuses_unknown_keys() {
        for text in [r#"{"budget":{"pages":1}}"#, r#"{"colour":{}}"#] {
            serde_json::from_str::<RawSettings>(text).unwrap_err();
        }
    }
}
