//! Signals that end a run, and signals that ask something of a run that goes on.

use std::{thread, time::Duration};

use tokio::{
    runtime::Builder,
    signal::unix::{Signal, SignalKind, signal},
    sync::{mpsc, watch},
};

use super::CommandFailure;
use crate::engine::StopSignal;

/// Time for what is in flight when a signal stops the run.
const GRACE: Duration = Duration::from_secs(10);

/// How many requests wait to be obeyed. A further one says nothing new.
pub(super) const MOST_ASKED: usize = 16;

/// What a signal asks of a run that goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SignalOrder {
    /// SIGHUP: settings are to be read again.
    ReadAgain,
    /// SIGUSR1: the next sequence is to begin.
    Begin,
}

fn listen(kind: SignalKind) -> Result<Signal, CommandFailure> {
    signal(kind).map_err(CommandFailure::system("cannot listen for signals"))
}

/// SIGINT and SIGTERM; a second one exits at once, and what is committed stays. They have a thread of their own, so that nothing that
/// takes long holds them up.
pub(super) fn stop_signal() -> Result<StopSignal, CommandFailure> {
    let (sender, receiver) = watch::channel(None);
    let no_thread = || CommandFailure::system("cannot start the thread for signals");
    let runtime = Builder::new_current_thread().enable_io().build().map_err(no_thread())?;
    let (mut interrupts, mut terminations) = {
        let _within = runtime.enter();
        (listen(SignalKind::interrupt())?, listen(SignalKind::terminate())?)
    };
    let forward = async move {
        let mut stopping = false;
        loop {
            let kind = tokio::select! {
                _ = interrupts.recv() => SignalKind::interrupt(),
                _ = terminations.recv() => SignalKind::terminate(),
            };
            if stopping || sender.send(Some(kind.as_raw_value())).is_err() {
                std::process::exit(128 + kind.as_raw_value());
            }
            stopping = true;
        }
    };
    let thread = thread::Builder::new().name("signals".into());
    thread.spawn(move || runtime.block_on(forward)).map_err(no_thread())?;
    Ok(stopped_by(receiver))
}

/// A stop that somebody in this process asks for, by a signal's number.
pub(super) fn stopped_by(signals: watch::Receiver<Option<i32>>) -> StopSignal {
    StopSignal::new(signals, GRACE)
}

/// The number of SIGTERM, for a crawl that is to end as if it had come.
pub(super) fn termination() -> i32 {
    SignalKind::terminate().as_raw_value()
}

/// SIGHUP and SIGUSR1, as they come.
pub(super) fn asked() -> Result<mpsc::Receiver<SignalOrder>, CommandFailure> {
    let (sender, receiver) = mpsc::channel(MOST_ASKED);
    let (mut hangups, mut wishes) = (listen(SignalKind::hangup())?, listen(SignalKind::user_defined1())?);
    tokio::spawn(async move {
        loop {
            let asked = tokio::select! {
                _ = hangups.recv() => SignalOrder::ReadAgain,
                _ = wishes.recv() => SignalOrder::Begin,
            };
            if sender.send(asked).await.is_err() {
                break;
            }
        }
    });
    Ok(receiver)
}
