//! [`PracticeServer`]: a practice site on a loopback port, with an access log.

use std::{
    collections::HashMap,
    convert::Infallible,
    io::{self, Write},
    net::{Ipv4Addr, SocketAddr},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Instant,
};

use flate2::{Compression, write::GzEncoder};
use http_body_util::Full;
use hyper::{
    HeaderMap, Request as HttpRequest, Response,
    body::{Bytes, Incoming},
    header,
    server::conn::http1,
    service::service_fn,
};
use hyper_util::rt::TokioIo;
use tokio::{
    net::{TcpListener, TcpStream},
    sync::{oneshot, watch},
    task::{JoinHandle, JoinSet},
};

use super::{Answer, Coding, PracticeSite};

/// A practice site served on `127.0.0.1`, at a free port, with keep-alive. Dropping it stops it.
///
/// ```
/// use webloom::practice::{PracticeServer, PracticeSite, Shape};
/// # let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
/// # runtime.block_on(async {
/// let server = PracticeServer::start(PracticeSite::new(Shape::demo())).await?;
/// assert!(server.url().starts_with("http://127.0.0.1:"));
/// assert!(server.log().is_empty());
/// server.stop().await;
/// # std::io::Result::Ok(())
/// # })?;
/// # std::io::Result::Ok(())
/// ```
#[derive(Debug)]
pub struct PracticeServer {
    address: SocketAddr,
    shared: Arc<Shared>,
    stop: Option<oneshot::Sender<()>>,
    accepting: JoinHandle<()>,
}

/// One line of the access log: a request that was answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// When it arrived.
    pub at: Instant,
    /// Which connection it came over, counted from 0: equal numbers were kept alive.
    pub connection: u64,
    /// The method.
    pub method: String,
    /// The request target: path, and query where there was one.
    pub path: String,
    /// Request headers by lower-case name; of a repeated one, the last.
    pub headers: HashMap<String, String>,
    /// The status it was answered with.
    pub status: u16,
    /// Bytes of the body as sent.
    pub bytes: usize,
}

#[derive(Debug)]
struct Shared {
    site: PracticeSite,
    log: Mutex<Vec<Request>>,
    logged: watch::Sender<usize>,
}

impl PracticeServer {
    /// Serves `site`, whose origin becomes the server's.
    ///
    /// # Errors
    /// When no loopback port can be had.
    pub async fn start(site: PracticeSite) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let address = listener.local_addr()?;
        let shared = Arc::new(Shared {
            site: site.at(&format!("http://{address}")),
            log: Mutex::default(),
            logged: watch::Sender::default(),
        });
        let (stop, stopped) = oneshot::channel();
        let accepting = tokio::spawn(accept(listener, Arc::clone(&shared), stopped));
        Ok(Self { address, shared, stop: Some(stop), accepting })
    }

    /// `http://127.0.0.1:PORT/`.
    pub fn url(&self) -> String {
        format!("http://{}/", self.address)
    }

    /// The site, at this server's origin.
    pub fn site(&self) -> &PracticeSite {
        &self.shared.site
    }

    /// All requests so far, in the order of arrival. One whose answer a client has read is in it.
    pub fn log(&self) -> Vec<Request> {
        self.shared.lock_log().clone()
    }

    /// Waits until the log has so many lines.
    pub async fn logged(&self, lines: usize) {
        let mut logged = self.shared.logged.subscribe();
        logged.wait_for(|logged| *logged >= lines).await.expect("the sender is ours");
    }

    /// Closes the port and every connection.
    pub async fn stop(mut self) {
        drop(self.stop.take());
        // A panic of the accepting task has been printed where it happened; there is nothing left to close then.
        drop((&mut self.accepting).await);
    }
}

impl Drop for PracticeServer {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

impl Shared {
    fn lock_log(&self) -> MutexGuard<'_, Vec<Request>> {
        self.log.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn respond(&self, connection: u64, request: &HttpRequest<Incoming>) -> Response<Full<Bytes>> {
        let at = Instant::now();
        let path = request.uri().path_and_query().map_or("/", |path| path.as_str());
        let (status, response) = written(self.site.answer(path), request.headers());
        let bytes = response.body().as_ref().len();
        let log = Request {
            at,
            connection,
            method: request.method().to_string(),
            path: path.to_owned(),
            headers: texts(request.headers()),
            status,
            bytes,
        };
        let mut lines = self.lock_log();
        lines.push(log);
        self.logged.send_replace(lines.len());
        drop(lines);
        response.map(Full::new)
    }
}

/// Takes connections until told to stop; dropping the set ends those that are open.
async fn accept(listener: TcpListener, shared: Arc<Shared>, mut stopped: oneshot::Receiver<()>) {
    let mut connections = JoinSet::new();
    for number in 0.. {
        tokio::select! {
            _ = &mut stopped => break,
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => drop(connections.spawn(serve(stream, number, Arc::clone(&shared)))),
                // One client's broken handshake, or no descriptor left: the next connection may do better.
                Err(_) => tokio::task::yield_now().await,
            },
        }
        while connections.try_join_next().is_some() {}
    }
}

