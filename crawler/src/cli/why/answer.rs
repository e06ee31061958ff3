//! [`UrlAnswer`]: what is known of a URL, and what follows from that and the settings of the crawl.
//!
//! Does not know: how it is shown.

use super::super::CommandFailure;
use crate::{
    config::Settings,
    engine,
    queue::BEYOND_LIMIT,
    robots::{ProductToken, Robots},
    scope::Refusal,
    store::{AreaRow, HostFacts, PageOutcome, UrlFacts, UrlRecord},
    url::{Origin, WebUrl},
};

/// The reason of a queued URL that is too deep.
pub(super) const MAX_DEPTH: &str = "max_depth";

/// The reason of a queued URL whose host does not answer.
pub(super) const HOST: &str = "host";

/// The reason of a lost URL that no sweep has found yet.
pub(super) const NOT_SWEPT: &str = "not_swept";

/// The reason of a URL that pages lead to, and to which a crawl has not come that runs or was killed.
pub(super) const NOT_ADMITTED: &str = "not_admitted";

/// The reason of links that are not to be followed.
const NOFOLLOW: &str = "nofollow";

/// What a key is to a crawl.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum KeyState {
    /// It waits, or is being fetched.
    Queued,
    /// It has its answer.
    Finished,
    /// It was given up before it was fetched.
    Abandoned,
    /// It is left out.
    Refused,
    /// The URL cache refused it by mistake.
    Lost,
    /// Nothing is known of it, and it would be taken in.
    Unknown,
}

/// What a host's robots.txt says of a URL.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct RobotsOpinion {
    pub(super) is_allowed: bool,
    /// The line that decides.
    pub(super) rule: Option<String>,
    /// Whether the settings have it not count.
    pub(super) is_ignored: bool,
}

/// The answer to why a URL is in a crawl, or is not.
#[derive(Debug)]
pub(super) struct UrlAnswer {
    pub(super) url: WebUrl,
    pub(super) facts: UrlFacts,
    pub(super) settings: Settings,
    pub(super) state: KeyState,
    pub(super) reason: Option<String>,
    pub(super) robots: Option<RobotsOpinion>,
    /// What is fetched for its key, where that is another URL.
    pub(super) merged: Option<WebUrl>,
    /// Whether a start has the same registrable domain, where it is out of the scope.
    pub(super) is_of_domain: bool,
}

impl KeyState {
    /// Its word in output.
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Queued => "queued",
            Self::Finished => "finished",
            Self::Abandoned => "abandoned",
            Self::Refused => "refused",
            Self::Lost => "lost",
            Self::Unknown => "unknown",
        }
    }
}

impl UrlAnswer {
    /// Judges what is known. What is in the scope by itself is asked for only where the scope matters.
    pub(super) fn of(
        url: WebUrl,
        facts: UrlFacts,
        settings: Settings,
        areas: impl FnOnce() -> Result<Vec<AreaRow>, CommandFailure>,
    ) -> Result<Self, CommandFailure> {
        let areas = if facts.record.is_none() { areas()? } else { Vec::new() };
        let (state, reason) = match &facts.record {
            Some(record) => of_record(record, &facts, &settings),
            None if facts.is_removed => (KeyState::Refused, Some(Refusal::Removed.as_str().to_owned())),
            None => match engine::scope(&settings, &areas)?.judge(&url) {
                Err(refusal) => (KeyState::Refused, Some(refusal.as_str().to_owned())),
                Ok(()) => without_record(&facts),
            },
        };
        let fetched = facts.record.as_ref().and_then(|record| WebUrl::parse(record.line.url.as_deref()?).ok());
        let merged = fetched.map(WebUrl::without_credentials).filter(|fetched| *fetched != url);
        let robots = facts.host.as_ref().and_then(|host| opinion(host, merged.as_ref().unwrap_or(&url), &settings));
        let is_of_domain = is_of_domain(&url, &areas);
        Ok(Self { url, facts, settings, state, reason, robots, merged, is_of_domain })
    }

