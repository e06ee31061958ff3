//! URLs of which more is known than when they were admitted.

use std::collections::BTreeSet;

use super::super::Core;
use crate::{
    candidate::HostId,
    store::{RankRows, Step},
};

impl Core {
    /// Ranks what is queued anew, when it is time for that.
    pub(super) fn rank_anew(&mut self) {
        // The frontier does not know the rows yet that the store may be asked about, nor how they are ranked then.
        if self.outbox.is_unconfirmed() {
            return;
        }
        if let Some(ranks) = self.admission.learnt(self.frontier.fetched()) {
            self.send_ranks(ranks);
        }
    }

    /// The same at the end of a run, for the next: what was learnt is forgotten with it.
    pub(super) fn rank_all_anew(&mut self) {
        if let Some(ranks) = self.admission.all_learnt() {
            self.send_ranks(ranks);
        }
    }

    fn send_ranks(&mut self, ranks: RankRows) {
        let hosts: BTreeSet<HostId> = ranks.rows.iter().map(|row| row.host).collect();
        tracing::debug!(
            urls = ranks.rows.len(),
            hosts = hosts.len(),
            "more is known of them: those queued get other ranks"
        );
        self.outbox.write(Step { ranks: Some(ranks), ..Step::default() }, &mut self.frontier);
        // After the step: what is read from now on has the new ranks.
        for host in hosts {
            self.frontier.reranked(host);
        }
    }
}
