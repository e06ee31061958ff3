//! The answer in sentences, and what to do next.
//!
//! Does not know: what may be shown on a terminal; the caller escapes each line.

use std::{borrow::Cow, path::Path};

use super::{
    super::listing::{seconds, without_login},
    answer::{HOST, KeyState, MAX_DEPTH, NOT_ADMITTED, NOT_SWEPT, UrlAnswer},
};
use crate::{
    candidate::Hop,
    health::{FailureCause, HealthRow},
    observe::figures::{count, counted},
    queue::BEYOND_LIMIT,
    scope::Refusal,
    sections::UrlSection,
    store::{Abandonment, LostState, PageLine, PageOutcome, Proposer, UrlRecord},
    url::KeyRule,
};

/// What leads to a URL is named up to so many; `links --to` has all.
const NAMED: usize = 5;

/// A line for each thing that there is to say.
pub(super) fn of(answer: &UrlAnswer, dir: &Path) -> Vec<String> {
    let parts = [
        Some(what_is_so(answer)),
        link_check(answer),
        merged(answer),
        earlier(answer),
        proposed(answer),
        canonical(answer),
        robots(answer),
        host(answer),
        next(answer, dir),
    ];
    parts.into_iter().flatten().collect()
}

fn what_is_so(answer: &UrlAnswer) -> String {
    let url = answer.url.as_str();
    let record = answer.facts.record.as_ref();
    match (answer.state, record) {
        (KeyState::Queued, Some(record)) => format!("{url} waits in the queue: {}.", waits(answer, record)),
        (KeyState::Finished, Some(record)) => format!("{url} is in the crawl: {}.", finished(&record.line)),
        (KeyState::Abandoned, _) => format!("{url} was given up before it was fetched: {}.", abandoned(answer)),
        (KeyState::Refused, _) => format!("{url} is not in the crawl: {}.", refused(answer)),
        (KeyState::Lost, _) => format!("{url} is not in the crawl: {}.", lost(answer)),
        _ => format!("{url} is not in the crawl: {}.", unknown(answer)),
    }
}

/// What came of it as a link that was checked.
fn link_check(answer: &UrlAnswer) -> Option<String> {
    let end = answer.facts.link_check.as_ref()?;
    let status = end.status.map(|status| format!(" with status {status}")).unwrap_or_default();
    let reason = end.reason.as_ref().map(|reason| format!(" ({reason})")).unwrap_or_default();
    let what = match (end.outcome.as_deref(), &end.redirect) {
        (_, Some(found)) => format!("the server redirects{status} to {}", without_login(&found.url)),
        (Some("failed"), _) => format!("the server gave no answer{reason}"),
        (Some("abandoned"), _) => format!("it was not asked for{reason}"),
        _ => format!("the server answered{status}{reason}"),
    };
    Some(format!("Links to it were checked: {what}."))
}

fn finished(line: &PageLine) -> String {
    let status = line.status.map(|status| format!(" with status {status}")).unwrap_or_default();
    let reason = line.reason.as_ref().map(|reason| format!(" ({reason})")).unwrap_or_default();
    let what = match (line.outcome, line.redirect.as_deref()) {
        (PageOutcome::Redirected, Some(to)) => format!("the server redirects{status} to {}", without_login(to)),
        (PageOutcome::Stored, _) => format!("the server answered{status}, and its page is stored"),
        (PageOutcome::Gone, _) => format!("its page was stored before, and is gone: the server answered{status}"),
        (PageOutcome::Failed, _) => format!("the server gave no answer{reason}"),
        _ => format!("the server answered{status}{reason}, and no page is stored"),
    };
    let fetched = line.fetched_at.map(|at| format!("; sequence {} fetched it at {}", line.sequence, seconds(at)));
    what + &fetched.unwrap_or_default()
}

