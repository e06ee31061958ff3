//! [`Alarm`]: waits for a time of the wall clock.

use std::{io, os::fd::OwnedFd};

use rustix::{
    io::Errno,
    time::{Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create, timerfd_settime},
};
use tokio::io::unix::AsyncFd;

use crate::time::Moment;

/// Wakes when the wall clock shows a moment, and when somebody has set it: also after the machine was suspended. (The timers of
/// the runtime count steady time, which stops in suspend and knows nothing of a clock that is set.)
#[derive(Debug)]
pub struct Alarm(AsyncFd<OwnedFd>);

impl Alarm {
    /// An alarm; to be made within a runtime.
    ///
    /// # Errors
    /// When the system gives no timer.
    pub fn new() -> io::Result<Self> {
        let timer = timerfd_create(TimerfdClockId::Realtime, TimerfdFlags::NONBLOCK | TimerfdFlags::CLOEXEC)?;
        #[expect(
            deprecated,
            reason = "an owned descriptor stays open and the same, which its unsafe successor has one promise"
        )]
        let registered = AsyncFd::new(timer)?;
        Ok(Self(registered))
    }

    /// Until a moment has come, or the clock was set: whoever waits looks at the clock again.
    ///
    /// # Errors
    /// When the system refuses.
    pub async fn until(&self, moment: Moment) -> io::Result<()> {
        match self.set(moment) {
            // The clock was set since the alarm was last waited for.
            Err(Errno::CANCELED) => return Ok(()),
            set => set?,
        }
        loop {
            let mut ready = self.0.readable().await?;
            match rustix::io::read(self.0.get_ref(), &mut [0_u8; 8]) {
                // It was another setting that had woken it.
                Err(Errno::AGAIN) => ready.clear_ready(),
                Ok(_) | Err(Errno::CANCELED) => {
                    ready.clear_ready();
                    return Ok(());
                }
                Err(error) => return Err(error.into()),
            }
        }
    }

    fn set(&self, moment: Moment) -> rustix::io::Result<()> {
        let millis = i64::try_from(moment.millis()).unwrap_or(i64::MAX);
        // Nothing at all would stop the timer.
        let nanos = millis % 1000 * 1_000_000 + i64::from(millis == 0);
        let it_value = Timespec { tv_sec: millis / 1000, tv_nsec: nanos };
        let it_interval = Timespec { tv_sec: 0, tv_nsec: 0 };
        let flags = TimerfdTimerFlags::ABSTIME | TimerfdTimerFlags::CANCEL_ON_SET;
        timerfd_settime(self.0.get_ref(), flags, &Itimerspec { it_interval, it_value })?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::clock::Clock;

    #[tokio::test]
    async fn wakes_when_the_moment_has_come_and_not_before() {
        let (alarm, clock) = (Alarm::new().unwrap(), Clock::start());
        for pause in [30, 0, 10] {
            let moment = clock.now() + Duration::from_millis(pause);
            alarm.until(moment).await.unwrap();
            // Both clocks are read, and may be adjusted a little meanwhile.
            assert!(Clock::start().now() + Duration::from_millis(5) >= moment);
        }
        for past in [Moment::EPOCH, clock.now() - Duration::from_secs(1)] {
            alarm.until(past).await.unwrap();
        }
    }

    #[tokio::test]
    async fn can_be_set_anew_before_it_rings() {
        let (alarm, clock) = (Alarm::new().unwrap(), Clock::start());
        tokio::select! {
            _ = alarm.until(clock.now() + Duration::from_hours(24)) => panic!("a day has not passed"),
            () = tokio::task::yield_now() => {}
        }
        alarm.until(clock.now() + Duration::from_millis(5)).await.unwrap();
    }
}
