//! [`Runner`]: runs sessions for the library. Its messages go to `tracing`.

use std::{convert::Infallible, path::Path, sync::Arc};

use tokio::sync::watch;

use super::ProgressHandle;
use crate::{
    config::Settings,
    engine::{Gated, Pass, Progress, RunEnd, SharedGate, StopSignal, VisitEvents, WriterThread},
    fetch::{FetchFailure, FetchRequest, FetchResponse, Fetcher, resolve::HostAddresses},
    scope::UrlFilter,
    session::{self, Caller, CommandFailure, access::Standard},
    url::WebUrl,
};

/// Takes the place of the fetcher in a crawl that was given none: such a crawl asks servers by HTTP.
#[derive(Debug)]
pub struct Http(Infallible);

impl Fetcher for Http {
    async fn fetch(&self, _: FetchRequest) -> Result<FetchResponse, FetchFailure> {
        match self.0 {}
    }
}

/// What a program that crawls brings to its sessions.
pub(super) struct Runner<F> {
    /// A fetcher of its own, if it has one.
    pub(super) fetcher: Option<Arc<F>>,
    /// What hands events to the program.
    pub(super) events: VisitEvents,
    pub(super) filter: Option<UrlFilter>,
    pub(super) progress: ProgressHandle,
    /// Where requests wait for their turn.
    pub(super) gate: Arc<SharedGate>,
}

impl<F> Clone for Runner<F> {
    fn clone(&self) -> Self {
        Self {
            fetcher: self.fetcher.clone(),
            events: self.events.clone(),
            filter: self.filter.clone(),
            progress: self.progress.clone(),
            gate: Arc::clone(&self.gate),
        }
    }
}

/// One of the two.
pub(super) enum Asks<F> {
    Http(Box<Standard>),
    Own(Arc<F>),
}

impl<F: Fetcher> Fetcher for Asks<F> {
    async fn fetch(&self, request: FetchRequest) -> Result<FetchResponse, FetchFailure> {
        match self {
            Self::Http(standard) => standard.fetch(request).await,
            Self::Own(own) => own.fetch(request).await,
        }
    }

    async fn look_up(&self, url: &WebUrl) -> HostAddresses {
        match self {
            Self::Http(standard) => standard.look_up(url).await,
            Self::Own(own) => own.look_up(url).await,
        }
    }
}

impl<F: Fetcher + 'static> Caller for Runner<F> {
    type Fetcher = Gated<Asks<F>>;
    type View = ();
    type Writer = WriterThread;

    fn crawls(&self) -> u64 {
        1
    }

    fn may_block(&self) -> bool {
        false
    }

    fn begins(&self, _: &Settings) {}

    fn fetcher(
        &self,
        standard: impl FnOnce() -> Result<Standard, CommandFailure>,
        settings: &Settings,
        stop: &StopSignal,
    ) -> Result<Self::Fetcher, CommandFailure> {
        let asks = match &self.fetcher {
            Some(own) => Asks::Own(Arc::clone(own)),
            None => Asks::Http(Box::new(standard()?)),
        };
        Ok(Gated::new(asks, Pass::alone(&self.gate, settings.politeness.rate(), stop)))
    }

    fn writer(&self) -> WriterThread {
        WriterThread
    }

    fn random(&self) -> Result<u64, CommandFailure> {
        session::random()
    }

    fn events(&self) -> Option<VisitEvents> {
        Some(self.events.clone())
    }

    fn filter(&self) -> Option<UrlFilter> {
        self.filter.clone()
    }

    fn note(&self, text: &str) {
        tracing::info!("{text}");
    }

    fn tell(&self, text: &str) {
        tracing::info!("{text}");
    }

    fn complain(&self, text: &str) {
        tracing::error!("{text}");
    }

    fn show(&self, figures: watch::Receiver<Progress>, _: StopSignal) {
        self.progress.set(figures);
    }

    fn has_ended(&self, _: &Path, _: RunEnd) -> Result<(), CommandFailure> {
        Ok(())
    }
}
