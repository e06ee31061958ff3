//! Proxies: what goes through them, and whose fault they are.

use std::{
    io::{self, BufRead, BufReader, Read, Write},
    net::{TcpListener, TcpStream},
    sync::{Arc, Mutex},
    thread,
    time::Duration,
};

use anyhow::Result;
use serde_json::Value;
use webloom_tests::{
    server::{Asked, Reply, Server},
    webloom::{Webloom, assert_clean},
};

use crate::{Folder, assert_counts, secure::Site, serve};

/// `bob:s3cret`.
const LOGIN: &str = "proxy-authorization: basic ym9ionmzy3jlda==";

/// A proxy for HTTP, or for SOCKS of version 5, that brings each request to one server; what it was asked for, in lower case.
struct Proxy {
    port: u16,
    asked: Arc<Mutex<Vec<String>>>,
}

impl Proxy {
    fn start(to: &Server, answer: fn(TcpStream, &str, &Mutex<Vec<String>>) -> io::Result<()>) -> Self {
        Self::start_to(format!("127.0.0.1:{}", to.port()), answer)
    }

    /// One that brings what is meant for port 443 to the second of two servers.
    fn start_to(to: String, answer: fn(TcpStream, &str, &Mutex<Vec<String>>) -> io::Result<()>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
        let port = listener.local_addr().expect("it has an address").port();
        let asked = Arc::<Mutex<Vec<String>>>::default();
        let log = Arc::clone(&asked);
        thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let (log, to) = (Arc::clone(&log), to.clone());
                // A client that goes away is none of a test's business.
                thread::spawn(move || answer(client, &to, &log));
            }
        });
        Self { port, asked }
    }

    fn asked(&self) -> Vec<String> {
        self.asked.lock().expect("nobody panics with it").clone()
    }
}

/// Answers one request of HTTP, for whoever has the password.
fn http(client: TcpStream, to: &str, log: &Mutex<Vec<String>>) -> io::Result<()> {
    let mut reader = BufReader::new(client.try_clone()?);
    let (mut head, mut line) = (String::new(), String::new());
    while reader.read_line(&mut line)? > 2 {
        head += &std::mem::take(&mut line);
    }
    log.lock().expect("nobody panics with it").push(head.to_ascii_lowercase());
    let mut client = client;
    if !head.to_ascii_lowercase().contains(LOGIN) {
        return client.write_all(b"HTTP/1.1 407 No\r\nconnection: close\r\ncontent-length: 0\r\n\r\n");
    }
    // `GET http://host/path HTTP/1.1`
    let path = head.split(' ').nth(1).and_then(|url| url.splitn(4, '/').nth(3)).unwrap_or_default().to_owned();
    let mut server = TcpStream::connect(to)?;
    write!(server, "GET /{path} HTTP/1.1\r\nhost: behind\r\nconnection: close\r\n\r\n")?;
    server.set_read_timeout(Some(Duration::from_millis(300)))?;
    let mut answer = Vec::new();
    drop(server.read_to_end(&mut answer));
    client.write_all(&String::from_utf8_lossy(&answer).replacen("\r\n", "\r\nconnection: close\r\n", 1).into_bytes())
}

/// Makes one connection, to whatever name; none to port 443 of one that begins with `plain`.
fn socks(mut client: TcpStream, to: &str, log: &Mutex<Vec<String>>) -> io::Result<()> {
    let mut two = [0; 2];
    client.read_exact(&mut two)?;
    io::copy(&mut (&mut client).take(two[1].into()), &mut io::sink())?;
    client.write_all(&[5, 0])?;
    let mut head = [0; 5];
    client.read_exact(&mut head)?;
    let mut name = vec![0; usize::from(head[4]) + 2];
    client.read_exact(&mut name)?;
    let is_secure = name.split_off(head[4].into()) == 443_u16.to_be_bytes();
    log.lock().expect("nobody panics with it").push(String::from_utf8_lossy(&name).into_owned());
    if is_secure && name.starts_with(b"plain") {
        return client.write_all(&[5, 5, 0, 1, 0, 0, 0, 0, 0, 0]);
    }
    client.write_all(&[5, 0, 0, 1, 127, 0, 0, 1, 0, 80])?;
    let server = TcpStream::connect(to.split(' ').nth(is_secure.into()).unwrap_or(to))?;
    let (mut from, mut into) = (client.try_clone()?, server.try_clone()?);
    thread::spawn(move || io::copy(&mut from, &mut into));
    io::copy(&mut &server, &mut &client).map(drop)
}

fn site() -> Server {
    serve(|asked: &Asked| match asked.target.as_str() {
        "/robots.txt" => Reply::status(404),
        "/" => Reply::links(["/a", "/b"]),
        _ => Reply::html("x"),
    })
}

#[test]
fn every_request_goes_through_a_proxy_that_looks_names_up_itself() {
    let server = site();
    let (by_http, by_socks) = (Proxy::start(&server, http), Proxy::start(&server, socks));
    for (proxy, url) in [
        (&by_http, format!("http://bob:s3cret@127.0.0.1:{}", by_http.port)),
        (&by_socks, format!("socks5://127.0.0.1:{}", by_socks.port)),
    ] {
        let folder = Folder::new();
        let run = Webloom::crawl(&folder.crawl(), "http://no-such-name.invalid/").args(["--proxy", &url, "-vv"]);
        let run = run.run().expect(0);
        assert_counts(&run.json());
        assert_eq!(run.json()["pages"]["stored"], 3, "{url}");
        assert_clean(&folder.crawl());
        let asked = proxy.asked();
        assert!(!asked.is_empty() && asked.iter().all(|asked| asked.contains("no-such-name.invalid")), "{asked:?}");
        let shown = Webloom::new(["config", "show", "--proxy", &url]).run().expect(0);
        let toml = std::fs::read_to_string(folder.crawl().join("crawl.toml")).unwrap();
        for text in [&run.stdout, &run.stderr, &shown.stdout, &toml] {
            assert!(!text.contains("s3cret"), "{text}");
        }
    }
    assert!(server.log().iter().all(|hit| !hit.headers.iter().any(|line| line.starts_with("proxy-"))));
}

