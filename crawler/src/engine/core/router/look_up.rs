//! The addresses of hosts.

use super::super::Core;
use crate::{
    engine::report::{Content, KeptResponse, Report},
    fetch::resolve::HostAddresses,
    frontier::{Asked, Outcome},
    time::Moment,
};

impl Core {
    /// The name of a host was looked up. Where that failed its next request fails too, and says why.
    pub(super) fn looked_up(&mut self, report: Report, at: Moment) {
        let Report { lease, result, .. } = report;
        let outcome = match result {
            Ok(KeptResponse { content: Content::Addresses(HostAddresses { list, good_for }), .. }) => {
                Outcome::LookedUp { addresses: list.into(), until: at + good_for }
            }
            _ => Outcome::Released,
        };
        self.limits.end(&lease);
        self.frontier.complete(lease, outcome, Asked::No, at);
    }
}