    /// Why it is refused by the scope.
    pub(super) fn refusal(&self) -> Option<Refusal> {
        let all =
            [Refusal::Scope, Refusal::Exclude, Refusal::Include, Refusal::TooLong, Refusal::Filter, Refusal::Removed];
        all.into_iter().find(|refusal| self.reason.as_deref() == Some(refusal.as_str()))
    }
}

fn of_record(record: &UrlRecord, facts: &UrlFacts, settings: &Settings) -> (KeyState, Option<String>) {
    let line = &record.line;
    if record.is_queued {
        let reason = line.reason.clone().filter(|_| line.outcome == PageOutcome::Queued);
        // A limit of sections holds back what is beyond that of the crawl as well.
        let reason = reason.filter(|reason| reason != BEYOND_LIMIT || !is_too_deep(record, settings));
        return (KeyState::Queued, reason.or_else(|| waits_for(record, facts, settings)));
    }
    let is_abandoned = line.outcome == PageOutcome::Abandoned;
    (if is_abandoned { KeyState::Abandoned } else { KeyState::Finished }, line.reason.clone())
}

/// Why a URL waits that has not failed: the word of the way in which the last sequence ended, where nothing else keeps it.
fn waits_for(record: &UrlRecord, facts: &UrlFacts, settings: &Settings) -> Option<String> {
    if is_too_deep(record, settings) {
        return Some(MAX_DEPTH.to_owned());
    }
    if facts.host.as_ref().is_some_and(|host| host.health.is_some()) {
        return Some(HOST.to_owned());
    }
    facts.last.end.clone()
}

fn is_too_deep(record: &UrlRecord, settings: &Settings) -> bool {
    let url = record.line.url.as_deref().unwrap_or_default();
    let most = settings.scope.sections.depth_of(url, settings.budget.max_depth);
    record.line.depth.zip(most).is_some_and(|(depth, most)| depth > most)
}

/// What is in the scope and has no row.
fn without_record(facts: &UrlFacts) -> (KeyState, Option<String>) {
    let proposers = &facts.proposers;
    if let Some(lost) = &facts.lost {
        return (KeyState::Lost, Some(lost.state.clone()));
    }
    if proposers.is_taken {
        // While it runs, a page is read before its last links are admitted.
        return match facts.last.end {
            Some(_) => (KeyState::Lost, Some(NOT_SWEPT.to_owned())),
            None => (KeyState::Unknown, Some(NOT_ADMITTED.to_owned())),
        };
    }
    // Other reasons are those of a scope that was narrower.
    let lasting = [NOFOLLOW, Refusal::Filter.as_str()];
    match &proposers.refused {
        Some(reason) if lasting.contains(&reason.as_str()) => (KeyState::Refused, Some(reason.clone())),
        _ => (KeyState::Unknown, None),
    }
}

/// What the host's robots.txt says, as it was read last; `None` where it could not be.
fn opinion(host: &HostFacts, url: &WebUrl, settings: &Settings) -> Option<RobotsOpinion> {
    let origin = Origin::parse(&host.origin).ok()?;
    if settings.robots.ignores(&origin) {
        return Some(RobotsOpinion { is_allowed: true, rule: None, is_ignored: true });
    }
    let agent = ProductToken::new(settings.fetch.user_agent.product()).ok()?;
    let answer = host.robots.as_ref().filter(|answer| answer.first_failed.is_none())?;
    let rules = answer.body.as_ref().map_or_else(Robots::allow_all, |body| Robots::parse(body, &agent));
    let decision = rules.decide(url.path_and_query());
    let rule = decision.rule.map(str::to_owned);
    Some(RobotsOpinion { is_allowed: decision.allowed, rule, is_ignored: false })
}

fn is_of_domain(url: &WebUrl, areas: &[AreaRow]) -> bool {
    let Some(domain) = url.registrable_domain() else { return false };
    let is_same = |area: &AreaRow| WebUrl::parse(&area.url).is_ok_and(|area| area.registrable_domain() == Some(domain));
    areas.iter().any(is_same)
}