#[test]
fn the_environment_names_a_proxy_and_this_machine_is_asked_without() {
    let server = site();
    let proxy = Proxy::start(&server, socks);
    let url = format!("socks5h://127.0.0.1:{}", proxy.port);
    let crawl = |start: &str, none: &str| {
        let folder = Folder::new();
        let run = Webloom::crawl(&folder.crawl(), start).env("all_proxy", &url).env("no_proxy", none);
        run.env("WEBLOOM_POLITENESS_GIVE_UP", "1s")
            .env("WEBLOOM_FETCH_CONNECT_TIMEOUT", "2s")
            .args(["--max-time", "8s"])
            .run()
    };
    assert_eq!(crawl("http://no-such-name.invalid/", "").expect(0).json()["pages"]["stored"], 3);
    let asked = proxy.asked().len();
    assert_eq!(crawl(&server.url("/"), "").expect(0).json()["pages"]["stored"], 3);
    assert_ne!(crawl("http://no-such-name.invalid/", "other.example,invalid").code, Some(0));
    assert_eq!(proxy.asked().len(), asked, "neither goes through it");
}

#[test]
fn a_proxy_that_fails_is_blamed_on_no_host() {
    let server = site();
    let proxy = Proxy::start(&server, http);
    let closed = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    for (url, why) in [
        (format!("http://127.0.0.1:{closed}"), "the proxy does not answer"),
        (format!("socks5://127.0.0.1:{closed}"), "the proxy does not answer"),
        (format!("http://127.0.0.1:{}", proxy.port), "the proxy wants a user name"),
    ] {
        let folder = Folder::new();
        let run = Webloom::crawl(&folder.crawl(), "http://no-such-name.invalid/");
        let run = run.args(["--proxy", &url, "--max-time", "2s"]).run().expect(0);
        assert!(run.stderr.contains(why), "{url}: {}", run.stderr);
        let summary = run.json();
        assert_eq!(
            (&summary["counts"]["queued"], summary["hosts"].as_array().unwrap().len()),
            (&1.into(), 0),
            "{url}: {summary}"
        );
    }
    let slip =
        Webloom::crawl(&Folder::new().crawl(), "http://h/").args(["--proxy", "ftp://me:s3cret@h"]).run().expect(2);
    assert!(slip.stderr.contains("it is no proxy") && !slip.stderr.contains("s3cret"), "{}", slip.stderr);
}

#[test]
fn a_link_with_http_is_to_be_changed_where_https_answers() -> Result<()> {
    let Some(secure) = Site::serve(&[("page", "x"), ("index.html", "x")])? else { return Ok(()) };
    let server = serve(|asked: &Asked| match asked.target.as_str() {
        "/robots.txt" | "/gone" => Reply::status(404),
        "/start" => Reply::links([
            "http://both.invalid/page",
            "http://both.invalid/only-there",
            "http://both.invalid/gone",
            "http://both.invalid:80/page",
            "http://plain.invalid/page",
            "https://both.invalid/",
            "http://both.invalid/",
            "http://moved.invalid/old",
        ]),
        "/old" => Reply::redirect(302, "http://plain.invalid/page"),
        _ => Reply::html("x"),
    });
    let places = format!("127.0.0.1:{} 127.0.0.1:{}", server.port(), secure.port());
    let proxy = Proxy::start_to(places, socks);
    let (folder, url) = (Folder::new(), format!("socks5://127.0.0.1:{}", proxy.port));
    let flags = ["--proxy", &url, "--check-external", "--insecure-host", "both.invalid", "--scope", "prefix"];
    let run = Webloom::crawl(&folder.crawl(), "http://site.invalid/start").args(flags);
    let summary = run.env("WEBLOOM_CHECK_DELAY", "0").env("WEBLOOM_POLITENESS_GIVE_UP", "1s").run().expect(0).json();
    assert_clean(&folder.crawl());
    // What nothing leads to is no link.
    assert_eq!((&summary["link_check"]["urls"], &summary["link_check"]["failed"]), (&7.into(), &0.into()), "{summary}");
    let links = |what: &str| {
        let lines =
            Webloom::new(["links", "--format", "jsonl", what]).args([&folder.crawl()]).run().expect(0).json_lines();
        let shown =
            |line: &Value| ["to", "reason", "redirect"].map(|name| line[name].as_str().unwrap_or_default().to_owned());
        lines.iter().map(shown).collect::<Vec<_>>()
    };
    let to_change = [
        ["http://both.invalid/page", "https", "https://both.invalid/page"],
        ["http://both.invalid/", "https", "https://both.invalid/"],
        ["http://moved.invalid/old", "", "http://plain.invalid/page"],
    ];
    assert_eq!(links("--redirects"), to_change.map(|line| line.map(str::to_owned)));
    assert_eq!(links("--broken"), [["http://both.invalid/gone", "", ""].map(str::to_owned)]);
    Ok(())
}
