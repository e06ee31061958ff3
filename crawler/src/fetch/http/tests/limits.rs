//! Time limits, connections that fail, invalid answers. Limits that are reached are short; limits that must not be
//! reached are long.

use tokio::net::{TcpSocket, TcpStream};

use super::server::{plain, send};
use super::*;
use crate::fetch::{Phase, Truncation};

const SHORT: Duration = Duration::from_millis(100);

/// One fetch of one answer with changed settings.
async fn fetch_with(change: impl FnOnce(&mut FetchSettings), acts: Vec<Act>) -> Result<FetchResponse, FetchFailure> {
    let server = Server::start(vec![acts]).await;
    let mut settings = settings();
    change(&mut settings);
    fetcher(settings, FixedNames::default()).fetch(request(&server.url("/"))).await
}

fn phase(result: &Result<FetchResponse, FetchFailure>) -> Option<Phase> {
    match result {
        Err(FetchFailure { error: FetchError::TimedOut(phase), .. }) => Some(*phase),
        _ => None,
    }
}

#[tokio::test]
async fn silence_ends_at_the_first_byte() {
    let short = |settings: &mut FetchSettings| settings.first_byte_timeout = SHORT;
    assert_eq!(phase(&fetch_with(short, vec![Act::Hold]).await), Some(Phase::FirstByte));
    let half = vec![send("HTTP/1.1 200 OK\r\nX-Half: "), Act::Drip("x", SHORT / 20)];
    assert_eq!(phase(&fetch_with(short, half).await), Some(Phase::FirstByte));
    let total = |settings: &mut FetchSettings| settings.total_timeout = SHORT;
    assert_eq!(phase(&fetch_with(total, vec![Act::Hold]).await), Some(Phase::Total));
}

#[tokio::test]
async fn a_body_that_drips_is_cut_and_kept() {
    let drip = || vec![send("HTTP/1.1 200 OK\r\n\r\nstart"), Act::Drip("x", SHORT / 20)];
    let total = |settings: &mut FetchSettings| {
        settings.first_byte_timeout = SHORT * 100;
        settings.total_timeout = SHORT * 2;
    };
    let response = fetch_with(total, drip()).await.unwrap();
    assert_eq!((response.status, response.truncated), (200, Some(Truncation::Time)));
    assert!(response.body.starts_with(b"start"));
    let patient = |settings: &mut FetchSettings| {
        settings.first_byte_timeout = SHORT;
        settings.total_timeout = SHORT * 3;
    };
    let response = fetch_with(patient, drip()).await.unwrap();
    assert!(response.timings.total >= SHORT * 3, "the limit of the first byte ends with it");
}

#[tokio::test]
async fn a_success_without_a_byte_of_its_body_is_no_answer() {
    let total = |settings: &mut FetchSettings| settings.total_timeout = SHORT * 2;
    let promised = |status| vec![send(&format!("HTTP/1.1 {status} OK\r\nContent-Length: 9\r\n\r\n")), Act::Hold];
    assert_eq!(phase(&fetch_with(total, promised(200)).await), Some(Phase::Body));
    let response = fetch_with(total, promised(404)).await.unwrap();
    assert_eq!((response.status, response.truncated), (404, Some(Truncation::Time)));
}

#[tokio::test]
async fn a_connection_that_does_not_come_has_its_own_limit() {
    let mut impatient = settings();
    impatient.connect_timeout = SHORT;
    let fetcher = fetcher(impatient, FixedNames::default());
    let hanging = fetcher.fetch(request("http://hanging.test/")).await;
    assert_eq!(phase(&hanging), Some(Phase::Connect), "no name server answers");
    let (full, _queue) = full_listener().await;
    let full = fetcher.fetch(request(&format!("http://{full}/"))).await;
    assert_eq!(phase(&full), Some(Phase::Connect), "no server accepts");
}