fn waits(answer: &UrlAnswer, record: &UrlRecord) -> String {
    let last = &answer.facts.last;
    let depth = counted(record.line.depth.unwrap_or_default().into(), "link", "links");
    match (answer.reason.as_deref(), record.due) {
        (Some(MAX_DEPTH), _) => {
            let of_crawl = answer.settings.budget.max_depth.unwrap_or_default();
            let own = section(record, answer).and_then(|section| Some((section, section.max_depth?)));
            match own {
                Some((UrlSection { pattern, .. }, most)) => format!(
                    "it is {depth} away from a start, and {most} are followed to what matches {pattern} ([[section]], max_depth)"
                ),
                None => format!("it is {depth} away from a start, and the crawl follows {of_crawl} (--max-depth)"),
            }
        }
        (Some(BEYOND_LIMIT), _) => match section(record, answer) {
            Some(UrlSection { pattern, max_pages: Some(most), .. }) => {
                format!("sequence {} had {most} pages of what matches {pattern} ([[section]], max_pages)", last.number)
            }
            _ => "it was beyond a limit of a [[section]]".to_owned(),
        },
        (Some(HOST), _) => "its host does not answer".to_owned(),
        (Some("budget"), _) => format!("sequence {} had reached a budget before its turn came", last.number),
        (Some("signal"), _) => format!("a signal stopped sequence {} before its turn came", last.number),
        (Some("loss"), _) => format!("the loss policy stopped sequence {} before its turn came", last.number),
        (Some(end), _) if last.end.as_deref() == Some(end) => {
            format!("sequence {} ended ({end}) before its turn came", last.number)
        }
        (Some(reason), Some(due)) => {
            let failed = counted(record.attempts.into(), "fetch has failed", "fetches have failed");
            format!(
                "{failed} by its own fault, the last one by {reason}; it is not tried before {}",
                seconds(due.millis())
            )
        }
        _ => "its turn has not come".to_owned(),
    }
}

/// The section that a URL is of.
fn section<'a>(record: &UrlRecord, answer: &'a UrlAnswer) -> Option<&'a UrlSection> {
    let (_, section) = answer.settings.scope.sections.of(record.line.url.as_deref()?)?;
    Some(section)
}

fn abandoned(answer: &UrlAnswer) -> String {
    let all =
        [Abandonment::Scope, Abandonment::Robots, Abandonment::NoHttps, Abandonment::Address, Abandonment::NoName];
    let reason = answer.reason.as_deref().unwrap_or("nobody knows why");
    let known = all.into_iter().find(|one| one.as_str() == reason);
    known.map_or_else(|| reason.to_owned(), |known| known.explained().to_owned())
}

fn refused(answer: &UrlAnswer) -> String {
    let (scope, url) = (&answer.settings.scope, answer.url.as_str());
    match answer.refusal() {
        Some(Refusal::Scope) => format!("it is outside of the scope of every start (--scope {})", scope.kind.as_str()),
        Some(Refusal::Exclude) => {
            let pattern = scope.exclude.iter().find(|pattern| pattern.is_match(url)).map_or("", |found| found.as_str());
            format!("--exclude leaves out what matches {pattern:?}")
        }
        Some(Refusal::Include) => "it matches no expression of --include".to_owned(),
        Some(Refusal::TooLong) => {
            format!("it has {} bytes, and scope.max_url_length is {}", count(url.len() as u64), scope.max_url_length)
        }
        Some(Refusal::Filter) => "the program that ran the crawl left it out".to_owned(),
        Some(Refusal::Removed) => "it was removed with `webloom forget`, and is not asked for again".to_owned(),
        _ => "each page that links to it asks not to follow the link".to_owned(),
    }
}

fn lost(answer: &UrlAnswer) -> String {
    let Some(lost) = &answer.facts.lost else {
        return "pages lead to it, and the crawl took it for a URL that it had seen, or ended before it looked at the \
                links; no sweep has looked for it since"
            .to_owned();
    };
    let by = format!("sequence {} lost it: the URL cache took it for a URL that it had seen", lost.sequence);
    match answer.reason.as_deref() {
        Some(gone) if gone == LostState::NoLongerLinked.as_str() => by + "; no page links to it any more",
        Some(_) => format!("{by}; the {} found that", lost.found_by),
        None => by,
    }
}

fn unknown(answer: &UrlAnswer) -> String {
    if answer.reason.as_deref() == Some(NOT_ADMITTED) {
        return "pages lead to it, and the crawl has not come to their links".to_owned();
    }
    let is_left = answer.facts.proposers.count > 0;
    let why =
        if is_left { "it was left out when they were read" } else { "no page or sitemap of the crawl leads to it" };
    format!("it is within the scope, but {why}")
}

fn merged(answer: &UrlAnswer) -> Option<String> {
    let (facts, key) = (&answer.facts, answer.facts.key.as_str());
    let rules: Vec<_> = facts.rules.iter().map(KeyRule::as_str).collect();
    let by = if rules.is_empty() { String::new() } else { format!(" (rules: {})", rules.join(", ")) };
    match &answer.merged {
        Some(fetched) => Some(format!(
            "The crawl has it as {}: both have the key {key}{by}, so they are one page.",
            fetched.as_str()
        )),
        None => (!rules.is_empty()).then(|| format!("Its key is {key}{by}: whatever has the same key is one page.")),
    }
}

