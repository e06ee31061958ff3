//! [`Exchange`]: what the connector must know of its request, and what it reports back.
//!
//! The client's hooks see a name (the resolver) or nothing (a connector layer), not the request. Both run inside the request's own task, so
//! the request leaves a note there: whose host is trusted, at which port, and which addresses it is pinned to. The hooks note when the
//! connection was made, and how long that took. A resolver that finds no note refuses.

use std::cell::Cell;
use std::net::IpAddr;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::time::{Instant, sleep_until};
use tower_layer::Layer;
use tower_service::Service;

use crate::fetch::Phase;
use crate::fetch::address::Trust;

tokio::task_local! {
    static EXCHANGE: Exchange;
}

/// One request under way.
pub(super) struct Exchange {
    aim: Aim,
    stage: Cell<Stage>,
    steps: Cell<Steps>,
}

/// Where a request may go.
#[derive(Clone)]
pub(super) struct Aim {
    pub(super) trust: Trust,
    pub(super) port: u16,
    /// The only addresses, instead of a look-up.
    pub(super) pinned: Option<Arc<[IpAddr]>>,
    /// Whether it goes through a proxy: the only name that is looked up is the proxy's.
    pub(super) proxied: bool,
}

/// How long it took until a request could be sent.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Steps {
    pub(super) look_up: Option<Duration>,
    /// Without the look-up, with TLS: the layer sees both as one.
    pub(super) connect: Option<Duration>,
}

/// How an exchange went.
pub(super) struct Course {
    pub(super) connection: Connection,
    /// Of the connection that was made for it, if one was.
    pub(super) steps: Steps,
}

/// How long a request may take.
#[derive(Clone, Copy)]
pub(super) struct Patience {
    started: Instant,
    connect: Duration,
    first_byte: Duration,
    end: Instant,
}

/// A connector layer that notes when connecting begins and ends.
#[derive(Clone, Copy)]
pub(super) struct Watch;

/// A connector under [`Watch`].
#[derive(Clone)]
pub(super) struct Watched<S>(S);

#[derive(Clone, Copy)]
enum Stage {
    /// A pooled connection is used, or connecting has not begun.
    Started,
    Connecting(Instant),
    Connected(Instant),
}

/// Which connection a request went over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Connection {
    /// One that was made for it, or was to be.
    Fresh,
    /// One that an earlier request left open.
    Reused,
    /// One was still being made. Whatever was sent went over one that an earlier request left open and that became free
    /// meanwhile.
    Awaited,
}

/// Awaits an answer; `Err` says what took too long. Connecting has its own limit in the client and does not count
/// towards the first byte.
pub(super) async fn in_time<T>(
    exchange: Exchange,
    patience: Patience,
    answer: impl Future<Output = T>,
) -> (Result<T, Phase>, Course) {
    let waiting = async {
        let answer = patience.wait_for(answer).await;
        (answer, EXCHANGE.with(Exchange::course))
    };
    EXCHANGE.scope(exchange, waiting).await
}

/// Where the request that this task works for may go.
pub(super) fn aim() -> Option<Aim> {
    EXCHANGE.try_with(|exchange| exchange.aim.clone()).ok()
}

/// The name was looked up, which took so long.
pub(super) fn note_look_up(took: Duration) {
    note(|exchange| exchange.steps.set(Steps { look_up: Some(took), ..exchange.steps.get() }));
}

impl Exchange {
    pub(super) fn new(aim: Aim) -> Self {
        Self { aim, stage: Cell::new(Stage::Started), steps: Cell::default() }
    }

    fn course(&self) -> Course {
        let connection = match self.stage.get() {
            Stage::Started => Connection::Reused,
            Stage::Connecting(_) => Connection::Awaited,
            Stage::Connected(_) => Connection::Fresh,
        };
        Course { connection, steps: self.steps.get() }
    }

    fn connected(&self, since: Instant) {
        let (now, steps) = (Instant::now(), self.steps.get());
        let connect = (now - since).saturating_sub(steps.look_up.unwrap_or_default());
        self.steps.set(Steps { connect: Some(connect), ..steps });
        self.stage.set(Stage::Connected(now));
    }
}

impl Patience {
    /// So long for connecting, for the first byte after that, and for everything.
    pub(super) fn new(started: Instant, connect: Duration, first_byte: Duration, total: Duration) -> Self {
        Self { started, connect, first_byte, end: after(started, total) }
    }

    /// When the request must be over.
    pub(super) fn end(&self) -> Instant {
        self.end
    }

    pub(super) fn elapsed(&self) -> Duration {
        self.started.elapsed()
    }

    async fn wait_for<T>(&self, answer: impl Future<Output = T>) -> Result<T, Phase> {
        let mut answer = pin!(answer);
        let mut alarm = pin!(sleep_until(self.due(self.started)));
        loop {
            tokio::select! {
                biased;
                answer = &mut answer => return Ok(answer),
                () = &mut alarm => alarm.as_mut().reset(self.look(Instant::now())?),
            }
        }
    }

    /// When to look whether there is an answer, counting from `since`.
    fn due(&self, since: Instant) -> Instant {
        after(since, self.first_byte).min(self.end)
    }

    /// The alarm has gone off: when to look again, or what took too long. While connecting goes on, the first byte is
    /// due at the earliest its whole time from now.
    fn look(&self, now: Instant) -> Result<Instant, Phase> {
        if now >= self.end {
            return Err(Phase::Total);
        }
        let due = match EXCHANGE.with(|exchange| exchange.stage.get()) {
            Stage::Started => self.due(self.started),
            // Longer than connecting may take, it is not what is waited for.
            Stage::Connecting(at) => self.due(now.min(after(at, self.connect))),
            Stage::Connected(at) => self.due(at),
        };
        if due <= now { Err(Phase::FirstByte) } else { Ok(due) }
    }
}

/// A moment so far ahead that nothing waits for it takes the place of one beyond the clock's range.
fn after(moment: Instant, wait: Duration) -> Instant {
    const FOR_EVER: Duration = Duration::from_hours(10 * 365 * 24);
    moment + wait.min(FOR_EVER)
}

fn note(what: impl FnOnce(&Exchange)) {
    // A connection that lost the race against a pooled one is finished in a task of its own, where nobody asks.
    let _ = EXCHANGE.try_with(what);
}

impl<S> Layer<S> for Watch {
    type Service = Watched<S>;

    fn layer(&self, inner: S) -> Watched<S> {
        Watched(inner)
    }
}

impl<S, R> Service<R> for Watched<S>
where
    S: Service<R>,
    S::Future: Send + 'static,
{
    type Response = S::Response;
    type Error = S::Error;
    type Future = Pin<Box<dyn Future<Output = Result<S::Response, S::Error>> + Send>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.0.poll_ready(cx)
    }

    fn call(&mut self, target: R) -> Self::Future {
        let connecting = self.0.call(target);
        Box::pin(async move {
            let began = Instant::now();
            note(|exchange| exchange.stage.set(Stage::Connecting(began)));
            let connected = connecting.await;
            note(|exchange| exchange.connected(began));
            connected
        })
    }
}
