//! [`Simulated`]: who runs the sessions of a simulation. Its servers, its disk and its chance follow from a seed.

use std::{
    path::Path,
    sync::{Arc, Mutex},
};

use tokio::sync::watch;

use super::{
    Random,
    disk::Disk,
    world::{WebFetcher, World},
};
use crate::{
    config::Settings,
    engine::{End, PageReader, Progress, StopSignal},
    fetch::http::HttpFetcher,
    session::{Caller, Failure},
};

/// A process in its world.
#[derive(Clone)]
pub(super) struct Simulated {
    pub(super) world: Arc<Mutex<World>>,
    pub(super) disk: Disk,
    pub(super) random: Arc<Mutex<Random>>,
}

impl Caller for Simulated {
    type Fetcher = WebFetcher;
    /// Nobody looks.
    type View = ();
    type Writer = Disk;

    fn crawls(&self) -> u64 {
        1
    }

    fn begins(&self, _: &Settings) {}

    fn fetcher(
        &self,
        _: impl FnOnce() -> Result<HttpFetcher, Failure>,
        _: &Settings,
        stop: &StopSignal,
    ) -> Result<Self::Fetcher, Failure> {
        Ok(WebFetcher { world: Arc::clone(&self.world), stop: stop.clone() })
    }

    fn writer(&self) -> Disk {
        self.disk.clone()
    }

    fn random(&self) -> Result<u64, Failure> {
        Ok(self.random.lock().unwrap().next())
    }

    fn pages(&self) -> Option<PageReader> {
        None
    }

    fn note(&self, text: &str) {
        tracing::info!("{text}");
    }

    fn tell(&self, text: &str) {
        tracing::info!("{text}");
    }

    fn complain(&self, text: &str) {
        tracing::info!("{text}");
    }

    fn show(&self, _: watch::Receiver<Progress>, _: StopSignal) {}

    fn has_ended(&self, _: &Path, end: End) -> Result<(), Failure> {
        tracing::info!(?end, "a sequence ended, and the next begins");
        self.world.lock().unwrap().begin_sequence();
        Ok(())
    }
}
