//! The sitemaps of hosts: how their URLs come to be URLs of the crawl.

use super::{
    super::{CacheFailure, Core, Fate, NamedSitemaps, SitemapPlace, Task},
    Ready,
};
use crate::{
    candidate::HostId,
    engine::{
        judge::{Batch, Provenance},
        outcome::{asked, counted},
        report::{Content, KeptResponse, Report},
    },
    frontier::{Lease, Outcome, WorkItem},
    store::Step,
    time::Moment,
    url::WebUrl,
};

/// What the path of a sitemap has in it, where a host leads from the usual place to another. Many lead from any place to their home page.
const HINT: &str = "sitemap";

impl Core {
    /// The rules of a host are known: its sitemaps are looked for, if that is still to be done.
    pub(super) fn look_for_sitemaps(&mut self, host: HostId) {
        if self.between.is_some() || self.frontier.is_closed(host) || self.link_checks.are_all_of(host) {
            return;
        }
        let origin = self.frontier.origin(host);
        match self.sources.of_host(host, origin, self.robots.sitemaps(host)) {
            Some(SitemapPlace::Named(sitemaps)) => self.intake.push_back(Task::Sitemaps(sitemaps)),
            Some(SitemapPlace::Perhaps(url)) => {
                let is_asked =
                    self.starts.scope().may_read(&url) && self.frontier.offer_extra(WorkItem::guess(host, url));
                if !is_asked {
                    self.no_sitemap(host);
                }
            }
            None => {}
        }
    }

    /// A host has no sitemap at the usual place, or may not be asked for it.
    pub(super) fn no_sitemap(&mut self, host: HostId) {
        let sitemaps = Some(self.sources.settle(host, false));
        self.send(Step { sitemaps, ..Step::default() });
    }

    /// Admits sitemaps.
    pub(super) fn enter_sitemaps(
        &mut self,
        sitemaps: NamedSitemaps,
        now: Moment,
    ) -> Result<Option<Task>, CacheFailure> {
        let proposals = self.starts.scope().lists(sitemaps.urls.iter().cloned());
        let readiness = self.admission.make_room_for(&proposals.passed, now)?;
        match self.ready(readiness) {
            Ready::Yes => {}
            Ready::NotYet => return Ok(Some(Task::Sitemaps(sitemaps))),
            // They are looked for again in a run that may let them in.
            Ready::No => return Ok(None),
        }
        let NamedSitemaps { host, urls, is_guessed } = sitemaps;
        tracing::debug!(urls = urls.len(), passed = proposals.passed.len(), "sitemaps are named");
        if host.is_none() && proposals.passed.is_empty() {
            tracing::warn!(
                "--sitemap names no URL on a host of the crawl; such a sitemap is read if a start URL redirects to its host"
            );
        }
        let mut step = Step { sitemaps: host.map(|host| self.sources.settle(host, is_guessed)), ..Step::default() };
        self.admit(Batch::new(Provenance::named(now), proposals), &mut step);
        self.send(step);
        Ok(None)
    }

    /// The usual place was asked for.
    pub(super) fn guess_finished(&mut self, report: Report, at: Moment, now: Moment) {
        let change = self.note_of_answer(&report.lease, &report.result, at);
        let Report { lease, requests, result, .. } = report;
        let step = Step { counters: counted(requests, &result), health: change.health, ..Step::default() };
        let (host, url) = (lease.host(), lease.url().clone());
        let asked = asked(requests, &result);
        let fate = self.pages.fate(lease.item(), &result, change.fault, at, now);
        let again = if let Fate::Again(again) = fate { Some(again) } else { None };
        let outcome = again.filter(|_| !self.frontier.is_closed(host)).map(|again| again.outcome());
        let is_over = outcome.is_none();
        self.frontier.complete(lease, outcome.unwrap_or(Outcome::Finished { stored: false }), asked, at);
        self.send(step);
        if is_over {
            match self.found_at_usual_place(host, url, result.ok()) {
                Some(sitemaps) => self.intake.push_back(Task::Sitemaps(sitemaps)),
                None => self.no_sitemap(host),
            }
        }
    }

    fn found_at_usual_place(
        &mut self,
        host: HostId,
        url: WebUrl,
        answer: Option<KeptResponse>,
    ) -> Option<NamedSitemaps> {
        let answer = answer?;
        match &answer.content {
            Content::Page(page) if page.links.are_of_sitemap() => {
                self.sources.keep(url.clone(), answer);
                Some(NamedSitemaps { host: Some(host), urls: vec![url], is_guessed: true })
            }
            Content::Redirect(to) if to.path().contains(HINT) => {
                Some(NamedSitemaps { host: Some(host), urls: vec![to.clone()], is_guessed: false })
            }
            _ => None,
        }
    }

    /// The URL of a lease was asked for as a guess: its answer is taken in without another request.
    pub(super) fn use_answer(&mut self, mut lease: Lease, answer: KeptResponse, now: Moment) {
        let holds = self.starts.holds();
        if holds {
            self.frontier.free_slot(&mut lease, now);
        }
        let report = Report { lease, requests: 0, result: Ok(answer), failed: None };
        if holds {
            self.starts.hold(report, now);
        } else {
            self.intake.push_back(Task::Held(Box::new(report), now));
        }
    }
}
