//! [`Heartbeat`]: tells somebody outside after each sequence of a watch that it was run.
//!
//! Invariant: nothing waits for it but the end of the watch.

use std::time::Duration;

use tokio::{task::JoinHandle, time::timeout};

use crate::{fetch::http, url::WebUrl};

/// How long the end of a watch waits: a container that is to stop has ten seconds.
const PATIENCE: Duration = Duration::from_secs(8);

const LATE: &str = "the heartbeat did not arrive in time (schedule.heartbeat)";

/// The last that was sent, until it has arrived.
#[derive(Debug, Default)]
pub(crate) struct Heartbeat(Option<JoinHandle<()>>);

impl Heartbeat {
    /// Asks for a URL. If the last time has not come to an end yet, it is given up.
    pub(crate) fn send(&mut self, url: WebUrl, agent: String) {
        self.give_up();
        self.0 = Some(tokio::spawn(async move {
            if let Err(error) = http::tell(&url, &agent).await {
                tracing::warn!(%error, "cannot send the heartbeat (schedule.heartbeat)");
            }
        }));
    }

    /// Until it has arrived, for a while.
    pub(crate) async fn arrive(&mut self) {
        // It says itself what goes wrong.
        if let Some(mut sending) = self.0.take()
            && timeout(PATIENCE, &mut sending).await.is_err()
        {
            sending.abort();
            tracing::warn!("{LATE}");
        }
    }

    fn give_up(&mut self) {
        if let Some(sending) = self.0.take().filter(|sending| !sending.is_finished()) {
            sending.abort();
            tracing::warn!("{LATE}");
        }
    }
}
