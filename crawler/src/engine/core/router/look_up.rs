//! The addresses of hosts.

use std::time::Duration;

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
        let HostAddresses { list, good_for } = match result {
            Ok(KeptResponse { content: Content::Addresses(found), .. }) => found,
            // It failed in this program. It would do so at once again.
            _ => HostAddresses { list: Vec::new(), good_for: Duration::ZERO },
        };
        let outcome = Outcome::LookedUp { addresses: list.into(), until: at + good_for };
        self.limits.end(&lease);
        self.frontier.complete(lease, outcome, Asked::No, at);
    }
}
