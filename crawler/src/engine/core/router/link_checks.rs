//! Links that are checked once nothing else is left to fetch.

use super::super::{AtEnd, Core, Fate, RunEnd, StoreQuestion, Then, Treatment};
use crate::{
    candidate::HostId,
    engine::{
        outcome::{HeadRefusal, Heard, asked, counted, failure, refusal_of_head},
        report::{Content, KeptResponse, Report},
    },
    fetch::FetchError,
    frontier::{Lease, Outcome, WorkItem},
    health::{FailureCause, Wait},
    purpose::Purpose,
    store::{Abandonment, CheckedContent, CheckedLink, LinkCheckOutcome, LinksToCheck, Step, VisitOutcome},
    time::Moment,
};

impl Core {
    /// The run would end so: first links are checked, where that is asked for.
    pub(super) fn links_checked_then(&mut self, mut end: RunEnd, now: Moment) -> Then {
        let is_end = matches!(end, RunEnd::Drained | RunEnd::Budget | RunEnd::Unreachable | RunEnd::Aged { .. });
        if is_end && self.between.is_none() && !self.limits.is_out_of_time(now) {
            match self.link_checks.at_end() {
                AtEnd::Ask(request) => {
                    self.outbox.ask(StoreQuestion::LinksToCheck(request));
                    return Then::Wait(None);
                }
                AtEnd::Wait => return Then::Wait(None),
                // What is left is on hosts that do not answer any more, though they may be there.
                AtEnd::End if end == RunEnd::Drained && self.link_checks.leaves_any() => end = RunEnd::Unreachable,
                AtEnd::End => {}
            }
        }
        let then = self.looked_twice_then(end, now);
        if then == Then::End(RunEnd::Unreachable) {
            self.warn_of_unreachable();
        }
        then
    }

    /// Has the store hand out more while links are checked.
    pub(super) fn go_on_checking(&mut self) {
        if self.outbox.has_room()
            && let Some(request) = self.link_checks.asks()
        {
            self.outbox.ask(StoreQuestion::LinksToCheck(request));
        }
    }

    /// URLs to be checked were handed out.
    pub(super) fn check_links(&mut self, found: LinksToCheck, now: Moment) {
        let new = self.link_checks.handed(found);
        if !new.is_empty() {
            tracing::info!(urls = new.len(), "checking links");
        }
        for link in new {
            let mut step = Step::default();
            let host = self.host(link.url.origin(), &mut step);
            if !step.hosts.is_empty() {
                self.send(step);
            }
            if !self.starts.scope().may_read(&link.url) {
                let least = self.link_checks.is_outside(host);
                self.frontier.is_of_links(host, least, now);
            }
            self.link_checks.note_host(host, link.is_guess);
            let item = WorkItem::link_check(link.number, host, link.url, link.redirects);
            let purpose = if link.reads { Purpose::ContentCheck } else { Purpose::LinkCheck };
            let item = WorkItem { purpose, ..item };
            if link.is_guess && !self.link_checks.are_all_of(host) {
                // The crawl itself asks for what is of its hosts, and waits for them.
                self.not_checked(&item, Abandonment::Scope, now);
            } else if let Some(why) = self.admission.why_closed(host) {
                self.not_checked(&item, why, now);
            } else if let Some(cause) = self.given_up(host, now) {
                self.no_answer(&item, cause, now);
            } else if !self.frontier.offer_extra(item.clone()) {
                self.not_checked(&item, Abandonment::Robots, now);
            }
        }
    }

    /// Has a URL be asked for with GET, where its host refuses HEAD.
    pub(super) fn choose_method(&self, lease: &mut Lease) {
        if self.link_checks.is_without_head(lease.host()) {
            lease.failed_before();
        }
    }

    /// A URL was asked for.
    pub(super) fn link_check_finished(&mut self, report: Report, at: Moment, now: Moment) {
        let Report { lease, requests, result, .. } = report;
        if let Ok(answer) = &result {
            self.note_time(&lease, answer.took);
        }
        let refusal = refusal_of_head(lease.item(), &result);
        if refusal.is_some_and(|refusal| refusal != HeadRefusal::OfUrl) {
            self.link_checks.refuses_head(lease.host());
        }
        let only_head = refusal.is_some_and(|refusal| refusal != HeadRefusal::Perhaps);
        let heard = match failure(&result) {
            // It says nothing of the links to other URLs of its host.
            Heard::Forbidden(_) => Heard::Answer,
            _ if only_head && result.is_ok() => Heard::Answer,
            _ if only_head => Heard::Neither,
            heard => heard,
        };
        let change = self.note_of_host(heard, &lease, at);
        let mut step = Step { counters: counted(requests, &result), health: change.health, ..Step::default() };
        let (item, granted) = (lease.item().clone(), lease.granted());
        let asked = asked(requests, &result);
        if only_head && !self.frontier.is_closed(item.host) {
            let again = Outcome::Retry { due: at, attempts: item.attempts, failed: Moment::EPOCH };
            self.frontier.complete(lease, again, asked, at);
            self.send(step);
            return;
        }
        let outcome = match self.pages.fate(&item, &result, change.fault, at, now) {
            Fate::Again(again) if !self.frontier.is_closed(item.host) => again.outcome(),
            Fate::Again(again) => {
                let (outcome, reason) = (LinkCheckOutcome::Failed, Some(again.reason));
                step.checked = vec![CheckedLink { outcome, reason, ..checked(&item, result, at) }];
                Outcome::Finished { stored: false }
            }
            Fate::Final { outcome, reason } => {
                let outcome = meaning(outcome);
                let found = CheckedLink { outcome, reason, ..checked(&item, result, at) };
                step.checked = vec![self.within_limits(&item, found)];
                Outcome::Finished { stored: false }
            }
        };
        if !step.checked.is_empty() {
            self.link_checks.is_out_no_more(item.id);
        }
        let has_more = |checked: &CheckedLink| {
            checked.target.is_some() || matches!(&checked.inside, CheckedContent::Sheet(parts) if !parts.is_empty())
        };
        let has_more = step.checked.iter().any(has_more);
        self.frontier.complete(lease, outcome, asked, at);
        self.send(step);
        if has_more {
            self.link_checks.found_more();
        }
        self.give_up_checks(item.host, granted, at);
    }

