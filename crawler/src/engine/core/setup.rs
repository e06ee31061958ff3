//! Builds a core from the settings and from what the crawl directory holds.

use std::{collections::VecDeque, num::NonZeroUsize, sync::Arc, time::Duration};

use urlcache::{Audit, CacheConfig, HashSeed, LossBudget, ResetPolicy, SMALL_START, Strategy};

use super::{
    Admission, Core, KnownRobots, Limits, LinkChecks, NoiseLooks, Outbox, PageFates, Revisits, RunEnd, SeenCache,
    Sources, Starts, Sweep,
    admission::{CacheFailure, Lessons, Origins, Policy},
};
use crate::{
    config::{AssetsChoice, AuditRescue, NofollowChoice, OrderChoice, ScopeKind, Settings, ShareChoice},
    engine::{
        EngineError,
        judge::{LinkRelation, PureHalf},
    },
    frontier::{BackOffPolicy, Frontier, FrontierLimits, HostHealth, HostStart, Order, ShareBy},
    order::Ranking,
    robots::ProductToken,
    scope::{CrawlScope, Reach, ScopeRules, UrlFilter},
    store::{AreaRow, AreaSource, HostState, Resumed},
    time::Moment,
    url::{Origin, UrlError, WebUrl},
};

/// A sequence is expected to admit as many URLs as the one before, and one more in so many.
const MARGIN: u64 = 10;

/// And so many more: how full a small filter is, is a matter of chance.
const FEW: u64 = 10;

/// How long a host that never answered is waited for.
const GIVE_UP_UNKNOWN: Duration = Duration::from_secs(15);

/// What a core is made of.
pub(in crate::engine) struct Setup {
    /// What the crawl directory holds.
    pub(in crate::engine) resumed: Resumed,
    /// The settings of the run.
    pub(in crate::engine) settings: Arc<Settings>,
    /// Which URLs belong to the crawl, beside what the settings say.
    pub(in crate::engine) filter: Option<UrlFilter>,
    /// Whether the text of pages is kept.
    pub(in crate::engine) keeps_texts: bool,
    /// Whether each visit is handed out to somebody.
    pub(in crate::engine) is_followed: bool,
    /// When the process was started: the time of a run counts from there.
    pub(in crate::engine) started: Moment,
    /// The time.
    pub(in crate::engine) now: Moment,
}

impl Setup {
    /// The core of a run.
    ///
    /// # Errors
    /// [`EngineError`] when the URL cache cannot be made, or the crawl directory holds what is no URL.
    pub(in crate::engine) fn core(self, agent: ProductToken) -> Result<Core, EngineError> {
        let Self { mut resumed, settings, filter, keeps_texts, is_followed, started, now } = self;
        let ended = resumed.end.as_deref().and_then(RunEnd::of_word);
        let mut frontier = Frontier::new(frontier_limits(&settings));
        frontier.resume(resumed.counts, now);
        let robots = KnownRobots::new(settings.robots.clone(), agent);
        // There may be very many areas: what was read of them is gone before the cache takes memory.
        let areas = std::mem::take(&mut resumed.areas);
        let scope = scope(&settings, &areas)?.filtered(filter);
        let starts = starts(&resumed, &areas, scope, &settings, now)?;
        drop(areas);
        let hosts = std::mem::take(&mut resumed.hosts);
        frontier.expect_hosts(hosts.len());
        let mut origins = Origins::with_capacity(hosts.len());
        // What lists URLs leads one level on.
        let mut sources = Sources::new(&settings.sources, settings.depth_limit() != Some(0), !is_followed);
        for host in hosts {
            let number = host.id;
            sources.resume(&host);
            let id = frontier.add_host(host_start(host, &settings, &robots, now)?);
            if id != number {
                return Err(EngineError::HostGap(id));
            }
            origins.insert(id, |host| frontier.origin(host));
        }
        let mut cache = seen_cache(&settings, &resumed)?;
        cache.tell_strategy();
        cache.tell_ceiling();
        cache.audit = audit(&settings, &resumed);
        cache.reset_every(settings.cache.reset_every, now);
        let policy = Policy {
            ranking: ranking(&settings),
            audit_rescues: settings.cache.audit_rescue == AuditRescue::On,
            reset: settings.cache.reset,
        };
        let admission = Admission::new(cache, origins, resumed.last_url, policy);
        let mut admission = admission.learning(lessons(&settings, resumed.sequence), resumed.hash_seed);
        if resumed.counters.unjudged() > 0 {
            admission.judges_no_more();
        }
        let revisits = Revisits::new(settings.revisit.audit_not_modified, resumed.hash_seed, resumed.sequence);
        Ok(Core {
            frontier,
            admission,
            robots,
            starts,
            sources,
            sweep: Sweep::new(settings.cache.sweep),
            second_looks: NoiseLooks::new(keeps_texts && settings.change.confirm_share > 0.0, resumed.sequence == 0),
            link_checks: LinkChecks::new(&settings.check, settings.retry.attempts),
            limits: Limits::new(&settings, resumed.section_use, started),
            pages: PageFates::new(&settings, revisits),
            intake: VecDeque::new(),
            outbox: Outbox::new(resumed.counters),
            stopped: None,
            ended,
            between: None,
            settings,
        })
    }
}

