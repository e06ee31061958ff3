//! [`Simulated`]: the caller of simulated sessions. Its servers, disk and random numbers follow from a seed.

use std::{
    path::Path,
    sync::{Arc, Mutex},
};

use tokio::sync::watch;

use super::{
    Random, copies,
    disk::Disk,
    follower, time,
    world::{Granted, WebFetcher, World},
};
use crate::{
    config::Settings,
    engine::{Gated, Gauge, Pass, Progress, RunEnd, SharedGate, StopSignal, VisitEvents},
    session::{
        Caller, CommandFailure,
        access::Standard,
        takers::{self, VisitTaker},
    },
};

/// What gets the visits.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct SimulatedTakers {
    /// A file of their results.
    pub(super) copies: bool,
    /// The archive.
    pub(super) archive: bool,
}

/// A process in its world.
#[derive(Clone)]
pub(super) struct Simulated {
    pub(super) world: Arc<Mutex<World>>,
    pub(super) disk: Disk,
    pub(super) random: Arc<Mutex<Random>>,
    pub(super) gate: Arc<SharedGate>,
    pub(super) takers: SimulatedTakers,
    /// Whether a program follows the crawl.
    pub(super) is_followed: bool,
}

impl Caller for Simulated {
    type Fetcher = Granted;
    /// Nobody looks.
    type View = ();
    type Writer = Disk;

    fn crawls(&self) -> u64 {
        1
    }

    fn may_block(&self) -> bool {
        false
    }

    fn begins(&self, _: &Settings) {}

    fn fetcher(
        &self,
        _: impl FnOnce() -> Result<Standard, CommandFailure>,
        settings: &Settings,
        stop: &StopSignal,
    ) -> Result<Self::Fetcher, CommandFailure> {
        let servers = WebFetcher { world: Arc::clone(&self.world), stop: stop.clone() };
        let pass = Pass::alone(&self.gate, settings.politeness.rate(), stop);
        Ok(Granted { world: Arc::clone(&self.world), gated: Gated::new(servers, pass) })
    }

    fn writer(&self) -> Disk {
        self.disk.clone()
    }

    fn random(&self) -> Result<u64, CommandFailure> {
        Ok(self.random.lock().unwrap().next())
    }

    fn events(&self) -> Option<VisitEvents> {
        self.is_followed.then(|| follower::follow(&self.world))
    }

    fn takers(&self, dir: &Path, settings: &Settings, open_settings: &str) -> Vec<VisitTaker> {
        let archive = if self.takers.archive { takers::of(dir, settings, open_settings) } else { Vec::new() };
        archive.into_iter().chain(self.takers.copies.then(|| copies::taker(dir))).collect()
    }

    fn gauge(&self, _: &Path) -> Gauge {
        let world = Arc::clone(&self.world);
        Gauge::new(move || world.lock().unwrap().machine(time::now()))
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

    fn has_ended(&self, _: &Path, end: RunEnd) -> Result<(), CommandFailure> {
        tracing::info!(?end, "a sequence ended, and the next begins");
        self.world.lock().unwrap().begin_sequence();
        Ok(())
    }
}