/// That the last sequence is not the one that the answer is from.
fn earlier(answer: &UrlAnswer) -> Option<String> {
    let (record, last) = (answer.facts.record.as_ref()?, answer.facts.last.number);
    let sequence = record.line.sequence;
    let differs = sequence < last;
    differs.then(|| {
        let what = if record.is_queued { "has not come to it yet" } else { "has not found it again" };
        format!("The last sequence, {last}, {what}; what came of it is from sequence {sequence}.")
    })
}

fn proposed(answer: &UrlAnswer) -> Option<String> {
    let proposers = &answer.facts.proposers;
    let named: Vec<_> = proposers.list.iter().take(NAMED).map(named).collect();
    let more = proposers.count.saturating_sub(named.len() as u64);
    let more = if more > 0 { format!(", and {} more", count(more)) } else { String::new() };
    (!named.is_empty()).then(|| format!("What leads to it: {}{more}.", named.join(", ")))
}

fn named(proposer: &Proposer) -> String {
    match (&proposer.via, proposer.hop) {
        (Some(via), hop) => format!("{} ({hop})", without_login(via)),
        (None, Hop::Sitemap) => "robots.txt or a setting (sitemap)".to_owned(),
        (None, hop) => format!("the user ({hop})"),
    }
}

fn canonical(answer: &UrlAnswer) -> Option<String> {
    let canonical = answer.facts.record.as_ref()?.line.head.canonical.as_deref()?;
    Some(format!("The page names {} as the canonical one.", without_login(canonical)))
}

fn robots(answer: &UrlAnswer) -> Option<String> {
    let host = answer.facts.host.as_ref()?;
    let Some(opinion) = &answer.robots else {
        return Some(format!("The crawl has not read the robots.txt of {} yet, or could not.", host.origin));
    };
    let says = if opinion.is_allowed { "allows" } else { "forbids" };
    Some(match &opinion.rule {
        _ if opinion.is_ignored => format!("The robots.txt of {} does not count (--ignore-robots).", host.origin),
        Some(rule) => format!("robots.txt {says} it by the line {rule:?}."),
        None => format!("robots.txt {says} it."),
    })
}

fn host(answer: &UrlAnswer) -> Option<String> {
    let host = answer.facts.host.as_ref()?;
    let HealthRow { since, cause, not_before, .. } = host.health.as_ref()?;
    let waiting = counted(host.waiting, "URL waits", "URLs wait");
    let [since, not_before] = [since, not_before].map(|at| seconds(at.millis()));
    let (origin, why) = (&host.origin, cause.explained());
    Some(format!(
        "Its host {origin} is not well since {since}: {why}. It is not asked before {not_before}; {waiting} for it."
    ))
}

/// What can be done.
fn next(answer: &UrlAnswer, dir: &Path) -> Option<String> {
    let dir = quoted(&dir.display().to_string()).into_owned();
    let crawl = |arguments: &str| format!("`webloom crawl -d {dir}{arguments}`");
    let goes_on = || format!("wait if the crawl runs; if it does not, {} goes on", crawl(""));
    let advice = match (answer.state, answer.reason.as_deref()) {
        (KeyState::Queued, Some(MAX_DEPTH | BEYOND_LIMIT)) if is_of_section(answer) => {
            crawl(" --config FILE") + " goes on with other limits of the [[section]]"
        }
        (KeyState::Queued, Some(MAX_DEPTH)) => crawl(" --max-depth N") + " goes on with a larger depth",
        (KeyState::Queued, _) if is_logged_out(answer) => crawl(" --cookies FILE") + " goes on with a new log-in",
        (KeyState::Queued, Some("budget")) => crawl(budget(answer)) + " goes on",
        (KeyState::Queued, Some(_)) => crawl("") + " goes on",
        (KeyState::Queued, None) | (KeyState::Unknown, Some(NOT_ADMITTED)) => goes_on(),
        (KeyState::Abandoned, Some("robots")) => format!("if the site is yours, {}", crawl(&ignoring(answer)?)),
        (KeyState::Abandoned, Some("scope")) => {
            crawl(" --again") + " takes it in with a wider --scope, or other expressions of --include and --exclude"
        }
        (KeyState::Refused, _) => widening(answer, &crawl)?,
        (KeyState::Lost, Some(NOT_SWEPT)) => crawl("") + " goes on, and sweeps when nothing is left",
        (KeyState::Lost, Some(gone)) if gone == LostState::NoLongerLinked.as_str() => adding(answer, &crawl),
        (KeyState::Lost, _) => crawl(" --again") + " looks for it again",
        (KeyState::Unknown, _) if answer.facts.proposers.count > 0 => crawl(" --again") + " reads them again",
        (KeyState::Unknown, _) => adding(answer, &crawl),
        (KeyState::Finished, _) => return after(answer, &dir),
        (KeyState::Abandoned, _) => return None,
    };
    Some(format!("Next: {advice}."))
}

