//! The figures that a core shows.

use super::Core;
#[cfg(test)]
use super::starts;
use crate::engine::Progress;

/// Lost URLs that pages are fetched again for before the next comparison.
#[cfg(test)]
const MOST_WANTED: usize = 65_536 + 10_000;

impl Core {
    /// The state of the run.
    pub(in crate::engine) fn progress(&self) -> Progress {
        let counters = self.outbox.counters();
        Progress {
            pages: counters.stored,
            requests: counters.requests,
            admitted: self.frontier.counts().admitted,
            queued: self.frontier.counts().queued,
            in_flight: self.limits.in_flight() as u64,
            errors: counters.errors.values().sum(),
            expected_lost: self.admission.expected_lost(),
            unhealthy_hosts: self.frontier.unhealthy() as u64,
            unhealthy_host: self.frontier.first_unhealthy().map(ToString::to_string),
            cache_items: self.admission.items(),
        }
    }

    /// Whether any page was stored in the sequence.
    pub(in crate::engine) fn has_pages(&self) -> bool {
        self.outbox.counters().stored > 0
    }

    /// Whether the URL cache never mistakes a new URL for a seen one.
    pub(in crate::engine) fn is_exact(&self) -> bool {
        self.admission.is_exact()
    }

    /// Whether it may call a URL new that it was shown before.
    pub(in crate::engine) fn forgets(&self) -> bool {
        self.admission.forgets()
    }

    /// Whether links change the ranks of URLs that are admitted already.
    pub(in crate::engine) fn counts_links(&self) -> bool {
        self.admission.counts_links()
    }

    /// What it is expected to have lost, in URLs.
    pub(in crate::engine) fn expected_lost(&self) -> f64 {
        self.admission.expected_lost()
    }

    /// The URL cache's part of the summary.
    pub(in crate::engine) fn cache_figures(&self) -> serde_json::Value {
        self.admission.figures()
    }

    /// Whether what must hold at any time does.
    #[cfg(test)]
    pub(super) fn holds(&self) -> Result<(), String> {
        let counts = self.frontier.counts();
        if counts.admitted != counts.queued + counts.leased + counts.finished + counts.abandoned {
            return Err(format!("the counts do not add up: {counts:?}"));
        }
        let usual = self.limits.concurrency();
        let leases = self.limits.in_flight() + self.robots.waiting();
        if leases > usual {
            return Err(format!("{leases} leases are carried out, or wait for the rules of their hosts"));
        }
        // Beside what came back: pages that were held back, the starts, and the filling of the URL cache.
        let tasks = self.intake.len();
        if tasks > usual + starts::MOST_HELD + 2 {
            return Err(format!("{tasks} tasks wait to be taken in"));
        }
        let wanted = self.sweep.wanted();
        if wanted > MOST_WANTED || self.frontier.extras() > MOST_WANTED as u64 {
            return Err(format!("{wanted} lost URLs, on {} pages, in memory", self.frontier.extras()));
        }
        if !self.robots.stand() {
            return Err("the rules of hosts take more than they may".into());
        }
        let (rows, most) = (self.frontier.in_memory(), self.frontier.most_in_memory());
        if rows > most {
            return Err(format!("{rows} rows in memory, not {most}"));
        }
        Ok(())
    }
}
