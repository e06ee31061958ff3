//! [`Preparers`]: what takers make of an answer before its visit is written.
//!
//! Owns: that expensive work (compression) runs on other threads than the writer's. The result travels with the step of its visit, so it
//! reaches the writer in order.
//!
//! Does not know: what a taker does with it.

use std::{
    num::NonZero,
    sync::{Arc, LazyLock},
    thread,
};

use tokio::sync::Semaphore;

use crate::{
    fetch::{FetchResponse, Keep},
    store::KeptPart,
    url::WebUrl,
};

/// An answer whose body is so large is prepared on another thread.
pub const BIG_BODY: usize = 16 * 1024;

/// The half of a taker that sees the answer.
pub trait Preparer: Send + Sync + 'static {
    /// What it needs of an answer beside its parts.
    fn keeps(&self) -> Keep;

    /// Makes of an answer what its other half is to take, if that is anything. It may take long.
    fn prepare(&self, url: &WebUrl, answer: &FetchResponse) -> Option<KeptPart>;
}

/// Those of all takers, in their order.
#[derive(Clone, Default)]
pub struct Preparers(Vec<Option<Arc<dyn Preparer>>>);

impl std::fmt::Debug for Preparers {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Preparers").field(&self.0.len()).finish()
    }
}

impl Preparers {
    /// One for each taker; `None` for one that needs only the row of a visit.
    pub fn new(preparers: Vec<Option<Arc<dyn Preparer>>>) -> Self {
        if preparers.iter().all(Option::is_none) { Self::default() } else { Self(preparers) }
    }

    /// What a request is to keep for all of them.
    pub(super) fn keeps(&self) -> Keep {
        let all = self.0.iter().flatten().map(|preparer| preparer.keeps());
        all.fold(Keep::default(), |one, other| Keep {
            raw_head: one.raw_head || other.raw_head,
            body_as_sent: one.body_as_sent || other.body_as_sent,
        })
    }

    /// What they make of an answer, one for each; nothing where there are none. Each holds the room of the body.
    pub(super) async fn prepare(&self, url: &WebUrl, answer: FetchResponse) -> (FetchResponse, Vec<Option<KeptPart>>) {
        if self.0.is_empty() {
            return (answer, Vec::new());
        }
        let (preparers, url) = (self.0.clone(), url.clone());
        apart_if(answer.body.len() >= BIG_BODY, move || {
            let of = |preparer: &Option<Arc<dyn Preparer>>| preparer.as_ref()?.prepare(&url, &answer);
            let all = preparers.iter().map(|preparer| Some(of(preparer)?.in_room(answer.room.clone())));
            let all = all.collect();
            (answer, all)
        })
        .await
    }
}

/// For each CPU that this process may use (a container may allow fewer than there are), so much heavy work is done at once: more would take
/// memory, and no less time.
const HEAVY_PER_CPU: usize = 2;

static TURNS: LazyLock<Semaphore> =
    LazyLock::new(|| Semaphore::new(thread::available_parallelism().map_or(1, NonZero::get) * HEAVY_PER_CPU));

/// Does heavy work on another thread, so that others are not kept waiting.
pub(super) async fn apart_if<T: Send + 'static>(heavy: bool, work: impl FnOnce() -> T + Send + 'static) -> T {
    if !heavy {
        return work();
    }
    let _turn = TURNS.acquire().await.expect("nobody closes it");
    match tokio::task::spawn_blocking(work).await {
        Ok(done) => done,
        Err(panicked) => std::panic::resume_unwind(panicked.into_panic()),
    }
}
