//! How many requests reached a server, and how long the steps took.

use super::server::{plain, send};
use super::*;

/// What came of a request, and how many were sent for it.
async fn count(fetcher: &HttpFetcher, url: &str) -> (String, u64) {
    let result = fetcher.fetch(request(url)).await;
    let requests = result.as_ref().map_or_else(|failure| failure.requests, |response| response.requests);
    (name(&result).to_owned(), requests)
}

/// The same of one server that does this with every connection.
async fn counted(acts: Vec<Act>) -> (String, u64) {
    let server = Server::start(vec![acts]).await;
    let counted = count(&fetcher(settings(), FixedNames::default()), &server.url("/")).await;
    assert_eq!(server.requests().len() as u64, counted.1, "{counted:?}");
    counted
}

#[tokio::test]
async fn a_request_that_was_read_counts_once() {
    assert_eq!(counted(vec![plain("200 OK", "", b"page")]).await, ("a response".into(), 1));
    assert_eq!(counted(vec![plain("503 Busy", "", b"")]).await, ("a response".into(), 1));
    assert_eq!(counted(vec![]).await, ("closed".into(), 1));
    assert_eq!(counted(vec![send("SSH-2.0-OpenSSH_9.2\r\n\r\n")]).await, ("protocol".into(), 1));
    let broken = send("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n");
    assert_eq!(counted(vec![broken]).await, ("closed".into(), 1));
    assert_eq!(counted(vec![plain("200 OK", "Content-Encoding: br\r\n", b"no brotli")]).await, ("decode".into(), 1));
}

#[tokio::test]
async fn a_request_without_a_connection_counts_nothing() {
    let gone = tokio::net::TcpSocket::new_v4().unwrap();
    gone.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let mut settings = settings();
    settings.connect_timeout = Duration::from_millis(50);
    settings.total_timeout = Duration::from_millis(100);
    let fetcher = fetcher(settings, FixedNames::default());
    let refused = count(&fetcher, &format!("http://{}/", gone.local_addr().unwrap())).await;
    assert_eq!(refused, ("refused".into(), 0));
    assert_eq!(count(&fetcher, "http://unknown.test/").await, ("no_name".into(), 0));
    assert_eq!(count(&fetcher, "http://hanging.test/").await, ("timeout".into(), 0));
    assert_eq!(count(&fetcher, "http://10.0.0.1/").await, ("address".into(), 0));
    let long = format!("http://127.0.0.1/{}", "x".repeat(70_000));
    assert_eq!(count(&fetcher, &long).await, ("protocol".into(), 0));
    let no_tls = Server::start(vec![vec![plain("400 Bad Request", "", b"https, please")]]).await;
    assert_eq!(count(&fetcher, &no_tls.url("/").replace("http://", "https://")).await, ("tls".into(), 0));
}

#[tokio::test]
async fn a_request_that_nobody_answers_in_time_counts_if_it_was_sent() {
    let server = Server::start(vec![vec![Act::Hold]]).await;
    let mut impatient = settings();
    impatient.first_byte_timeout = Duration::from_millis(100);
    assert_eq!(count(&fetcher(impatient, FixedNames::default()), &server.url("/")).await, ("timeout".into(), 1));
    // The limit of the whole request ends while a name is looked up.
    let mut hasty = settings();
    hasty.total_timeout = Duration::from_millis(100);
    assert_eq!(count(&fetcher(hasty, FixedNames::default()), "http://hanging.test/").await, ("timeout".into(), 0));
    // It ends while an answer is awaited on a kept connection.
    let server = Server::start(vec![vec![plain("200 OK", "", b"page"), Act::Next, Act::Hold]]).await;
    let mut hasty = settings();
    hasty.total_timeout = Duration::from_millis(200);
    let hasty = fetcher(hasty, FixedNames::default());
    assert_eq!(count(&hasty, &server.url("/")).await, ("a response".into(), 1));
    assert_eq!((count(&hasty, &server.url("/")).await, server.connections()), (("timeout".into(), 1), 1));
}

#[tokio::test]
async fn a_request_sent_again_counts_as_often_as_it_may_have_been_read() {
    let page = || plain("200 OK", "", b"page");
    let resent = |script: Vec<Act>| async {
        let server = Server::start(vec![script, vec![page(), Act::Next]]).await;
        let fetcher = fetcher(settings(), FixedNames::default());
        assert_eq!(count(&fetcher, &server.url("/")).await, ("a response".into(), 1));
        let again = count(&fetcher, &server.url("/")).await;
        assert_eq!((again.0, server.connections()), ("a response".into(), 2));
        (again.1, server.requests().len())
    };
    assert_eq!(resent(vec![page(), Act::Next]).await, (2, 3), "it was read, and the connection ended in silence");
    assert_eq!(resent(vec![page(), Act::CloseOnNext]).await, (1, 2), "nobody read it: the connection was reset");
}

#[tokio::test]
async fn a_request_sent_again_in_vain_counts_too() {
    let server = Server::start(vec![vec![plain("200 OK", "", b"page"), Act::Next], vec![]]).await;
    let fetcher = fetcher(settings(), FixedNames::default());
    assert_eq!(count(&fetcher, &server.url("/")).await, ("a response".into(), 1));
    assert_eq!(count(&fetcher, &server.url("/")).await, ("closed".into(), 2));
    assert_eq!(server.requests().len(), 3);
}

#[tokio::test]
async fn each_step_of_connecting_has_its_time() {
    let script = || vec![std::iter::repeat_n([plain("200 OK", "", b""), Act::Next], 3).flatten().collect()];
    let server = Server::start(script()).await;
    let names = FixedNames(HashMap::from([("named.test", vec![server.address().ip()])]));
    let fetcher = fetcher(settings(), names);
    let url = format!("http://named.test:{}/", server.address().port());
    let first = fetcher.fetch(request(&url)).await.unwrap();
    assert_eq!(first.final_url.as_str(), url);
    let first = first.timings;
    assert!(first.look_up.is_some() && first.connect.is_some_and(|took| took > Duration::ZERO) && first.tls.is_none());
    assert!(first.look_up.unwrap() + first.connect.unwrap() <= first.first_byte && first.first_byte <= first.total);
    let kept = fetcher.fetch(request(&url)).await.unwrap().timings;
    assert_eq!((kept.look_up, kept.connect, kept.tls), (None, None, None));
    let literal = fetcher.fetch(request(&server.url("/"))).await.unwrap().timings;
    assert!(literal.look_up.is_none() && literal.connect.is_some());
}
