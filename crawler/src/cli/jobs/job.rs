//! One job: a watched crawl that is tried again after a failure.

use super::super::{
    CommandFailure,
    among::Among,
    outcome,
    watch::{
        plan::WatchPlan,
        rounds::{Outside, WatchOrder},
        site::{Given, Site},
    },
};
use crate::{
    clock::WallTime,
    schedule::{Due, Upcoming},
    time::Moment,
};

/// A job between two tries.
struct Tries<'a> {
    given: Given,
    among: &'a Among,
    /// How many sequences there were, those that failed included.
    done: u64,
    /// What was said last: it is not said twice in a row.
    said: Option<String>,
}

/// Watches a crawl until it is asked to end, or has had all its sequences; the exit code.
pub(super) async fn run<T: WallTime>(given: Given, among: Among, mut outside: Outside<Given, T>) -> u8 {
    let mut tries = Tries { given, among: &among, done: 0, said: None };
    loop {
        let failure = match tries.watch(&mut outside).await {
            Ok(code) => return code,
            Err(failure) => failure,
        };
        tries.done += 1;
        among.seat.has_failed(&failure.to_string());
        let due = tries.given.plan(&among).ok().map(|plan| (next(&plan, outside.time.now()), plan));
        tries.tell(&failure, due.as_ref());
        let is_last = tries.given.most.is_some_and(|most| tries.done >= most.get());
        if due.is_none() || is_last {
            return failure.code();
        }
        if let Some(code) = tries.wait(&mut outside).await {
            return code;
        }
    }
}

impl Tries<'_> {
    async fn watch<T: WallTime>(&mut self, outside: &mut Outside<Given, T>) -> Result<u8, CommandFailure> {
        let left = self.given.most.map(|most| most.get().saturating_sub(self.done)).and_then(std::num::NonZeroU64::new);
        let given = Given { most: left, ..self.given.clone() };
        let mut rounds = Site::open(given, self.among, outside.time.now())?;
        let ended = rounds.run(outside).await;
        let most = self.given.most;
        self.given = Given { most, ..rounds.subject.given().clone() };
        self.done += rounds.done();
        if rounds.done() > 0 {
            self.said = None;
        }
        ended.map(outcome::code)
    }

    fn tell(&mut self, failure: &CommandFailure, next: Option<&(Moment, WatchPlan)>) {
        let text = failure.to_string();
        if self.said.as_ref() == Some(&text) {
            return;
        }
        let when = next.map_or_else(String::new, |(moment, plan)| {
            format!("; the next try is at {}", plan.schedule.local(*moment).strftime("%Y-%m-%dT%H:%M:%S%:z"))
        });
        self.among.voice.tell(&format!("error: {text}{when}"));
        self.said = Some(text);
    }

    /// Until it is tried again; the exit code, where it is asked to end before.
    async fn wait<T: WallTime>(&mut self, outside: &mut Outside<Given, T>) -> Option<u8> {
        let failed = outside.time.now();
        loop {
            let Ok(plan) = self.given.plan(self.among) else { return Some(2) };
            let mut upcoming = Upcoming::after(failed);
            let due = match upcoming.due(&plan.schedule, outside.time.now()) {
                Due::Now if !plan.paused => return None,
                Due::Now => Moment::from_millis(u64::MAX),
                Due::At(_) if plan.paused => Moment::from_millis(u64::MAX),
                Due::At(due) => due,
            };
            tokio::select! {
                biased;
                signal = outside.stop.asked() => return Some(outcome::signal_code(signal)),
                Some(order) = outside.orders.recv() => match order {
                    WatchOrder::Settings(given) => {
                        self.given = *given;
                        self.among.voice.tell("the settings were read again");
                    }
                    // It has failed, and says so already.
                    WatchOrder::Refused(_) => {}
                    WatchOrder::Begin if plan.paused => self.among.voice.tell("paused: no sequence begins"),
                    WatchOrder::Begin => return None,
                },
                woken = outside.time.until(due) => {
                    if woken.is_err() {
                        return Some(1);
                    }
                }
            }
        }
    }
}

/// When the next sequence is due.
fn next(plan: &WatchPlan, now: Moment) -> Moment {
    match Upcoming::after(now).due(&plan.schedule, now) {
        Due::At(next) => next,
        Due::Now => now,
    }
}

#[cfg(test)]
mod tests {
    use std::{
        io,
        num::NonZeroU64,
        sync::atomic::{AtomicU64, Ordering},
    };

    use clap::Parser;
    use tokio::sync::{mpsc, watch};

    use super::*;
    use crate::{
        cli::{directory, flags::OutputFlags, signals},
        config::Layers,
        store::Revisit,
    };

    const HOUR: u64 = 3_600_000;

    /// A clock that shows the moment that is waited for, and how often somebody waited.
    #[derive(Default)]
    struct Leaping {
        now: AtomicU64,
        waits: AtomicU64,
    }

    impl WallTime for &Leaping {
        fn now(&self) -> Moment {
            Moment::from_millis(self.now.load(Ordering::Relaxed))
        }

        async fn until(&self, moment: Moment) -> io::Result<()> {
            self.waits.fetch_add(1, Ordering::Relaxed);
            self.now.store(moment.millis(), Ordering::Relaxed);
            Ok(())
        }
    }

    #[derive(Parser)]
    struct Output {
        #[command(flatten)]
        flags: OutputFlags,
    }

    #[tokio::test]
    async fn what_fails_is_tried_again_when_it_is_due_and_a_signal_ends_that() {
        let folder = tempfile::tempdir().unwrap();
        let kept = directory::open(folder.path(), None).unwrap();
        let given = Given {
            dir: Some(folder.path().to_owned()),
            starts: vec!["http://127.0.0.1:1/".to_owned()],
            added: Vec::new(),
            layers: Layers::new().file_text("f", "[schedule]\nevery = \"6h\""),
            auth: None,
            output: Output::parse_from(["webloom"]).flags,
            revisit: Revisit::KnownFirst,
            most: NonZeroU64::new(5),
        };
        let time = Leaping::default();
        let (stop, stops) = watch::channel(None);
        let outside = |stops| {
            let (orders, receiver) = mpsc::channel(1);
            (orders, Outside { stop: signals::stopped_by(stops), orders: receiver, time: &time })
        };
        let (_orders, first) = outside(stops.clone());
        assert_eq!(Box::pin(run(given.clone(), Among::default(), first)).await, 2, "the directory is in use");
        assert_eq!(time.now.load(Ordering::Relaxed), 4 * 6 * HOUR, "five tries");
        stop.send(Some(15)).unwrap();
        let (_orders, second) = outside(stops);
        assert_eq!(Box::pin(run(given, Among::default(), second)).await, 143);
        assert_eq!(time.waits.load(Ordering::Relaxed), 4);
        drop(kept);
    }
}