/// Whether a sequence can begin with these settings, after one that admitted so many URLs, if there was one.
///
/// # Errors
/// [`CacheFailure`] when its URL cache cannot be made.
pub(in crate::engine) fn cache_check(settings: &Settings, admitted_before: Option<u64>) -> Result<(), CacheFailure> {
    SeenCache::new(cache_config(settings, 0, admitted_before), 0, 0.0, 0).map(drop)
}

/// The starts that an earlier run left without an answer.
fn starts(
    resumed: &Resumed,
    areas: &[AreaRow],
    scope: CrawlScope,
    settings: &Settings,
    now: Moment,
) -> Result<Starts, EngineError> {
    let scope = PureHalf::new(scope, resumed.key_rules.clone(), resumed.fingerprint_seed, relation(settings));
    let scope = scope.without(resumed.removed.clone());
    let mut starts = Starts::new(scope, settings, now);
    for pending in &resumed.pending_starts {
        starts.begin(pending.id, stored(&pending.url, WebUrl::parse)?.origin());
    }
    for area in areas.iter().filter(|area| area.source.is_given()) {
        let url = stored(&area.url, WebUrl::parse)?;
        starts.give(url.origin());
        if area.source == AreaSource::GuessedStart {
            starts.guess(url);
        }
    }
    // That it answers tells that the scheme was no guess.
    if starts.has_guesses() {
        for host in resumed.hosts.iter().filter(|host| host.answered) {
            starts.answered(&stored(&host.origin, WebUrl::parse)?);
        }
    }
    Ok(starts)
}

fn frontier_limits(settings: &Settings) -> FrontierLimits {
    let count = |number: u32| NonZeroUsize::new(number as usize).unwrap_or(NonZeroUsize::MIN);
    let polite = &settings.politeness;
    FrontierLimits {
        heads: count(settings.frontier.heads),
        heads_per_host: count(settings.frontier.heads_per_host),
        per_host: count(polite.per_host.get()),
        share_by: share_by(polite.share_by),
        order: order(settings),
        max_depth: settings.depth_limit(),
        max_pages_per_host: settings.budget.max_pages_per_host,
        back_off: BackOffPolicy {
            first: polite.backoff,
            factor: polite.backoff_factor,
            longest: polite.max_backoff,
            max_retry_after: polite.max_retry_after,
            give_up: polite.give_up,
            give_up_unknown: polite.give_up.min(GIVE_UP_UNKNOWN),
        },
        rows: true,
    }
}

fn share_by(choice: ShareChoice) -> ShareBy {
    let by = |one| choice == one || choice == ShareChoice::Both;
    ShareBy { address: by(ShareChoice::Address), domain: by(ShareChoice::Domain) }
}

fn order(settings: &Settings) -> Order {
    match settings.frontier.order {
        OrderChoice::Breadth => Order::Breadth,
        OrderChoice::Depth => Order::Depth,
        OrderChoice::Best if settings.depth_limit().is_some() => Order::BestOfLevel,
        OrderChoice::Best => Order::Best,
    }
}

/// How the URLs of a run are ranked.
pub(in crate::engine) fn ranking(settings: &Settings) -> Ranking {
    Ranking::new(order(settings), settings.frontier.priority.clone())
}

/// What a run of a sequence learns of URLs that it has admitted. Where levels are finished one by one, none comes before its level.
fn lessons(settings: &Settings, sequence: u32) -> Lessons {
    let dates = sequence > 0 && settings.depth_limit().is_none();
    Lessons { weights: order(settings).is_weighted(), dates }
}

fn relation(settings: &Settings) -> LinkRelation {
    match settings.extract.nofollow {
        NofollowChoice::Follow => LinkRelation::Ignore,
        NofollowChoice::Obey => LinkRelation::Obey,
    }
}

/// What belongs to a crawl with these areas.
pub(in crate::engine) fn scope(settings: &Settings, areas: &[AreaRow]) -> Result<CrawlScope, EngineError> {
    let mut scope = CrawlScope::new(scope_rules(settings)).with_assets(settings.archive.assets == AssetsChoice::Keep);
    for area in areas {
        for url in settings.key.rules.reached_with(&stored(&area.url, WebUrl::parse)?) {
            scope.widen(&url);
        }
    }
    Ok(scope)
}

fn scope_rules(settings: &Settings) -> ScopeRules {
    let reach = match settings.scope.kind {
        ScopeKind::Host => Reach::Host,
        ScopeKind::Domain => Reach::Domain,
        ScopeKind::Prefix => Reach::Prefix,
        ScopeKind::Any => Reach::Any,
    };
    let (include, exclude) = (settings.scope.include.clone(), settings.scope.exclude.clone());
    ScopeRules { reach, include, exclude, max_url_length: settings.scope.max_url_length as usize }
}