    /// A host gave a sign of life.
    pub(super) fn is_online(&mut self, host: HostId, now: Moment) {
        self.link_checks.is_online(host, now);
        let well = self.frontier.end_probes();
        if !well.is_empty() {
            let health = well.into_iter().map(|host| (host, None)).collect();
            self.send(Step { health, ..Step::default() });
        }
    }

    /// A host that was asked at `granted` may have failed so often that its links have their answer.
    pub(super) fn give_up_checks(&mut self, host: HostId, granted: Moment, now: Moment) {
        let Some(health) = self.frontier.health(host) else { return };
        let cause = match self.link_checks.judge(host, &health, granted, now) {
            Treatment::AskAgain => return,
            Treatment::AskOthers => return self.frontier.probe(),
            Treatment::GiveUp(cause) => cause,
        };
        let dropped = self.frontier.drop_link_checks(host);
        if dropped.is_empty() {
            return;
        }
        let (origin, links) = (self.frontier.origin(host), dropped.len());
        tracing::info!(host = %origin, %cause, links, "the host does not answer: links to it lead nowhere");
        for item in &dropped {
            self.no_answer(item, cause, now);
        }
        // Nothing of the crawl waits for it; what it asks for is remembered.
        if health.wait == Wait::BackOff {
            self.send(Step { health: vec![(host, None)], ..Step::default() });
        }
    }

    /// Redirects that are too many lead nowhere.
    fn within_limits(&self, item: &WorkItem, found: CheckedLink) -> CheckedLink {
        let Some(target) = &found.target else { return found };
        if item.redirects < self.settings.fetch.max_redirects {
            let returns = self.starts.scope().allows(target);
            return CheckedLink { returns, ..found };
        }
        let reason = Some("too_many_redirects".into());
        CheckedLink { outcome: LinkCheckOutcome::Broken, reason, target: None, ..found }
    }

    fn given_up(&self, host: HostId, now: Moment) -> Option<FailureCause> {
        self.link_checks.given_up(host, &self.frontier.health(host)?, now)
    }

    /// Only hosts that do not answer are left: whether links to them were to be checked. They are checked in a run that goes on.
    pub(super) fn leaves_checks(&mut self) -> bool {
        let dropped = self.frontier.drop_unhealthy_link_checks();
        for item in &dropped {
            self.link_checks.leave(item.id);
        }
        !dropped.is_empty()
    }

    /// A URL is not asked for.
    pub(super) fn not_checked(&mut self, item: &WorkItem, why: Abandonment, now: Moment) {
        let outcome = if why == Abandonment::NoName { LinkCheckOutcome::Failed } else { LinkCheckOutcome::LeftOut };
        self.checked_without_answer(item, outcome, why.as_str().into(), now);
    }

    fn no_answer(&mut self, item: &WorkItem, cause: FailureCause, now: Moment) {
        self.checked_without_answer(item, LinkCheckOutcome::Failed, cause.to_string().into(), now);
    }

    fn checked_without_answer(&mut self, item: &WorkItem, outcome: LinkCheckOutcome, why: Box<str>, at: Moment) {
        self.link_checks.is_out_no_more(item.id);
        let checked = CheckedLink::unanswered(item.id.0, at, outcome, why);
        self.send(Step { checked: vec![checked], ..Step::default() });
    }
}

fn meaning(outcome: VisitOutcome) -> LinkCheckOutcome {
    match outcome {
        VisitOutcome::Stored => LinkCheckOutcome::Good,
        VisitOutcome::Redirected => LinkCheckOutcome::Redirected,
        VisitOutcome::Broken => LinkCheckOutcome::Broken,
        VisitOutcome::Failed => LinkCheckOutcome::Failed,
    }
}

/// What an answer says, but for its outcome.
fn checked(item: &WorkItem, result: Result<KeptResponse, FetchError>, at: Moment) -> CheckedLink {
    let answer = result.ok();
    let status = answer.as_ref().map(|answer| answer.status);
    let (target, inside) = match answer.map(|answer| answer.content) {
        Some(Content::Redirect(to)) => (Some(to), CheckedContent::NotAsked),
        Some(Content::Page(page)) => (None, page.inside),
        _ => (None, CheckedContent::NotAsked),
    };
    let outcome = LinkCheckOutcome::Good;
    CheckedLink { number: item.id.0, at, outcome, status, reason: None, target, returns: false, inside }
}
