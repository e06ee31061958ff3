//! What the scheduler does with a visit that ended.

use std::time::Duration;

use super::{
    EngineError,
    admission::{Found, Judge, Proposals},
    robots_book::{Patience, Reading},
    scheduler::{Ending, Scheduler},
    verdict::{Decision, decide},
    visit::{Answer, Content, Page, Report, shortened},
};
use crate::{
    candidate::{Hop, UrlId},
    fetch::{FetchError, Fetcher},
    frontier::{Asked, ErrandOutcome, Lease, PageOutcome, Queued, Work},
    scope::Refusal,
    store::{Abandonment, AreaRow, AreaSource, Counters, RobotsRow, Step, UNJUDGED, UrlChange, VisitOutcome, VisitRow},
    time::Moment,
    url::{Origin, WebUrl},
};

/// Candidates of a page that are admitted in one step.
const PART: usize = 2_000;

/// Why a page with too many links is called truncated.
const LINKS: &str = "links";

/// The least time before a URL is fetched again.
const SHORTEST_PAUSE: Duration = Duration::from_millis(1);

impl<F: Fetcher + 'static> Scheduler<F> {
    /// A page's visit ended: it waits while the scope may still grow, and is taken in otherwise.
    pub(super) async fn page_arrived(&mut self, mut report: Report) -> Result<(), EngineError> {
        let Some(queued) = queued(&report.lease) else { return Ok(()) };
        if self.starts.is_pending(queued.id) {
            let decision = decide(&report.result, queued.attempts, &self.settings.retry);
            let redirected = matches!(&report.result, Ok(Answer { content: Content::Redirect(_), .. }));
            if matches!(decision, Decision::Final { .. }) && !redirected {
                self.starts.settle(queued.id);
                // What leads nowhere needs to wait for nobody, and would be counted as a page meanwhile.
                if self.starts.holds() && report.unjudged_links() > 0 {
                    self.frontier.free_slot(&mut report.lease, self.clock.now());
                    self.starts.hold(report);
                    return Ok(());
                }
            }
        }
        self.page_finished(report).await
    }

    /// Takes in the pages that were held back, when they need not wait any longer.
    pub(super) async fn release_held(&mut self) -> Result<(), EngineError> {
        for report in self.starts.released(self.clock.now()) {
            self.page_finished(report).await?;
        }
        Ok(())
    }

    async fn page_finished(&mut self, report: Report) -> Result<(), EngineError> {
        let Report { lease, requests, result } = report;
        let Some(queued) = queued(&lease) else { return Ok(()) };
        self.pages_in_flight -= 1;
        let now = self.clock.now();
        if result.is_ok() {
            self.starts.answered(&queued.url);
        }
        let mut step = Step { counters: counted(requests, &result), ..Step::default() };
        self.heed_retry_after(&lease, &result, now);
        let asked = asked(requests, &result);
        match decide(&result, queued.attempts, &self.settings.retry) {
            Decision::Retry { .. } if self.frontier.is_closed(lease.host()) => {
                let why = self.door.why_closed(lease.host()).unwrap_or(Abandonment::RobotsUnreachable);
                step.change = Some((queued.id, UrlChange::Abandoned(why)));
                self.frontier.complete_page(lease, PageOutcome::Abandoned, asked, now);
            }
            Decision::Retry { pause, reason } => {
                // Later than any due time already asked for: those are not read again.
                let (due, attempts) = (now + pause.max(SHORTEST_PAUSE), queued.attempts + 1);
                tracing::debug!(url = %queued.url, %reason, attempts, "to be fetched again");
                step.change = Some((queued.id, UrlChange::Retry { attempts, due, reason }));
                self.frontier.complete_page(lease, PageOutcome::Retry { due }, asked, now);
            }
            Decision::Final { outcome, reason } => {
                if outcome == VisitOutcome::Failed {
                    tracing::warn!(url = %queued.url, reason = reason.as_deref(), "no answer, for good");
                }
                let Some(visit) = self.record(&queued, result, (outcome, reason), &mut step, now).await? else {
                    // Its links cannot be judged any more: it stays queued, for a run that may.
                    self.frontier.complete_page(lease, PageOutcome::Released, asked, now);
                    return self.send(step).await;
                };
                let stored = visit.outcome == VisitOutcome::Stored;
                step.counters.stored += u64::from(stored);
                step.visit = Some(visit);
                step.change = Some((queued.id, UrlChange::Finished));
                self.frontier.complete_page(lease, PageOutcome::Finished { stored }, asked, now);
                if outcome == VisitOutcome::Failed {
                    self.try_http(&queued.url.origin(), &mut step);
                }
            }
        }
        self.send(step).await
    }

    /// The visit's row; its candidates go through the door. `None` when the loss budget allows no more of them.
    async fn record(
        &mut self,
        queued: &Queued,
        result: Result<Answer, FetchError>,
        (outcome, reason): (VisitOutcome, Option<Box<str>>),
        step: &mut Step,
        now: Moment,
    ) -> Result<Option<VisitRow>, EngineError> {
        let mut visit = VisitRow::new(queued.id, now, outcome, reason);
        let Ok(answer) = result else { return Ok(Some(visit)) };
        visit.status = Some(answer.status);
        visit.wire_bytes = answer.wire_bytes;
        visit.truncated = answer.truncated.map(crate::fetch::Truncation::name);
        let mut target_origin = None;
        // A page's room is given back at the end of this: all its links are rows by then.
        let mut room = None;
        let (proposals, hop) = match answer.content {
            Content::Redirect(target) => {
                let most = self.settings.scope.max_url_length as usize;
                visit.redirect = Some(shortened(target.as_str(), most).into());
                target_origin = Some(target.origin());
                (self.redirected(queued, target, step), Hop::Redirect)
            }
            Content::Page(mut page) | Content::Other(mut page) => {
                room = page.room.take();
                (self.keep(*page, &mut visit), Hop::Link)
            }
            Content::Errand { .. } => (Proposals::default(), Hop::Link),
        };
        visit.links = proposals.kept_links();
        let (depth, redirects) = match hop {
            Hop::Redirect => (queued.depth, queued.redirects + 1),
            Hop::Start | Hop::Link => (queued.depth + 1, 0),
        };
        let found = Found { hop, via: Some(queued.id), depth, redirects, judge: Judge::Cache, at: now };
        let Some(admitted) = self.admit(proposals, found, step).await? else { return Ok(None) };
        drop(room);
        if let Some(origin) = target_origin.filter(|_| self.starts.is_pending(queued.id)) {
            self.starts.settle(queued.id);
            for id in admitted {
                self.starts.begin(id, origin.clone());
            }
        }
        Ok(Some(visit))
    }

    /// Offers candidates part by part. What a part admits is sent ahead of the step in which the page itself is: a kill
    /// between two has the page fetched again, and loses nothing. `None` when the loss budget allows no more of them.
    async fn admit(
        &mut self,
        proposals: Proposals,
        found: Found,
        step: &mut Step,
    ) -> Result<Option<Vec<UrlId>>, EngineError> {
        let mut admitted = Vec::new();
        for mut part in proposals.in_parts(PART) {
            if !step.rows.is_empty() {
                self.send(std::mem::take(step)).await?;
                self.take_early_answers().await?;
            }
            let judges = self.ending != Ending::Next && !part.passed.is_empty();
            if judges && !self.make_room_for(&part.passed).await? {
                return Ok(None);
            }
            if self.ending == Ending::Next {
                part.refuse_all(UNJUDGED);
            }
            admitted.extend(self.door.admit(part, found, &mut self.frontier, step));
        }
        Ok(Some(admitted))
    }

    fn keep(&self, page: Page, visit: &mut VisitRow) -> Proposals {
        visit.content_type = page.content_type;
        visit.html = page.html;
        visit.bytes = page.bytes;
        visit.digest = (visit.outcome == VisitOutcome::Stored).then_some(page.digest);
        visit.title = page.title;
        let proposals = page.links.judged(&self.pure);
        if proposals.are_cut() {
            visit.truncated.get_or_insert(LINKS);
        }
        proposals
    }

    /// A redirect's target as a candidate; that of a start widens the scope.
    fn redirected(&mut self, queued: &Queued, target: WebUrl, step: &mut Step) -> Proposals {
        if queued.redirects >= self.settings.fetch.max_redirects {
            return Proposals::refused(Refusal::Redirects);
        }
        // A redirect keeps its source's depth: what is at depth 0 is a start, or a start was redirected to it.
        if queued.depth == 0 {
            tracing::warn!(from = %queued.url, to = %target, "the start URL is redirected; its target belongs to the crawl");
            if target.as_str().len() > self.settings.scope.max_url_length as usize {
                return Proposals::refused(Refusal::TooLong);
            }
            self.warn_of_secrets(&target);
            if self.pure.widen(&target) {
                step.areas.push(AreaRow { url: target.as_str().to_owned(), source: AreaSource::Redirect });
            }
        }
        self.pure.one(target)
    }

    /// Starts given without a scheme are tried with `http` when `https` gives no answer.
    fn try_http(&mut self, failed: &Origin, step: &mut Step) {
        for url in self.starts.instead(failed) {
            tracing::warn!(start = %url, "no answer by https, trying http");
            self.warn_of_secrets(&url);
            self.enter_start(url, AreaSource::Fallback, Judge::Cache, step);
        }
    }

    /// Headers and passwords go to the origins they were given for; whoever expects them elsewhere is told.
    fn warn_of_secrets(&self, url: &WebUrl) {
        let fetch = &self.settings.fetch;
        let some = !(fetch.headers.is_empty() && fetch.credentials.is_empty());
        if some && !self.starts.is_given(&url.origin()) {
            tracing::warn!(%url, "headers and passwords that were given are not sent there: if they should be, give it as a start URL");
        }
    }

    /// Takes a lease back whose request was not made: it is as if it had not been granted.
    pub(super) async fn give_back(&mut self, lease: Lease) -> Result<(), EngineError> {
        let now = self.clock.now();
        self.pages_in_flight -= lease.pages();
        match lease.work() {
            Work::Page(queued) => match self.door.why_closed(queued.host) {
                Some(why) => return self.abandon(lease, why).await,
                None => self.frontier.complete_page(lease, PageOutcome::Released, Asked::No, now),
            },
            Work::Rescue(queued) if self.frontier.is_closed(queued.host) => return self.forgo_lease(lease).await,
            Work::Rescue(_) => self.frontier.release_rescue(lease, now),
            Work::Errand(_) => {
                self.frontier.complete_errand(lease, ErrandOutcome::Retry { at: now }, Asked::No, now);
            }
        }
        Ok(())
    }

    /// Proposes a start URL, which widens the scope to itself.
    pub(super) fn enter_start(&mut self, url: WebUrl, source: AreaSource, judge: Judge, step: &mut Step) {
        self.pure.widen(&url);
        step.areas.push(AreaRow { url: url.as_str().to_owned(), source });
        let found = Found { hop: Hop::Start, via: None, depth: 0, redirects: 0, judge, at: self.clock.now() };
        let origin = url.origin();
        let proposals = self.pure.one(url);
        for id in self.door.admit(proposals, found, &mut self.frontier, step) {
            self.starts.begin(id, origin.clone());
        }
    }

    pub(super) fn heed_retry_after(&mut self, lease: &Lease, result: &Result<Answer, FetchError>, now: Moment) {
        let asked = result.as_ref().ok().and_then(|answer| answer.retry_after);
        if let Some(pause) = asked {
            self.frontier.not_before(lease.host(), now + pause);
        }
    }

    /// robots.txt of a host that the user said not to ask.
    pub(super) async fn ignore_robots(&mut self, lease: Lease) -> Result<(), EngineError> {
        let now = self.clock.now();
        let reading = self.robots.ignore(lease.host(), now);
        self.robots_read(lease, reading, Asked::No, Step::default()).await
    }

    /// The request for a robots.txt ended.
    pub(super) async fn errand_finished(&mut self, report: Report) -> Result<(), EngineError> {
        let Report { lease, requests, result } = report;
        let Work::Errand(errand) = lease.work() else { return Ok(()) };
        let now = self.clock.now();
        let step = Step { counters: counted(requests, &result), ..Step::default() };
        let (host, redirects) = (errand.for_host, errand.redirects);
        let guess = self.starts.is_guessed(&errand.url.origin()) && result.is_err();
        if result.is_ok() {
            self.starts.answered(&errand.url);
        }
        let patience = if guess { Patience::None } else { Patience::AsSet };
        self.heed_retry_after(&lease, &result, now);
        if let Err(error) = &result {
            tracing::warn!(url = %errand.url, %error, "robots.txt has no answer");
        }
        let reading = self.robots.read(host, redirects, patience, result, now);
        self.robots_read(lease, reading, Asked::Yes, step).await
    }

    async fn robots_read(
        &mut self,
        lease: Lease,
        reading: Reading,
        asked: Asked,
        mut step: Step,
    ) -> Result<(), EngineError> {
        let Work::Errand(errand) = lease.work() else { return Ok(()) };
        let (host, now) = (errand.for_host, self.clock.now());
        let mut kept = |row: RobotsRow| step.robots = Some((host, row));
        let outcome = match reading {
            Reading::Met { row, crawl_delay, until } => {
                kept(row);
                let polite = self.settings.politeness.delay;
                let asked = crawl_delay.map_or(polite, |delay| delay.min(self.settings.politeness.max_delay));
                self.frontier.set_delay(host, polite.max(asked));
                ErrandOutcome::Met { until }
            }
            Reading::Retry { row, at } => {
                kept(row);
                ErrandOutcome::Retry { at }
            }
            Reading::Redirected(to) => {
                let host = self.door.host(to.origin(), &mut self.frontier, &mut step);
                ErrandOutcome::Redirected { host, to }
            }
            Reading::Failed { row, why } => {
                kept(row);
                step.closed = Some((host, why));
                self.door.close(host, why);
                ErrandOutcome::Failed
            }
        };
        let failed = (outcome == ErrandOutcome::Failed).then(|| self.frontier.origin(host).clone());
        let abandoned = self.frontier.complete_errand(lease, outcome, asked, now);
        if let Some(origin) = failed {
            let why = step.closed.map(|(_, why)| why.as_str());
            tracing::warn!(host = %origin, why, abandoned, "robots.txt cannot be read: what is queued on the host is abandoned");
            self.starts.settle_all(&origin);
            self.try_http(&origin, &mut step);
            self.send(step).await?;
            return self.forgo_host(host).await;
        }
        self.send(step).await
    }
}

fn queued(lease: &Lease) -> Option<Queued> {
    match lease.work() {
        Work::Page(queued) => Some(queued.clone()),
        Work::Errand(_) | Work::Rescue(_) => None,
    }
}

/// Whether a host was asked, so that its delay begins.
pub(super) fn asked(requests: u64, result: &Result<Answer, FetchError>) -> Asked {
    if requests > 0 || result.is_err() { Asked::Yes } else { Asked::No }
}

/// What a response, or its lack, adds to the sums.
pub(super) fn counted(requests: u64, result: &Result<Answer, FetchError>) -> Counters {
    let mut counters = Counters { requests, ..Counters::default() };
    match result {
        Ok(answer) => {
            counters.bytes_in = answer.wire_bytes;
            counters.by_status.insert(answer.status, 1);
        }
        Err(error) => {
            counters.errors.insert(error.name().to_owned(), 1);
        }
    }
    counters
}