/// Whether its host waits for another log-in.
fn is_logged_out(answer: &UrlAnswer) -> bool {
    let health = answer.facts.host.as_ref().and_then(|host| host.health.as_ref());
    health.is_some_and(|health| health.cause == FailureCause::LogIn)
}

fn is_of_section(answer: &UrlAnswer) -> bool {
    answer.facts.record.as_ref().is_some_and(|record| section(record, answer).is_some())
}

/// The flag of the budget that was reached; a budget of time counts for a run alone.
fn budget(answer: &UrlAnswer) -> &'static str {
    let budget = &answer.settings.budget;
    match (budget.max_pages, budget.max_bytes) {
        (Some(_), _) => " --max-pages N",
        (None, Some(_)) => " --max-bytes N",
        (None, None) => "",
    }
}

/// What takes in what the settings refuse.
fn widening(answer: &UrlAnswer, crawl: &impl Fn(&str) -> String) -> Option<String> {
    let again = |what: &str| format!("{} for a wider scope", crawl(&format!(" --again {what}")));
    Some(match answer.refusal() {
        None => adding(answer, crawl),
        Some(Refusal::Scope) => {
            let wider = if answer.is_of_domain { "--scope domain" } else { "--scope any" };
            format!("{}, or {}", adding(answer, crawl), again(wider))
        }
        Some(Refusal::Exclude) => again("--exclude REGEX") + ", with the expressions that are to stay",
        Some(Refusal::Include) => again("--include REGEX"),
        Some(Refusal::TooLong) => "set scope.max_url_length higher, and crawl with --again".to_owned(),
        Some(Refusal::Filter | Refusal::Redirects | Refusal::Removed) => return None,
    })
}

/// What makes it a start.
fn adding(answer: &UrlAnswer, crawl: &impl Fn(&str) -> String) -> String {
    let add = crawl(&format!(" --add {}", quoted(answer.url.as_str())));
    let is_forbidden = answer.robots.as_ref().is_some_and(|opinion| !opinion.is_allowed);
    let still = if is_forbidden { "; robots.txt forbids it all the same" } else { "" };
    format!("{add} makes it a start, with what --scope takes in around it{still}")
}

/// The arguments of a crawl for which the robots.txt of the host does not count.
fn ignoring(answer: &UrlAnswer) -> Option<String> {
    let (_, host) = answer.facts.host.as_ref()?.origin.split_once("://")?;
    Some(format!(" --again --ignore-robots {}", quoted(host)))
}

/// What to ask of a URL that has its answer.
fn after(answer: &UrlAnswer, dir: &str) -> Option<String> {
    let line = &answer.facts.record.as_ref()?.line;
    let advice = match (line.outcome, &line.redirect) {
        (PageOutcome::Redirected, Some(to)) => {
            format!("`webloom why {dir} {}` says what is there", quoted(&without_login(to)))
        }
        (PageOutcome::Stored, _) => return None,
        _ => format!("`webloom links {dir} --to {}` lists the links to mend", quoted(answer.url.as_str())),
    };
    Some(format!("Next: {advice}."))
}

/// A word for a shell.
fn quoted(word: &str) -> Cow<'_, str> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./:@%+,=".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        return Cow::Borrowed(word);
    }
    Cow::Owned(format!("'{}'", word.replace('\'', "'\\''")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_can_be_copied_into_a_shell() {
        for (word, expected) in
            [("http://h:1/a%20b", "http://h:1/a%20b"), ("http://h/?a&b", "'http://h/?a&b'"), ("it's", "'it'\\''s'")]
        {
            assert_eq!(quoted(word), expected);
        }
    }
}
