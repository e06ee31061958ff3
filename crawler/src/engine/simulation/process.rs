//! [`Process`]: one run of a crawl, as it ships, on the virtual clock.
//!
//! Session, shell, hand-over and writer are the real ones; what they ask (servers, disk, clock, chance) is simulated. A kill drops
//! the runtime with all that is in it.

use std::{
    future::pending,
    sync::{Arc, Mutex},
    time::Duration,
};

use tokio::sync::watch;

use super::{
    caller::Simulated,
    crawl::BEGIN,
    disk::{self, Disk},
    time,
};
use crate::{
    clock::Clock,
    engine::{Left, RunEnd, StopSignal},
    session::{Caller as _, CommandFailure, Round, Session},
    store::Revisit,
    time::Moment,
};

/// Longer than any run lasts, in milliseconds.
const ENDLESS: u64 = 400 * 86_400_000;

/// How a run is to end, if not by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Interruption {
    /// It is killed at a moment.
    Kill(u64),
    /// It is killed within some milliseconds of the first question of a kind.
    KillAt(QuestionKind, u64),
    /// It is asked to end at a moment.
    Signal(u64),
}

/// A kind of question to the store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum QuestionKind {
    Rows,
    Sweep,
    Fill,
    LinksToCheck,
    UnsurePages,
}

/// What happens to a process from outside, in milliseconds from the beginning.
#[derive(Debug, Default)]
pub(super) struct Circumstances {
    pub(super) interruption: Option<Interruption>,
    /// How long a signal leaves what is in flight.
    pub(super) grace: Duration,
    /// When the machine is suspended, and for how long.
    pub(super) suspend: Option<(u64, u64)>,
    /// For how long pages are visited after the sequence, in milliseconds.
    pub(super) between: Option<u64>,
}

/// How it ended.
pub(super) enum ProcessEnd {
    /// By itself.
    By(RunEnd),
    Killed,
    /// It could not go on.
    Failed(CommandFailure),
}

/// Runs a session from a moment on; how it ended, and when.
pub(super) fn run(
    session: Session<Simulated>,
    begins: u64,
    outside: &Circumstances,
) -> (Result<ProcessEnd, String>, u64) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
    let disk = session.caller.disk.clone();
    let (signals, stop) = watch::channel(None);
    let stop = StopSignal::new(stop, outside.grace);
    runtime.block_on(async {
        time::begin(begins);
        let kills = disk.kills(outside.interruption);
        let clock = Clock::starting(Moment::from_millis(BEGIN + begins), time::steady);
        let ended = tokio::select! {
            biased;
            () = suspension(outside.suspend) => Err("it is suspended for ever".to_owned()),
            () = killed(kills) => Ok(ProcessEnd::Killed),
            () = signal(&signals, outside.interruption) => Err("it was asked to end for ever".to_owned()),
            ended = Box::pin(crawl(session, clock, stop, outside.between)) => Ok(match ended {
                Ok(end) => ProcessEnd::By(end),
                Err(failure) => ProcessEnd::Failed(failure),
            }),
            () = time::until(begins + ENDLESS) => Err("it does not end".to_owned()),
        };
        (ended, time::now())
    })
}

/// Crawls, and visits the pages that are due for so long after that, as `watch` does.
async fn crawl(
    session: Session<Simulated>,
    clock: Clock,
    stop: StopSignal,
    between: Option<u64>,
) -> Result<RunEnd, CommandFailure> {
    let mut session = session;
    loop {
        let ended = Box::pin(session.clone().sequences(clock, stop.clone())).await?;
        session.lock = Some(ended.lock);
        let (Some(crawl), Some(length)) = (ended.crawl, between) else { return Ok(ended.end) };
        let until = time::now() + length;
        let left = Box::pin(crawl.visit_due(time::until(until))).await?;
        match visit_on(&session, clock, &stop, left, until).await? {
            None => return Ok(ended.end),
            Some(end @ (RunEnd::Restart | RunEnd::Aged { .. })) => {
                session.caller.has_ended(&session.dir, end)?;
                session.round = Round::Next(Revisit::Rediscover);
            }
            Some(end) => return Ok(end),
        }
    }
}

/// Takes a crawl up again whenever a page is due, until a moment.
async fn visit_on(
    session: &Session<Simulated>,
    clock: Clock,
    stop: &StopSignal,
    mut left: Left,
    until: u64,
) -> Result<Option<RunEnd>, CommandFailure> {
    while left.end.is_none() && time::now() < until {
        let next = left.between.next_due().map_or(u64::MAX, |next| next.millis().saturating_sub(BEGIN));
        time::until(next.min(until)).await;
        if next < until {
            let visiting = session.clone().visit_due(clock, stop.clone(), left.between, time::until(until));
            left = Box::pin(visiting).await?.left;
        }
    }
    Ok(left.end)
}

async fn suspension(suspend: Option<(u64, u64)>) {
    if let Some((at, length)) = suspend {
        time::until(at).await;
        time::suspend(length);
    }
    pending::<()>().await;
}

async fn killed(mut kills: watch::Receiver<Option<u64>>) {
    let at = kills.wait_for(Option::is_some).await.ok().and_then(|at| *at);
    match at {
        Some(at) => time::until(at).await,
        None => pending::<()>().await,
    }
}

async fn signal(signals: &watch::Sender<Option<i32>>, interruption: Option<Interruption>) {
    if let Some(Interruption::Signal(at)) = interruption {
        time::until(at).await;
        signals.send_replace(Some(15));
    }
    pending::<()>().await;
}

impl Disk {
    /// Whoever is to be killed hears of it here.
    fn kills(&self, interruption: Option<Interruption>) -> watch::Receiver<Option<u64>> {
        let mut state = self.0.lock().unwrap();
        let (kill, kill_at) = match interruption {
            Some(Interruption::Kill(at)) => (Some(at), None),
            Some(Interruption::KillAt(asked, pause)) => (None, Some((asked, pause))),
            Some(Interruption::Signal(_)) | None => (None, None),
        };
        state.kill_at = kill_at;
        let (sender, receiver) = watch::channel(kill);
        state.kills = sender;
        receiver
    }
}

/// A disk that does what chance says.
pub(super) fn disk(random: super::Random) -> Disk {
    let kills = watch::channel(None).0;
    Disk(Arc::new(Mutex::new(disk::State {
        random,
        full: None,
        was_full: false,
        kill_at: None,
        busy: Vec::new(),
        fillings: 0,
        asked_in_vain: 0,
        kills,
    })))
}
