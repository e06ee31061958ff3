//! [`PracticeServer`]: a practice site on a loopback port, with an access log.
//!
//! A POST to `/next-version` changes the site, one to `/outage` closes the port for [`OUTAGE`]. So a reader can do by hand what the demo
//! does. Nothing else depends on the method, and neither POST is in the log.

use std::{
    collections::HashMap,
    convert::Infallible,
    io::{self, Write},
    net::{Ipv4Addr, SocketAddr},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU32, Ordering},
    },
    time::{Duration, Instant},
};

use flate2::{Compression, write::GzEncoder};
use http_body_util::Full;
use hyper::{
    HeaderMap, Method, Request as HttpRequest, Response,
    body::{Bytes, Incoming},
    header,
    server::conn::http1,
    service::service_fn,
};
use hyper_util::rt::TokioIo;
use tokio::{
    net::{TcpListener, TcpStream},
    sync::{mpsc, oneshot, watch},
    task::{JoinHandle, JoinSet},
};

use super::{Answer, Coding, PracticeSite};

/// For how long the port is closed by a POST to `/outage`.
pub const OUTAGE: Duration = Duration::from_secs(2);

/// Time between two attempts to open the port again.
const REOPEN: Duration = Duration::from_millis(20);

/// A practice site served on `127.0.0.1`, at a free port, with keep-alive. Dropping it stops it.
///
/// ```
/// use webloom_practice::{PracticeServer, PracticeSite, Shape};
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
    /// In its first version.
    site: PracticeSite,
    version: AtomicU32,
    outages: mpsc::Sender<Duration>,
    log: Mutex<Vec<Request>>,
    logged: watch::Sender<usize>,
}

impl PracticeServer {
    /// Serves `site` at a free port; its origin becomes the server's.
    ///
    /// # Errors
    /// When no port can be had.
    pub async fn start(site: PracticeSite) -> io::Result<Self> {
        Self::start_at(site, (Ipv4Addr::LOCALHOST, 0).into()).await
    }

    /// The same at this address.
    ///
    /// # Errors
    /// When the address cannot be had.
    pub async fn start_at(site: PracticeSite, address: SocketAddr) -> io::Result<Self> {
        let listener = TcpListener::bind(address).await?;
        let address = listener.local_addr()?;
        let (outages, ordered) = mpsc::channel(1);
        let shared = Arc::new(Shared {
            version: AtomicU32::new(site.version()),
            site: site.at(&format!("http://{address}")),
            outages,
            log: Mutex::default(),
            logged: watch::Sender::default(),
        });
        let (stop, stopped) = oneshot::channel();
        let port = Port { listener, address, shared: Arc::clone(&shared) };
        let accepting = tokio::spawn(port.accept(stopped, ordered));
        Ok(Self { address, shared, stop: Some(stop), accepting })
    }

    /// `http://127.0.0.1:PORT/`.
    pub fn url(&self) -> String {
        format!("http://{}/", self.address)
    }

    /// The address of the port.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The site as it is now, at this server's origin.
    pub fn site(&self) -> PracticeSite {
        self.shared.now()
    }

    /// Serves the next version of the site from now on.
    pub fn next_version(&self) {
        self.shared.next_version();
    }

    /// Closes the port and every connection for so long; whoever connects meanwhile is refused. While an outage waits to begin,
    /// no other is taken.
    pub fn go_down(&self, length: Duration) {
        self.shared.go_down(length);
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

    /// The site in the version that is served.
    fn now(&self) -> PracticeSite {
        self.site.clone().in_version(self.version.load(Ordering::Relaxed))
    }

    fn next_version(&self) {
        self.version.fetch_add(1, Ordering::Relaxed);
    }

    fn go_down(&self, length: Duration) {
        // One that waits already is as good.
        self.outages.try_send(length).unwrap_or_default();
    }

    /// Does what a POST asks for, if it is one of the two.
    fn obey(&self, request: &HttpRequest<Incoming>) -> Option<Response<Full<Bytes>>> {
        let done = match (request.method(), request.uri().path()) {
            (&Method::POST, "/next-version") => {
                self.next_version();
                format!("this is version {} of the site\n", self.now().version())
            }
            (&Method::POST, "/outage") => {
                self.go_down(OUTAGE);
                format!("the port is closed for {} s\n", OUTAGE.as_secs())
            }
            _ => return None,
        };
        Some(Response::new(Full::from(done)))
    }

    fn respond(&self, connection: u64, request: &HttpRequest<Incoming>) -> Response<Full<Bytes>> {
        if let Some(done) = self.obey(request) {
            return done;
        }
        let at = Instant::now();
        let path = request.uri().path_and_query().map_or("/", |path| path.as_str());
        let (status, response) = written(self.now().answer(path), request.headers());
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

/// An open port.
struct Port {
    listener: TcpListener,
    address: SocketAddr,
    shared: Arc<Shared>,
}

impl Port {
    /// Takes connections until it is asked to stop; dropping the set ends those that are open.
    async fn accept(mut self, mut stopped: oneshot::Receiver<()>, mut outages: mpsc::Receiver<Duration>) {
        let mut connections = JoinSet::new();
        for number in 0.. {
            tokio::select! {
                _ = &mut stopped => break,
                Some(length) = outages.recv() => {
                    drop(self.listener);
                    connections.shutdown().await;
                    tokio::select! {
                        _ = &mut stopped => break,
                        listener = reopened(self.address, length) => self.listener = listener,
                    }
                }
                accepted = self.listener.accept() => match accepted {
                    Ok((stream, _)) => drop(connections.spawn(serve(stream, number, Arc::clone(&self.shared)))),
                    // One client's broken handshake, or no descriptor left: the next connection may do better.
                    Err(_) => tokio::task::yield_now().await,
                },
            }
            while connections.try_join_next().is_some() {}
        }
    }
}

/// The port again, after so long.
async fn reopened(address: SocketAddr, length: Duration) -> TcpListener {
    tokio::time::sleep(length).await;
    loop {
        match TcpListener::bind(address).await {
            Ok(listener) => return listener,
            // Somebody else had it meanwhile.
            Err(_) => tokio::time::sleep(REOPEN).await,
        }
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
    use crate::Shape;

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
    async fn changes_and_goes_down_when_it_is_asked_to() {
        let server = PracticeServer::start(PracticeSite::new(Shape::demo())).await.unwrap();
        let address = server.address();
        let ordered = blocking(move || {
            let mut connection = BufReader::new(net::TcpStream::connect(address).unwrap());
            write!(connection.get_mut(), "POST /next-version HTTP/1.1\r\nhost: practice\r\n\r\n").unwrap();
            let mut status = String::new();
            connection.read_line(&mut status).unwrap();
            status
        });
        assert_eq!(ordered.await, "HTTP/1.1 200 OK\r\n");
        assert!(server.site().version() == 2 && server.log().is_empty());
        let kept = TcpStream::connect(address).await.unwrap();
        server.go_down(Duration::from_millis(50));
        kept.readable().await.unwrap();
        assert!(!kept.try_read(&mut [0; 1]).is_ok_and(|bytes| bytes > 0), "it is closed");
        assert!(TcpStream::connect(address).await.is_err(), "nothing listens");
        while TcpStream::connect(address).await.is_err() {
            tokio::task::yield_now().await;
        }
        server.stop().await;
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
