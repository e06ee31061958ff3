//! The sequence before the next: one that was stopped or killed is resumed first.

use super::{Caller, CommandFailure, EndedSession, Round, Session, SessionFetcher, directory};
use crate::{
    clock::Clock,
    engine::{RunEnd, StopSignal},
};

impl<C: Caller> Session<C> {
    /// Where the next sequence is to begin, and the last one has not come to its end: resumes that. How it ended, unless it is complete
    /// and the next can begin.
    pub(super) async fn resume_first(
        &mut self,
        clock: Clock,
        stop: &StopSignal,
    ) -> Result<Option<EndedSession<SessionFetcher<C>>>, CommandFailure> {
        if !self.round.begins() {
            return Ok(None);
        }
        self.check()?;
        let directory = directory::open(&self.dir, self.lock.as_ref())?;
        self.lock = Some(directory.lock());
        let Some(last) = directory.last_sequence()? else {
            // It was killed before its crawl was there: the first sequence is the next.
            self.round = Round::GoOn;
            return Ok(None);
        };
        if last.is_over() {
            return Ok(None);
        }
        let (dir, number) = (self.dir.display(), last.number);
        if !self.may_go_on(directory.settings()?.as_deref())? {
            let why = "is not finished, and these settings would widen its scope: resume it first, without them and without --again";
            return Err(CommandFailure::Usage(format!("{dir}: sequence {number} {why}: `webloom crawl -d {dir}`")));
        }
        drop(directory);
        let next = number + 1;
        self.caller
            .note(&format!("{dir}: sequence {number} is not finished: it is resumed, then sequence {next} begins"));
        let first = Self { round: Round::GoOn, ..self.clone() };
        let ended = Box::pin(first.crawl(clock, stop.clone())).await?;
        let why = match ended.end {
            RunEnd::Drained => {
                self.dir = ended.lock.directory()?;
                self.caller.has_ended(&self.dir, ended.end)?;
                (self.lock, self.announced) = (Some(ended.lock), true);
                return Ok(None);
            }
            // Another one follows it anyway.
            RunEnd::Restart | RunEnd::Aged { .. } => return Ok(Some(ended)),
            RunEnd::Signal(_) => "was stopped by a signal",
            RunEnd::Budget => "has reached a budget",
            RunEnd::Unreachable => "waits for hosts that do not answer",
            RunEnd::Loss => "was stopped by the loss policy",
            RunEnd::Failed => "gave no page",
        };
        self.caller.tell(&format!("{dir}: sequence {next} does not begin: sequence {number} {why}"));
        Ok(Some(ended))
    }
}
