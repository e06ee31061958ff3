//! [`StopSignal`]: how a run is asked to stop.

use std::time::Duration;

use tokio::{
    sync::watch,
    time::{Instant, sleep_until},
};

/// A step of stopping.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stop {
    /// No new leases; the number of the signal.
    Begin(i32),
    /// The grace is over: what is in flight is given up.
    Abort,
}

/// Receives the signal to stop, and measures the grace. A clone made later has what came before.
#[derive(Debug, Clone)]
pub struct StopSignal {
    signals: watch::Receiver<Option<i32>>,
    grace: Duration,
    aborts: Option<Instant>,
}

impl StopSignal {
    /// A stop that comes through `signals` (a signal's number), with so much time for what is in flight.
    pub fn new(signals: watch::Receiver<Option<i32>>, grace: Duration) -> Self {
        Self { signals, grace, aborts: None }
    }

    /// Until somebody asks; the number of the signal.
    pub async fn asked(&mut self) -> i32 {
        match self.signals.wait_for(Option::is_some).await.ok().and_then(|signal| *signal) {
            Some(signal) => signal,
            // Nobody is there any more who could ask.
            None => std::future::pending().await,
        }
    }

    /// The number of the signal, if somebody has asked.
    pub fn asked_before(&self) -> Option<i32> {
        *self.signals.borrow()
    }

    /// The next step; never, if nobody asks.
    pub(super) async fn next(&mut self) -> Stop {
        if let Some(moment) = self.aborts {
            sleep_until(moment).await;
            self.aborts = Some(Instant::now() + self.grace);
            return Stop::Abort;
        }
        let signal = self.asked().await;
        self.aborts = Some(Instant::now() + self.grace);
        Stop::Begin(signal)
    }
}
