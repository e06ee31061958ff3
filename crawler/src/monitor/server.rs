//! A small HTTP server: answers requests for pages that are made in memory.
//!
//! Invariants: whoever connects cannot keep others away: of too many connections the oldest is closed; a request has little time and few
//! bytes; a connection answers one request.
//!
//! Does not know: what the pages are.

use std::{collections::VecDeque, convert::Infallible, io, sync::Arc, time::Duration};

use http_body_util::combinators::UnsyncBoxBody;
use hyper::{
    Request, Response,
    body::{Bytes, Incoming},
    server::conn::http1,
    service::service_fn,
};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::{
    net::{TcpListener, TcpStream},
    task::JoinHandle,
    time::timeout,
};

use crate::observe::process;

/// Connections that are open at once, and the share of the files that the process may have open: the crawl needs the others.
const MOST_CONNECTIONS: u64 = 64;
const SHARE_OF_FILES: u64 = 16;

/// The time that a client has to say what it wants.
const REQUEST_TIME: Duration = Duration::from_secs(5);

/// The time until a connection is closed, whatever it does.
const WHOLE_TIME: Duration = Duration::from_mins(1);

/// Bytes of the head of a request.
const LONGEST_HEAD: usize = 16 * 1024;

/// The body of an answer, which may come piece by piece.
pub(crate) type PortBody = UnsyncBoxBody<Bytes, Infallible>;

/// What answers requests.
pub(crate) trait AnswersRequests: Send + Sync + 'static {
    /// The answer to a request.
    fn answer(&self, request: Request<Incoming>) -> impl Future<Output = Response<PortBody>> + Send;
}

/// Serves until it is dropped.
pub(super) async fn serve<A: AnswersRequests>(listener: TcpListener, answers: Arc<A>) -> Infallible {
    let files = process::most_open_files().unwrap_or(u64::MAX);
    let most = (files / SHARE_OF_FILES).clamp(1, MOST_CONNECTIONS);
    let mut open = VecDeque::new();
    loop {
        let stream = match listener.accept().await {
            Ok((stream, _)) => stream,
            Err(error) => {
                pause_after(&error).await;
                continue;
            }
        };
        open.retain(|connection: &JoinHandle<()>| !connection.is_finished());
        if open.len() as u64 >= most
            && let Some(oldest) = open.pop_front()
        {
            oldest.abort();
        }
        open.push_back(tokio::spawn(connection(stream, Arc::clone(&answers))));
    }
}

/// Where there are no descriptors left, the next moment may have some.
async fn pause_after(error: &io::Error) {
    tracing::debug!(%error, "cannot accept a connection");
    tokio::time::sleep(Duration::from_millis(100)).await;
}

async fn connection<A: AnswersRequests>(stream: TcpStream, answers: Arc<A>) {
    let service = service_fn(|request| {
        let answers = Arc::clone(&answers);
        async move { Ok::<_, Infallible>(answers.answer(request).await) }
    });
    let served = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(REQUEST_TIME)
        .keep_alive(false)
        .max_buf_size(LONGEST_HEAD)
        .serve_connection(TokioIo::new(stream), service);
    // Whoever speaks no HTTP, or goes away, is no matter of ours.
    let _ = timeout(WHOLE_TIME, served).await;
}
