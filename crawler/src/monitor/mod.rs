//! What somebody sees of the program who looks at it from outside: whether watched crawls are on time, and the management port.
//!
//! Owns: the port (`--listen`), its thread, what it answers, and the metrics.
//!
//! Invariants: what is asked at the port changes nothing; it is open to this machine alone, or to whoever has the token.
//!
//! Does not know: when a crawl is due, and how it is run.

mod answers;
mod heartbeat;
mod metrics;
mod on_time;
mod page;
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
    heartbeat::Heartbeat,
    on_time::OnTime,
    roster::{Roster, Seat},
    timings::Timed,
};

use self::answers::Port;
use crate::session::CommandFailure;

/// The variable with the token.
const TOKEN: &str = "WEBLOOM_LISTEN_TOKEN";

/// The crawls of this process; whoever asks at the address sees them, if one is given.
///
/// # Errors
/// When others could reach the port and there is no token, the token is none, or nothing can listen there.
pub(crate) fn listen(address: Option<&str>) -> Result<Roster, CommandFailure> {
    let Some(address) = address.filter(|address| !address.is_empty()) else { return Ok(Roster::default()) };
    let refused = |why: &str| CommandFailure::Usage(format!("--listen {address}: {why}"));
    let address: SocketAddr =
        address.parse().map_err(|_| refused("give an address and a port, such as 127.0.0.1:9464"))?;
    let token = token()?;
    if token.is_none() && !address.ip().is_loopback() {
        let why = "other machines could reach it: set a secret of your choice in";
        return Err(refused(&format!("{why} {TOKEN}, or listen at 127.0.0.1")));
    }
    let cannot = |error: std::io::Error| refused(&error.to_string());
    let listener = TcpListener::bind(address).map_err(cannot)?;
    listener.set_nonblocking(true).map_err(cannot)?;
    let roster = Roster::watched();
    let port = Port::new(roster.clone(), token.as_deref());
    // A thread of its own: it answers also while the crawl reads a large table, or hangs.
    std::thread::Builder::new().name("port".to_owned()).spawn(|| answer(listener, port)).map_err(cannot)?;
    Ok(roster)
}

/// The token, if one is set.
fn token() -> Result<Option<String>, CommandFailure> {
    let Some(token) = std::env::var_os(TOKEN).filter(|token| !token.is_empty()) else { return Ok(None) };
    let token = token.into_string().ok().filter(|token| token.bytes().all(|byte| byte.is_ascii_graphic()));
    // A header can hold no other.
    token
        .map(Some)
        .ok_or_else(|| CommandFailure::Usage(format!("{TOKEN}: give visible characters of ASCII, without spaces")))
}

/// Answers until the process ends.
fn answer(listener: TcpListener, port: Port) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let served = runtime.map(|runtime| {
        runtime.block_on(async {
            let Ok(listener) = tokio::net::TcpListener::from_std(listener) else { return None };
            Some(server::serve(listener, Arc::new(port)).await)
        })
    });
    let Ok(Some(never)) = served else {
        return tracing::error!("the management port does not answer: the system gives no runtime");
    };
    match never {}
}
