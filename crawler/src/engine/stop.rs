//! [`StopSignal`]: how a run is asked to stop.

use std::time::Duration;

use tokio::{
    sync::mpsc,
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

/// Receives the signal to stop, and measures the grace.
#[derive(Debug)]
pub struct StopSignal {
    signals: mpsc::Receiver<i32>,
    grace: Duration,
    aborts: Option<Instant>,
}

impl StopSignal {
    /// A stop that comes through `signals` (a signal's number), with so much time for what is in flight.
    pub fn new(signals: mpsc::Receiver<i32>, grace: Duration) -> Self {
        Self { signals, grace, aborts: None }
    }

    /// The next step; never, if nobody asks.
    pub(super) async fn next(&mut self) -> Stop {
        if let Some(moment) = self.aborts {
            sleep_until(moment).await;
            self.aborts = Some(Instant::now() + self.grace);
            return Stop::Abort;
        }
        match self.signals.recv().await {
            Some(signal) => {
                self.aborts = Some(Instant::now() + self.grace);
                Stop::Begin(signal)
            }
            None => std::future::pending().await,
        }
    }
}