async fn serve(stream: TcpStream, number: u64, shared: Arc<Shared>) {
    let service = service_fn(|request| {
        let response = shared.respond(number, &request);
        async { Ok::<_, Infallible>(response) }
    });
    // A client that goes away in the middle is no fault of the site's.
    drop(http1::Builder::new().serve_connection(TokioIo::new(stream), service).await);
}

fn written(answer: Answer, asked: &HeaderMap) -> (u16, Response<Bytes>) {
    let gzip = answer.coding == Coding::GzipIfAccepted && accepts_gzip(asked);
    let mut response = Response::builder().status(answer.status);
    for (name, value) in &answer.headers {
        response = response.header(*name, value);
    }
    let body = if gzip {
        response = response.header(header::CONTENT_ENCODING, "gzip");
        gzipped(&answer.body)
    } else {
        answer.body
    };
    (answer.status, response.body(Bytes::from(body)).expect("the site's own headers are valid"))
}

fn accepts_gzip(asked: &HeaderMap) -> bool {
    let accepted = asked.get(header::ACCEPT_ENCODING).and_then(|value| value.to_str().ok()).unwrap_or_default();
    accepted.split(',').any(|coding| coding.trim() == "gzip" || coding.trim().starts_with("gzip;"))
}

fn gzipped(body: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(body).and_then(|()| encoder.finish()).expect("writing to memory cannot fail")
}

fn texts(headers: &HeaderMap) -> HashMap<String, String> {
    let text = |value: &header::HeaderValue| String::from_utf8_lossy(value.as_bytes()).into_owned();
    headers.iter().map(|(name, value)| (name.as_str().to_owned(), text(value))).collect()
}

#[cfg(test)]
mod tests {
    use std::{
        io::{BufRead, BufReader, Read},
        net,
    };

    use super::*;
    use crate::practice::Shape;

    /// Status and body of a request over a connection that stays open.
    fn ask(connection: &mut BufReader<net::TcpStream>, path: &str, header: &str) -> (String, Vec<u8>) {
        write!(connection.get_mut(), "GET {path} HTTP/1.1\r\nhost: practice\r\n{header}\r\n").unwrap();
        let (mut status, mut length) = (String::new(), 0);
        connection.read_line(&mut status).unwrap();
        for line in connection.by_ref().lines().map(|line| line.unwrap().to_ascii_lowercase()) {
            match line.strip_prefix("content-length: ") {
                Some(value) => length = value.parse().unwrap(),
                None if line.is_empty() => break,
                None => {}
            }
        }
        let mut body = vec![0; length];
        connection.read_exact(&mut body).unwrap();
        (status.trim().to_owned(), body)
    }

    async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
        tokio::task::spawn_blocking(work).await.unwrap()
    }

    #[tokio::test]
    async fn answers_over_one_connection_and_logs_it() {
        let server = PracticeServer::start(PracticeSite::new(Shape::demo())).await.unwrap();
        let address = server.address;
        let answers = blocking(move || {
            let mut connection = BufReader::new(net::TcpStream::connect(address).unwrap());
            ["/", "/found/list?", "/gone/1"].map(|path| ask(&mut connection, path, "user-agent: tester\r\n"))
        })
        .await;
        assert_eq!(answers[0], ("HTTP/1.1 200 OK".to_owned(), server.site().answer("/").body));
        assert_eq!(answers[2].0, "HTTP/1.1 410 Gone");
        let log = server.log();
        let lines: Vec<_> = log.iter().map(|line| (line.connection, line.path.as_str(), line.status)).collect();
        assert_eq!(lines, [(0, "/", 200), (0, "/found/list?", 200), (0, "/gone/1", 410)]);
        assert_eq!(log[0].headers["user-agent"], "tester");
        server.stop().await;
        assert!(blocking(move || net::TcpStream::connect(address)).await.is_err());
    }

    #[tokio::test]
    async fn compresses_where_that_is_accepted() {
        let server = PracticeServer::start(PracticeSite::new(Shape::demo())).await.unwrap();
        let address = server.address;
        let (plain, packed) = blocking(move || {
            let mut connection = BufReader::new(net::TcpStream::connect(address).unwrap());
            let plain = ask(&mut connection, "/hub", "accept-encoding: gzipped, br\r\n").1;
            (plain, ask(&mut connection, "/hub", "accept-encoding: br, gzip\r\n").1)
        })
        .await;
        assert!(packed.len() < plain.len() / 3);
        let mut unpacked = Vec::new();
        flate2::read::GzDecoder::new(&packed[..]).read_to_end(&mut unpacked).unwrap();
        assert_eq!(unpacked, plain);
    }
}
