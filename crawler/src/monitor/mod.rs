//! What somebody sees of the program who looks at it from outside: whether watched crawls are on time, and the management port.
//!
//! Owns: the port (`--listen`), its thread, what it answers, and the metrics.
//!
//! Invariants: what is asked at the port changes nothing; it is open to this machine alone, or to whoever has the token.
//!
//! Does not know: when a crawl is due, and how it is run.

mod access;
mod answers;
mod heartbeat;
mod metrics;
mod on_time;
pub(crate) mod page;
mod readings;
mod roster;
mod server;
pub(crate) mod state_file;
mod timings;

use std::{
    net::{SocketAddr, TcpListener},
    sync::Arc,
};

pub(crate) use self::{
    access::PortAccess,
    heartbeat::Heartbeat,
    on_time::OnTime,
    roster::{Roster, Seat},
    server::{AnswersRequests, PortBody},
    timings::Timed,
};

use self::answers::Port;
use crate::session::CommandFailure;

/// The crawls of this process; whoever asks at the address sees them, if one is given.
///
/// # Errors
/// When others could reach the port and there is no token, the token is none, or nothing can listen there.
pub(crate) fn listen(address: Option<&str>) -> Result<Roster, CommandFailure> {
    let Some(address) = address.filter(|address| !address.is_empty()) else { return Ok(Roster::default()) };
    let bound = bind(address)?;
    let roster = Roster::watched();
    let port = Port::new(roster.clone(), bound.access.clone());
    let cannot = |error: std::io::Error| refused(address, &error.to_string());
    // A thread of its own: it answers also while the crawl reads a large table, or hangs.
    std::thread::Builder::new().name("port".to_owned()).spawn(|| bound.answer(port)).map_err(cannot)?;
    Ok(roster)
}

fn refused(address: &str, why: &str) -> CommandFailure {
    CommandFailure::Usage(format!("--listen {address}: {why}"))
}

/// A port that is open, and who may see what it shows.
#[derive(Debug)]
pub(crate) struct BoundPort {
    listener: TcpListener,
    pub(crate) access: PortAccess,
}

/// Listens at an address.
///
/// # Errors
/// When others could reach the port and there is no token, the token is none, or nothing can listen there.
pub(crate) fn bind(given: &str) -> Result<BoundPort, CommandFailure> {
    let why = "give an address and a port, such as 127.0.0.1:9464";
    let address: SocketAddr = given.parse().map_err(|_| refused(given, why))?;
    let token = access::token()?;
    if token.is_none() && !address.ip().is_loopback() {
        let why = "other machines could reach it: set a secret of your choice in";
        return Err(refused(given, &format!("{why} {}, or listen at 127.0.0.1", access::TOKEN)));
    }
    let cannot = |error: std::io::Error| refused(given, &error.to_string());
    let listener = TcpListener::bind(address).map_err(cannot)?;
    listener.set_nonblocking(true).map_err(cannot)?;
    Ok(BoundPort { listener, access: PortAccess::new(token.as_deref()) })
}

impl BoundPort {
    /// Where it listens.
    pub(crate) fn address(&self) -> String {
        self.listener.local_addr().map(|address| address.to_string()).unwrap_or_default()
    }

    /// Answers until the process ends.
    pub(crate) fn answer(self, answers: impl AnswersRequests) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let served = runtime.map(|runtime| {
            runtime.block_on(async {
                let Ok(listener) = tokio::net::TcpListener::from_std(self.listener) else { return None };
                Some(server::serve(listener, Arc::new(answers)).await)
            })
        });
        let Ok(Some(never)) = served else {
            return tracing::error!("the port does not answer: the system gives no runtime");
        };
        match never {}
    }
}
