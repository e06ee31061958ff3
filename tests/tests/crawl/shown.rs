//! The page for people at `/` of the management port.

use std::{
    io::{BufRead, BufReader, Write},
    net::{SocketAddr, TcpStream},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use rustix::process::Signal;
use webloom_tests::{
    server::Reply,
    webloom::{Webloom, assert_clean},
};

use crate::{
    Folder,
    monitored::{free, get, until},
    serve,
};

/// Reads events from the port until one holds a text; the event.
fn event_with(port: SocketAddr, text: &str) -> String {
    let mut stream = TcpStream::connect(port).expect("it listens");
    stream.set_read_timeout(Some(Duration::from_secs(20))).expect("a time is set");
    write!(stream, "GET /events HTTP/1.1\r\nhost: {port}\r\naccept: text/event-stream\r\n\r\n").expect("it reads");
    let mut lines = BufReader::new(stream).lines().map(|line| line.expect("it sends text"));
    let began = Instant::now();
    loop {
        let line = lines.next().expect("events come for a while");
        if line.starts_with("data: ") && line.contains(text) {
            return line;
        }
        assert!(began.elapsed() < Duration::from_secs(20), "no event with {text:?}");
    }
}

#[test]
fn the_page_says_what_crawls_do_and_keeps_up_to_date() {
    let version = Arc::new(AtomicUsize::new(0));
    let now = Arc::clone(&version);
    let server = serve(move |asked| match asked.target.as_str() {
        "/" => Reply::links(["/page", "/a?<script>alert(1)</script>", "http://127.0.0.2:1/dead"]),
        "/robots.txt" => Reply::status(404),
        _ => Reply::html(format!("<p>version {}</p>", now.load(Ordering::SeqCst))),
    });
    let (port, folder) = (free(), Folder::new());
    let arguments = ["--every", "1s", "--scope", "any", "--allow-private", "127.0.0.2", "--delay", "0", "--json", "-d"];
    let watch = Webloom::new(["watch", "-q", &server.url("/"), "--listen", &port.to_string()]).args(arguments);
    let watch = watch.args([folder.crawl()]).env("WEBLOOM_POLITENESS_GIVE_UP", "100ms");
    let watch = watch.env("WEBLOOM_CHANGE_MASS_SHARE", "1").spawn();
    until("it listens", || TcpStream::connect(port).is_ok());
    until("a host does not answer", || get(port, "/", "").text.contains("http://127.0.0.2:1</td>"));
    let page = get(port, "/", "");
    let head = page.head.to_ascii_lowercase();
    assert!(page.status == 200 && head.contains("content-type: text/html; charset=utf-8"), "{head}");
    assert!(head.contains("content-security-policy: default-src 'none'"), "{head}");
    assert!(
        page.text.contains("1 crawl: all is well") && page.text.contains("<dt>loss budget</dt><dd>0.5</dd>"),
        "{page:?}"
    );
    let before = event_with(port, "Last changes").contains("/page</a>");
    assert!(!before, "nothing has changed yet");
    version.store(1, Ordering::SeqCst);
    let event = event_with(port, "changed text");
    assert!(event.contains(&format!("{}</a>", server.url("/page"))), "{event}");
    assert!(event.contains("%3Cscript%3E") && !event.contains("<script"), "{event}");
    event_with(port, "Share of the time in which copies were as their pages");
    // All that it loads is here.
    for (path, kind) in [("page.css", "text/css"), ("page.js", "text/javascript")] {
        let loaded = get(port, &format!("/{path}"), "");
        assert!(
            page.text.contains(&format!("\"{path}\"")) && loaded.status == 200 && loaded.head.contains(kind),
            "{loaded:?}"
        );
        assert!(!loaded.text.contains("http"), "{loaded:?}");
    }
    assert_eq!(page.text.matches("src=").count(), 1, "{page:?}");
    watch.signal(Signal::TERM);
    watch.wait().expect(143);
    assert_clean(&folder.crawl());
}
