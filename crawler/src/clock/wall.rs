//! [`WallTime`]: reads the time of day, and waits for it.

use std::io;

use super::{Alarm, Clock};
use crate::time::Moment;

/// The time of day. It may be set, and goes on while the machine sleeps.
pub trait WallTime: Send {
    /// What it is now.
    fn now(&self) -> Moment;

    /// Until a moment has come, or the clock was set: whoever waits looks at the clock again.
    ///
    /// # Errors
    /// When the system refuses.
    fn until(&self, moment: Moment) -> impl Future<Output = io::Result<()>> + Send;
}

/// The system's.
#[derive(Debug)]
pub struct SystemWall(Alarm);

impl SystemWall {
    /// The time of day; to be made within a runtime.
    ///
    /// # Errors
    /// When the system gives no timer.
    pub fn new() -> io::Result<Self> {
        Alarm::new().map(Self)
    }
}

impl WallTime for SystemWall {
    fn now(&self) -> Moment {
        // Whatever a clock that was started before has counted.
        Clock::start().started()
    }

    fn until(&self, moment: Moment) -> impl Future<Output = io::Result<()>> + Send {
        self.0.until(moment)
    }
}
