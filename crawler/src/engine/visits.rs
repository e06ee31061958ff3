//! [`Visits`]: the leases that are being carried out, each by a task.
//!
//! Owns: the leases meanwhile. A task has what it needs from its lease, never the lease itself: so the lease comes back
//! whatever becomes of the task.

use std::{collections::HashMap, sync::Arc};

use tokio::task::{Id, JoinError, JoinSet};

use super::{
    report::Report,
    sending::{Gone, Sending},
    visit::Visited,
};
use crate::{fetch::FetchError, frontier::Lease};

/// How a visit ended.
#[derive(Debug)]
pub(super) enum VisitEnd {
    /// With what it came to.
    Came(Box<Report>),
    /// It was given up, with so many requests sent or under way.
    GivenUp(u64),
}

/// Tasks and their leases.
#[derive(Debug, Default)]
pub(super) struct Visits {
    tasks: JoinSet<Visited>,
    leases: HashMap<Id, (Lease, Arc<Sending>)>,
    gone: Arc<Gone>,
}

impl Visits {
    /// Has a task carry a lease out.
    pub(super) fn begin(&mut self, lease: Lease, visit: impl Future<Output = Visited> + Send + 'static) {
        let sending = Sending::new(Arc::clone(&self.gone));
        let task = self.tasks.spawn(Arc::clone(&sending).count_in(visit));
        self.leases.insert(task.id(), (lease, sending));
    }

    /// The next visit that ends; `None` when there is none.
    pub(super) async fn next(&mut self) -> Option<VisitEnd> {
        let joined = self.tasks.join_next_with_id().await?;
        Some(self.ended(joined))
    }

    /// One that has ended by now.
    pub(super) fn next_ended(&mut self) -> Option<VisitEnd> {
        let joined = self.tasks.try_join_next_with_id()?;
        Some(self.ended(joined))
    }

    fn ended(&mut self, joined: Result<(Id, Visited), JoinError>) -> VisitEnd {
        let (task, visited) = match joined {
            Ok((task, visited)) => (task, Ok(visited)),
            Err(error) => (error.id(), Err(error)),
        };
        let (lease, sending) = self.leases.remove(&task).expect("each task has a lease");
        match visited {
            Ok(Visited { requests, result, failed }) => {
                VisitEnd::Came(Box::new(Report { lease, requests, result, failed }))
            }
            Err(error) => broken_off(lease, sending.requests(), error),
        }
    }

    /// Counts the leases that have gone to their hosts, of those that waited for it.
    pub(super) fn gone(&self) -> Arc<Gone> {
        Arc::clone(&self.gone)
    }

    /// Gives all up.
    pub(super) fn abort(&mut self) {
        self.tasks.abort_all();
    }
}

/// A fault of ours in a visit is the outcome of that visit: the crawl goes on without the page.
fn broken_off(lease: Lease, requests: u64, error: JoinError) -> VisitEnd {
    let Ok(panic) = error.try_into_panic() else { return VisitEnd::GivenUp(requests) };
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    let text = text.or_else(|| panic.downcast_ref::<String>().cloned());
    let panic = text.as_deref().unwrap_or("it does not say why");
    tracing::error!(url = %lease.url(), panic, "a bug in Webloom: the URL counts as failed; please report it");
    VisitEnd::Came(Box::new(Report { lease, requests, result: Err(FetchError::Internal), failed: None }))
}
