//! A scriptable HTTP server on a loopback address: friendly, odd or hostile, and judged by its log.
//!
//! Owns: reading requests, writing [`Reply`]s to the byte, and the log with times. Invariant: a request is in the log
//! before a byte of its answer is sent, and its end is noted before the last byte goes; so the pause between two lines
//! is never longer than the one that the client kept.
//!
//! Does not know: who asks.

use std::{
    io::{self, BufRead, BufReader, Read, Write},
    net::{IpAddr, SocketAddr, TcpListener, TcpStream},
    sync::{
        Arc, Condvar, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

/// A server on a free port of a loopback address; dropping it closes the port.
///
/// ```
/// use webloom_tests::server::{Reply, Server};
/// let server = Server::start("127.0.0.1", |asked| match asked.target.as_str() {
///     "/" => Reply::html("<a href=/a>a</a>"),
///     _ => Reply::status(404),
/// })?;
/// assert!(server.url("/a").starts_with("http://127.0.0.1:"));
/// assert!(server.log().is_empty());
/// # std::io::Result::Ok(())
/// ```
#[derive(Debug)]
pub struct Server {
    address: SocketAddr,
    shared: Arc<Shared>,
}

/// A request, as a script sees it.
#[derive(Debug, Clone)]
pub struct Asked {
    /// `GET` or `HEAD`.
    pub method: String,
    /// Path and query as sent.
    pub target: String,
    /// How often this target was asked for before.
    pub before: usize,
    /// Header lines as sent.
    pub headers: Vec<String>,
}

/// A line of the log.
#[derive(Debug, Clone)]
pub struct Hit {
    /// `GET` or `HEAD`.
    pub method: String,
    /// Path and query as sent.
    pub target: String,
    /// Header lines as sent.
    pub headers: Vec<String>,
    /// When the request had been read.
    pub began: Instant,
    /// When the last byte of the answer was about to be sent; `None` before that.
    pub ended: Option<Instant>,
}

/// Writes an answer by hand.
pub type Script = Box<dyn FnOnce(&mut TcpStream) -> io::Result<()> + Send>;

/// What is answered.
pub enum Reply {
    /// Status, header lines and a body of the stated length; the connection stays open.
    Whole(u16, Vec<String>, Vec<u8>),
    /// These bytes and nothing else, then the end of the connection.
    Raw(Vec<u8>),
    /// Whatever this writes, then the end of the connection.
    Script(Script),
}

/// The first byte of a client that speaks TLS. It has no line to wait for, and is refused at once.
const TLS_HANDSHAKE: u8 = 0x16;

type Answering = dyn Fn(&Asked) -> Reply + Send + Sync;

struct Shared {
    answer: Box<Answering>,
    log: Mutex<Vec<Hit>>,
    logged: Condvar,
    stopped: AtomicBool,
}

impl std::fmt::Debug for Shared {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Shared").field("log", &self.log).finish_non_exhaustive()
    }
}

impl Reply {
    /// A page in UTF-8.
    pub fn html(body: impl AsRef<str>) -> Self {
        Self::Whole(200, vec!["content-type: text/html; charset=utf-8".to_owned()], body.as_ref().into())
    }

    /// A page that links to these.
    pub fn links<S: AsRef<str>>(targets: impl IntoIterator<Item = S>) -> Self {
        let anchors = targets.into_iter().map(|target| format!("<a href=\"{}\">x</a>\n", target.as_ref()));
        Self::html(anchors.collect::<String>())
    }

    /// Plain text, such as robots.txt.
    pub fn text(body: impl AsRef<str>) -> Self {
        Self::Whole(200, vec!["content-type: text/plain".to_owned()], body.as_ref().into())
    }

    /// A status without a body.
    pub fn status(status: u16) -> Self {
        Self::Whole(status, Vec::new(), Vec::new())
    }

    /// A redirect.
    pub fn redirect(status: u16, to: impl AsRef<str>) -> Self {
        Self::status(status).header(format!("location: {}", to.as_ref()))
    }

    /// The end of the connection, without a word.
    pub fn hang_up() -> Self {
        Self::Raw(Vec::new())
    }

    /// The same with one more header line; of what is no whole answer nothing is changed.
    #[must_use]
    pub fn header(mut self, line: impl Into<String>) -> Self {
        if let Self::Whole(_, headers, _) = &mut self {
            headers.push(line.into());
        }
        self
    }
}

impl Server {
    /// Answers on a free port of `address` as `answer` says.
    ///
    /// # Errors
    /// When no port can be had.
    ///
    /// # Panics
    /// When `address` is none.
    pub fn start(address: &str, answer: impl Fn(&Asked) -> Reply + Send + Sync + 'static) -> io::Result<Self> {
        let address: IpAddr = address.parse().expect("an IP address");
        Self::start_at((address, 0).into(), answer)
    }

    /// Answers at this address.
    ///
    /// # Errors
    /// When it cannot be had.
    pub fn start_at(address: SocketAddr, answer: impl Fn(&Asked) -> Reply + Send + Sync + 'static) -> io::Result<Self> {
        let listener = TcpListener::bind(address)?;
        let shared = Arc::new(Shared {
            answer: Box::new(answer),
            log: Mutex::default(),
            logged: Condvar::new(),
            stopped: AtomicBool::new(false),
        });
        let (address, accepting) = (listener.local_addr()?, Arc::clone(&shared));
        thread::spawn(move || accept(&listener, &accepting));
        Ok(Self { address, shared })
    }

    /// The address of a path on it.
    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// Its port.
    pub fn port(&self) -> u16 {
        self.address.port()
    }

    /// All requests so far, in the order of arrival.
    pub fn log(&self) -> Vec<Hit> {
        self.shared.log().clone()
    }

    /// What was asked for, in the order of arrival.
    pub fn targets(&self) -> Vec<String> {
        self.log().into_iter().map(|hit| hit.target).collect()
    }

    /// How often a target was asked for.
    pub fn count(&self, target: &str) -> usize {
        self.shared.log().iter().filter(|hit| hit.target == target).count()
    }

    /// Waits until a target has been asked for so often.
    ///
    /// # Panics
    /// When that has not come to pass after 30 s.
    pub fn wait_for(&self, target: &str, times: usize) {
        let enough = |log: &mut Vec<Hit>| log.iter().filter(|hit| hit.target == target).count() < times;
        let waited = self.shared.logged.wait_timeout_while(self.shared.log(), Duration::from_secs(30), enough);
        let (log, timeout) = waited.unwrap_or_else(PoisonError::into_inner);
        drop(log);
        assert!(!timeout.timed_out(), "{target} was not asked for {times} times");
    }

    /// Waits until a page has been asked for after so many requests.
    ///
    /// # Panics
    /// When that has not come to pass after 30 s.
    pub fn wait_for_more(&self, than: usize) {
        let none = |log: &mut Vec<Hit>| log.iter().skip(than).all(|hit| hit.target == "/robots.txt");
        let waited = self.shared.logged.wait_timeout_while(self.shared.log(), Duration::from_secs(30), none);
        let (log, timeout) = waited.unwrap_or_else(PoisonError::into_inner);
        drop(log);
        assert!(!timeout.timed_out(), "no page was asked for");
    }

    /// Waits until nothing has been asked for so long.
    ///
    /// # Panics
    /// When that has not come to pass after 30 s.
    pub fn wait_for_silence(&self, span: Duration) {
        let began = Instant::now();
        let mut log = self.shared.log();
        loop {
            let before = log.len();
            let quiet = |log: &mut Vec<Hit>| log.len() == before;
            let waited = self.shared.logged.wait_timeout_while(log, span, quiet);
            let (now, timeout) = waited.unwrap_or_else(PoisonError::into_inner);
            if timeout.timed_out() {
                return;
            }
            log = now;
            assert!(began.elapsed() < Duration::from_secs(30), "it is asked again and again");
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.shared.stopped.store(true, Ordering::SeqCst);
        // Wakes the accepting thread, which then sees that it is over; one that cannot be reached has gone already.
        drop(TcpStream::connect(self.address));
    }
}

impl Shared {
    fn log(&self) -> MutexGuard<'_, Vec<Hit>> {
        self.log.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Writes a request into the log; its number there, and what the script gets to know.
    fn note(&self, Request { method, target, headers }: Request) -> (usize, Asked) {
        let mut log = self.log();
        let before = log.iter().filter(|hit| hit.target == target).count();
        log.push(Hit {
            method: method.clone(),
            target: target.clone(),
            headers: headers.clone(),
            began: Instant::now(),
            ended: None,
        });
        self.logged.notify_all();
        (log.len() - 1, Asked { method, target, before, headers })
    }

    fn end(&self, number: usize) {
        self.log()[number].ended = Some(Instant::now());
    }
}

fn accept(listener: &TcpListener, shared: &Arc<Shared>) {
    for stream in listener.incoming() {
        if shared.stopped.load(Ordering::SeqCst) {
            break;
        }
        let shared = Arc::clone(shared);
        // A client that goes away in the middle is no fault of the server's.
        thread::spawn(move || stream.and_then(|stream| serve(stream, &shared)));
    }
}

fn serve(stream: TcpStream, shared: &Shared) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let mut reader = BufReader::new(stream);
    if reader.fill_buf()?.first() == Some(&TLS_HANDSHAKE) {
        return reader.get_mut().write_all(b"HTTP/1.1 400 Not TLS\r\nconnection: close\r\n\r\n");
    }
    while let Some(request) = request(&mut reader)? {
        let (number, asked) = shared.note(request);
        let reply = (shared.answer)(&asked);
        let stream = reader.get_mut();
        match reply {
            Reply::Whole(status, headers, body) => {
                shared.end(number);
                stream.write_all(&whole(status, &headers, &body, asked.method != "HEAD"))?;
            }
            Reply::Raw(bytes) => {
                shared.end(number);
                return stream.write_all(&bytes);
            }
            Reply::Script(script) => {
                let written = script(stream);
                shared.end(number);
                return written;
            }
        }
    }
    Ok(())
}

/// A request as it was read.
struct Request {
    method: String,
    target: String,
    headers: Vec<String>,
}

/// The next request; `None` at the end of the connection.
fn request(reader: &mut impl BufRead) -> io::Result<Option<Request>> {
    let mut lines = Vec::new();
    loop {
        let mut line = String::new();
        if reader.by_ref().take(1 << 16).read_line(&mut line)? == 0 {
            return Ok(None);
        }
        match line.trim_end() {
            "" => break,
            line => lines.push(line.to_owned()),
        }
    }
    let headers = lines.split_off(1.min(lines.len()));
    let mut words = lines.first().map(String::as_str).unwrap_or_default().split(' ').map(str::to_owned);
    let [method, target] = [words.next(), words.next()].map(Option::unwrap_or_default);
    Ok(Some(Request { method, target, headers }))
}

fn whole(status: u16, headers: &[String], body: &[u8], has_body: bool) -> Vec<u8> {
    let mut lines = headers.join("\r\n");
    lines += if headers.is_empty() { "" } else { "\r\n" };
    let head = format!("HTTP/1.1 {status} Test\r\n{lines}content-length: {}\r\n\r\n", body.len());
    [head.as_bytes(), if has_body { body } else { b"" }].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_as_scripted_and_logs_it() {
        let server = Server::start("127.0.0.1", |asked| match asked.before {
            0 => Reply::text("first").header("x-a: b"),
            _ => Reply::Raw(b"rest".to_vec()),
        })
        .unwrap();
        let mut stream = TcpStream::connect(server.address).unwrap();
        stream.write_all(b"GET /a HTTP/1.1\r\nhost: h\r\n\r\nGET /a HTTP/1.1\r\n\r\n").unwrap();
        let mut answers = String::new();
        stream.read_to_string(&mut answers).unwrap();
        assert!(answers.starts_with("HTTP/1.1 200 Test\r\ncontent-type: text/plain\r\nx-a: b\r\n"), "{answers}");
        assert!(answers.ends_with("\r\n\r\nfirstrest"), "{answers}");
        assert_eq!(server.targets(), ["/a", "/a"]);
        assert_eq!(server.log()[0].headers, ["host: h"]);
        server.wait_for("/a", 2);
    }

    #[test]
    fn refuses_tls_without_a_word_in_its_log() {
        let server = Server::start("127.0.0.1", |_| Reply::status(200)).unwrap();
        let mut stream = TcpStream::connect(server.address).unwrap();
        stream.write_all(&[TLS_HANDSHAKE, 3, 1]).unwrap();
        let mut answer = Vec::new();
        // What the server left unread makes the end of the connection an abrupt one.
        drop(stream.read_to_end(&mut answer));
        assert!(server.log().is_empty());
    }
}
