//! The answer as one JSON document.

use serde_json::{Value, json};

use super::{
    super::listing::{time, without_login},
    answer::{KeyState, RobotsOpinion, UrlAnswer},
};
use crate::{
    candidate::Hop,
    extract::PageHead,
    store::{HostFacts, LinkEnd, PageLine, Proposer, UrlRecord},
    url::{KeyRule, WebUrl},
};

/// Everything that is known, with `null` for what is not.
pub(super) fn of(answer: &UrlAnswer) -> Value {
    let UrlAnswer { url, facts, .. } = answer;
    let record = facts.record.as_ref();
    let line = record.map(|record| &record.line);
    let of_line = |text: fn(&PageLine) -> Option<&String>| line.and_then(text).map(|text| without_login(text));
    let PageHead { title, canonical, .. } = line.map(|line| line.head.clone()).unwrap_or_default();
    json!({
        "url": url.as_str(),
        "key": facts.key.as_str(),
        "rules": facts.rules.iter().map(KeyRule::as_str).collect::<Vec<_>>(),
        "state": answer.state.as_str(),
        "reason": answer.reason,
        "merged": answer.merged.as_ref().map(WebUrl::as_str),
        "outcome": outcome(answer),
        "status": line.and_then(|line| line.status),
        "redirect": of_line(|line| line.redirect.as_ref()),
        "canonical": canonical.as_deref().map(without_login),
        "title": title,
        "depth": line.and_then(|line| line.depth),
        "hop": line.and_then(|line| line.hop).map(Hop::as_str),
        "via": of_line(|line| line.via.as_ref()),
        "sequence": line.map(|line| line.sequence).or(facts.lost.as_ref().map(|lost| lost.sequence)),
        "last_sequence": facts.last.number,
        "fetched_at": line.and_then(|line| line.fetched_at).map(time),
        "attempts": record.map(|record| record.attempts),
        "due": record.and_then(due),
        "proposed_by": facts.proposers.list.iter().map(proposer).collect::<Vec<_>>(),
        "proposed_by_count": facts.proposers.count,
        "link_check": facts.link_check.as_ref().map(link_check),
        "robots": answer.robots.as_ref().map(robots),
        "host": facts.host.as_ref().map(host),
    })
}

fn link_check(end: &LinkEnd) -> Value {
    let redirect = end.redirect.as_ref().map(|found| without_login(&found.url));
    json!({ "outcome": end.outcome, "status": end.status, "reason": end.reason, "redirect": redirect })
}

/// What came of it, in the words of the listings.
fn outcome(answer: &UrlAnswer) -> Option<&'static str> {
    match (&answer.facts.record, answer.state) {
        (Some(record), _) => Some(record.line.outcome.as_str()),
        (None, KeyState::Unknown) => None,
        (None, state) => Some(state.as_str()),
    }
}

fn due(record: &UrlRecord) -> Option<String> {
    record.due.map(|due| time(due.millis()))
}

fn proposer(proposer: &Proposer) -> Value {
    json!({ "via": proposer.via.as_deref().map(without_login), "hop": proposer.hop.as_str() })
}

fn robots(opinion: &RobotsOpinion) -> Value {
    json!({ "allowed": opinion.is_allowed, "rule": opinion.rule })
}

fn host(host: &HostFacts) -> Value {
    let health = host.health.as_ref();
    json!({
        "origin": host.origin,
        "healthy": health.is_none(),
        "cause": health.map(|health| health.cause.to_string()),
        "since": health.map(|health| time(health.since.millis())),
        "not_before": health.map(|health| time(health.not_before.millis())),
        "waiting": host.waiting,
    })
}