/// The address of a listener whose queue of connections is full: the kernel answers no further one.
async fn full_listener() -> (std::net::SocketAddr, impl Drop) {
    struct Queue(#[expect(dead_code, reason = "held, not read")] tokio::net::TcpListener, Vec<TcpStream>);
    impl Drop for Queue {
        fn drop(&mut self) {
            self.1.clear();
        }
    }
    let socket = TcpSocket::new_v4().unwrap();
    socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let listener = socket.listen(1).unwrap();
    let address = listener.local_addr().unwrap();
    let mut queue = Vec::new();
    while let Ok(Ok(stream)) = tokio::time::timeout(SHORT * 3, TcpStream::connect(address)).await {
        queue.push(stream);
    }
    (address, Queue(listener, queue))
}

#[tokio::test]
async fn the_time_to_connect_does_not_count_towards_the_first_byte() {
    /// Answers after a while.
    struct Slow(IpAddr);
    impl Resolver for Slow {
        fn resolve(&self, _: &str) -> Resolving {
            let found = vec![self.0];
            Box::pin(async move {
                tokio::time::sleep(SHORT * 3).await;
                Ok(HostAddresses::of(found))
            })
        }
    }
    let server = Server::start(vec![vec![plain("200 OK", "", b"page")]]).await;
    let mut settings = settings();
    settings.first_byte_timeout = SHORT;
    let fetcher = HttpFetcher::new(settings, Arc::new(Slow(server.address().ip()))).unwrap();
    let url = format!("http://slow.test:{}/", server.address().port());
    assert_eq!(fetcher.fetch(request(&url)).await.unwrap().body, b"page");
}

#[tokio::test]
async fn a_server_that_is_not_there_or_goes_away_is_named() {
    let gone = TcpSocket::new_v4().unwrap();
    gone.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let url = format!("http://{}/", gone.local_addr().unwrap());
    let refused = fetcher(settings(), FixedNames::default()).fetch(request(&url)).await;
    assert_eq!(name(&refused), "refused");
    assert!(refused.unwrap_err().to_string().contains("refused"));
    assert_eq!(name(&fetch(vec![]).await), "closed");
    assert_eq!(name(&fetch(vec![Act::Reset]).await), "closed");
    assert_eq!(name(&fetch(vec![send("HTTP/1.1 200 OK\r\nX-Half: ")]).await), "closed");
}

#[tokio::test]
async fn a_connection_closed_while_idle_is_replaced() {
    let once = vec![plain("200 OK", "", b"page")];
    let server = Server::start(vec![once]).await;
    let fetcher = fetcher(settings(), FixedNames::default());
    for _ in 0..5 {
        // The close and the next request cross at times: a request on a dying connection may fail, and is not repeated
        // behind our back.
        let result = fetcher.fetch(request(&server.url("/"))).await;
        assert!(matches!(name(&result), "a response" | "closed"), "{result:?}");
    }
    assert!(server.connections() >= 3);
}

#[tokio::test]
async fn what_is_not_http_is_named() {
    for nonsense in ["SSH-2.0-OpenSSH_9.2\r\n\r\n", "HTTP/1.1 abc\r\n\r\n", "<html>no head</html>\r\n\r\n"] {
        assert_eq!(name(&fetch(vec![send(nonsense)]).await), "protocol", "{nonsense}");
    }
    let endless = vec![send("HTTP/1.1 200 OK\r\n"), Act::Flood(b"X-More: and more and more\r\n".to_vec())];
    assert_eq!(name(&fetch(endless).await), "protocol");
    let long = vec![send("HTTP/1.1 200 OK\r\nX-Long: "), Act::Flood(vec![b'x'; 4096])];
    assert_eq!(name(&fetch(long).await), "protocol");
}

#[tokio::test]
async fn a_server_that_speaks_no_tls_is_named() {
    let server = Server::start(vec![vec![plain("400 Bad Request", "", b"https, please")]]).await;
    let url = server.url("/").replace("http://", "https://");
    let result = fetcher(settings(), FixedNames::default()).fetch(request(&url)).await;
    assert_eq!(name(&result), "tls", "{result:?}");
    let closed = Server::start(vec![vec![]]).await;
    let url = closed.url("/").replace("http://", "https://");
    let result = fetcher(settings(), FixedNames::default()).fetch(request(&url)).await;
    assert_eq!(name(&result), "connect", "{result:?}");
}

#[tokio::test]
async fn a_url_too_long_for_a_request_is_named() {
    let url = format!("http://127.0.0.1/{}", "x".repeat(70_000));
    let result = fetcher(settings(), FixedNames::default()).fetch(request(&url)).await;
    assert_eq!(name(&result), "protocol", "{result:?}");
}
