//! Pages that are fetched once more at the end of a sequence.

use super::super::{AfterLooks, Core, RunEnd, StoreQuestion, Then};
use crate::{
    engine::{
        outcome::{asked, counted},
        report::{Content, Report},
    },
    frontier::{Outcome, WorkItem},
    store::{SecondLookRow, Step},
    time::Moment,
};

impl Core {
    /// The run would end so: first pages are fetched once more, to see what of them moves by itself.
    pub(super) fn looked_twice_then(&mut self, end: RunEnd, now: Moment) -> Then {
        let is_end = matches!(end, RunEnd::Drained | RunEnd::Budget | RunEnd::Unreachable | RunEnd::Aged { .. });
        if !is_end || self.between.is_some() || self.limits.is_out_of_time(now) {
            return Then::End(end);
        }
        match self.second_looks.at_end() {
            AfterLooks::Ask => {
                self.outbox.ask(StoreQuestion::UnsurePages);
                Then::Wait(None)
            }
            AfterLooks::Wait if self.second_looks.are_under_way() && self.is_settled() => {
                // A limit holds them back.
                self.drop_second_looks();
                self.second_looks.are_given_up();
                Then::Turn
            }
            AfterLooks::Wait => Then::Wait(None),
            AfterLooks::End => Then::End(end),
        }
    }

    /// The store has named the pages.
    pub(super) fn look_twice(&mut self, pages: Vec<WorkItem>) {
        if !pages.is_empty() {
            tracing::info!(pages = pages.len(), "looking at pages once more, to see what of them moves by itself");
        }
        self.second_looks.named(pages.iter().map(|page| page.id));
        for page in pages {
            let id = page.id;
            if !self.frontier.offer_extra(page) {
                self.second_looks.is_out_no_more(id);
            }
        }
    }

    /// A page was fetched once more. Where that failed there was no second look.
    pub(super) fn looked_twice(&mut self, report: Report, at: Moment) {
        let change = self.note_of_answer(&report.lease, &report.result, at);
        let Report { lease, requests, result, .. } = report;
        let mut step = Step { counters: counted(requests, &result), health: change.health, ..Step::default() };
        step.counters.second_looks = 1;
        let (item, asked) = (lease.item().clone(), asked(requests, &result));
        let mut look = SecondLookRow { page: item.id, digest: None, text: None, links: None };
        if let Ok(answer) = result
            && let Content::Page(page) = answer.content
            && answer.truncated.is_none()
        {
            let mut links = page.links.judged(self.starts.scope());
            look.links = links.labels.take().map(|labels| (links.passed.kept(), labels));
            (look.digest, look.text) = (Some(page.digest), page.text);
        }
        step.second_look = Some(look);
        self.limits.end(&lease);
        self.frontier.complete(lease, Outcome::Finished { stored: false }, asked, at);
        self.second_looks.is_out_no_more(item.id);
        self.send(step);
    }

    /// A page is not fetched once more.
    pub(super) fn not_looked_twice(&mut self, page: &WorkItem) {
        self.second_looks.is_out_no_more(page.id);
    }

    /// Nothing waits for a host that does not answer.
    pub(super) fn give_up_second_looks(&mut self) {
        if self.second_looks.are_under_way() {
            for page in self.frontier.drop_unhealthy_second_looks() {
                self.second_looks.is_out_no_more(page.id);
            }
        }
    }

    /// Nothing else can be leased: whether pages were to be fetched once more.
    pub(super) fn drop_second_looks(&mut self) -> bool {
        let dropped = self.frontier.drop_second_looks();
        for page in &dropped {
            self.second_looks.is_out_no_more(page.id);
        }
        !dropped.is_empty()
    }
}