fn seen_cache(settings: &Settings, resumed: &Resumed) -> Result<SeenCache, CacheFailure> {
    let seed = settings.cache.hash_seed.map_or(resumed.hash_seed, crate::config::HashSeed::value);
    let config = CacheConfig { sequence: resumed.sequence, ..cache_config(settings, seed, resumed.admitted_before) };
    let counters = &resumed.counters;
    SeenCache::new(config, counters.generations, counters.expected_lost, resumed.counts.admitted)
}

/// The cache of a first sequence, or of one after another that admitted so many URLs.
fn cache_config(settings: &Settings, seed: u64, admitted_before: Option<u64>) -> CacheConfig {
    let chosen = &settings.cache;
    let given = chosen.expected_urls.map(std::num::NonZeroU64::get);
    let as_before = admitted_before.map(|urls| urls + urls / MARGIN + FEW);
    // A smaller cache would save next to no memory, and lose more.
    let expected_urls = match chosen.reset {
        // It grows by itself, and loses nothing.
        _ if chosen.strategy == Strategy::Exact => given,
        // Else it would be as full as before.
        ResetPolicy::Restart => as_before.map(|urls| urls.max(given.unwrap_or(SMALL_START))).or(given),
        _ => given.or(as_before.filter(|urls| *urls > SMALL_START)),
    };
    CacheConfig {
        layout: chosen.layout,
        reset: chosen.reset,
        budget: LossBudget {
            max_lost_urls: chosen.max_lost_urls,
            max_false_positive_rate: chosen.max_false_positive_rate,
        },
        expected_urls,
        hashing: chosen.hashing,
        filters: chosen.filters,
        layers: chosen.layers,
        max_memory: chosen.max_memory,
        ..CacheConfig::new(chosen.strategy, HashSeed::new(seed))
    }
}

/// The audit, empty. Its sample has a secret of the sequence's own, whatever the filters start from; it is never larger
/// than in an earlier run of the sequence.
fn audit(settings: &Settings, resumed: &Resumed) -> Option<Audit> {
    let sample = settings.cache.audit_sample;
    let most = resumed.audit_sample.map_or(sample, |before| before.min(sample));
    let most = NonZeroUsize::new(usize::try_from(most).unwrap_or(usize::MAX))?;
    Some(Audit::new(most, HashSeed::new(resumed.hash_seed).derive(u32::MAX, resumed.sequence)))
}

/// A host from the crawl directory: after a start it is not asked before its delay has passed.
fn host_start(
    host: HostState,
    settings: &Settings,
    robots: &KnownRobots,
    now: Moment,
) -> Result<HostStart, EngineError> {
    let asked_for = Duration::from_millis(host.crawl_delay.unwrap_or(0)).min(settings.politeness.max_delay);
    let delay = settings.politeness.delay.max(asked_for);
    let text = Arc::clone(&host.origin);
    let origin = stored(&host.origin, |_| Origin::shared(text))?;
    let robots_until = robots.stored_until(&origin, host.robots_fetched, now);
    let health = HostHealth {
        answers: host.answered,
        stored: host.health.map(|row| *row),
        known_good: host.known_good,
        needs_robots: robots_until <= now,
    };
    Ok(HostStart {
        ready_at: if host.asked { now + delay } else { Moment::EPOCH },
        delay,
        health,
        robots_until,
        origin,
        plain: host.plain,
        waiting: host.waiting,
        tried: host.tried,
        held: host.held,
        next_due: host.next_due,
        stored: host.stored,
        fetched: host.fetched,
        by_depth: host.by_depth,
    })
}

fn stored<T>(text: &str, parse: impl FnOnce(&str) -> Result<T, UrlError>) -> Result<T, EngineError> {
    parse(text).map_err(|source| EngineError::Stored { text: text.to_owned(), source })
}

#[cfg(test)]
mod tests {
    use urlcache::{BudgetedCache, UrlKey};

    use super::*;
    use crate::config::Layers;

    /// How many URLs a cache takes before it is full.
    fn room(config: CacheConfig) -> u64 {
        let seed = config.hash_seed;
        let mut cache = BudgetedCache::new(config).unwrap();
        let full = (0..u64::MAX).find(|number| {
            cache.judge(&[UrlKey::new(&number.to_le_bytes(), seed)], &mut Vec::new());
            !cache.has_room(1)
        });
        full.unwrap() + 1
    }

    #[test]
    fn a_sequence_that_begins_because_a_small_cache_was_full_has_room_for_more() {
        let text = "[cache]\nstrategy = \"single\"\nexpected_urls = 20\nreset = \"restart\"\n";
        let settings = Layers::new().file_text("test", text).resolve().unwrap().settings;
        for seed in 0..50 {
            let first = room(cache_config(&settings, seed, None));
            let next = room(cache_config(&settings, seed + 50, Some(first)));
            assert!(next > first, "{next} after {first} with seed {seed}");
        }
    }
}
