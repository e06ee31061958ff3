//! [`Sending`]: how many requests a lease has sent while its task runs.
//!
//! Owns: the count, and when the first request of a lease is reported: not before the rate lets the next one go. So the next lease is
//! chosen as late as it can be.
//!
//! The count belongs to the task, so neither requests nor fetchers carry it. Outside such a task, nothing is counted.

use std::{
    future::Future,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::Instant,
};

use tokio::{sync::Notify, task_local, time::sleep_until};

task_local! {
    static SENDING: Arc<Sending>;
}

/// The requests of one lease.
#[derive(Debug, Default)]
pub(super) struct Sending {
    requests: AtomicU64,
    gone: Arc<Gone>,
}

/// Leases that went to their hosts after they had waited for it.
#[derive(Debug, Default)]
pub(super) struct Gone {
    /// How many were not heard of, and when the rate let the next one go after the first of them.
    leases: Mutex<(usize, Option<Instant>)>,
    more: Notify,
}

impl Sending {
    /// Of a lease that has made no request.
    pub(super) fn new(gone: Arc<Gone>) -> Arc<Self> {
        Arc::new(Self { requests: AtomicU64::new(0), gone })
    }

    /// Has a task count here.
    pub(super) fn count_in<T>(self: Arc<Self>, task: impl Future<Output = T>) -> impl Future<Output = T> {
        SENDING.scope(self, task)
    }

    /// Requests that were sent, or are under way.
    pub(super) fn requests(&self) -> u64 {
        self.requests.load(Ordering::Relaxed)
    }
}

impl Gone {
    /// How many went since this was last asked; waits for one, and until the next may go.
    pub(super) async fn next(&self) -> usize {
        loop {
            let (leases, free) = self.with(|leases| *leases);
            if leases == 0 {
                self.more.notified().await;
                continue;
            }
            if let Some(free) = free {
                sleep_until(free.into()).await;
            }
            return self.with(std::mem::take).0;
        }
    }

    fn one_more(&self, free: Option<Instant>) {
        self.with(|leases| *leases = (leases.0 + 1, if leases.0 == 0 { free } else { leases.1 }));
        self.more.notify_one();
    }

    fn with<T>(&self, work: impl FnOnce(&mut (usize, Option<Instant>)) -> T) -> T {
        // Whoever panicked with it had changed nothing by halves.
        work(&mut self.leases.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// A request of this task's lease is sent, unless it is said to wait.
pub(super) fn begins() {
    let _ = SENDING.try_with(|sending| sending.requests.fetch_add(1, Ordering::Relaxed));
}

/// It waits first.
pub(super) fn waits() {
    let _ = SENDING.try_with(|sending| sending.requests.fetch_sub(1, Ordering::Relaxed));
}

/// It has waited, and is sent; when the next may be, by the rate of its crawl.
pub(super) fn goes(free: Option<Instant>) {
    let _ = SENDING.try_with(|sending| {
        if sending.requests.fetch_add(1, Ordering::Relaxed) == 0 {
            sending.gone.one_more(free);
        }
    });
}
