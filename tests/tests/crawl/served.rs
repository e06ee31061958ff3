//! A crawl that is shown to browsers, programs and assistants.

use std::{
    io::{BufRead, BufReader, Write},
    net::SocketAddr,
    process::{Command, Stdio},
};

use serde_json::{Value, json};
use webloom_tests::{
    server::{Asked, Reply, Server},
    webloom::{Running, Webloom},
};

use crate::{Folder, monitored::send, serve};

const HOSTILE: &str = "<title>\"><script>alert(1)</script></title><base href=/q/><a href=x>words</a>
    <img src=http://far.invalid/i.png><meta http-equiv=refresh content='0;url=http://far.invalid/'>";

fn site() -> Server {
    serve(|asked: &Asked| match asked.target.as_str() {
        "/" => Reply::html(
            "<title>Start</title><h1>Start</h1><p>First <a href=/hostile>words</a> <a href=/style.css>style</a>",
        ),
        "/hostile" => Reply::html(HOSTILE),
        "/style.css" => {
            Reply::Whole(200, vec!["content-type: text/css".to_owned()], b"p { background: url(/b.png) }".to_vec())
        }
        _ => Reply::status(404),
    })
}

/// A crawl that is served, and where.
struct Served {
    site: Server,
    folder: Folder,
    running: Running,
    address: SocketAddr,
}

impl Served {
    fn begin() -> Self {
        let (site, folder) = (site(), Folder::new());
        Webloom::crawl(&folder.crawl(), &site.url("/")).args(["--archive", "warc"]).run().expect(0);
        let serve = Webloom::new(["serve"]).args([folder.crawl()]).args(["--listen", "127.0.0.1:0"]);
        let mut running = serve.spawn();
        let line = running.line_with("http://");
        let address = line
            .trim_start_matches("http://")
            .split('/')
            .next()
            .and_then(|address| address.parse().ok())
            .expect("an address");
        Self { site, folder, running, address }
    }

    /// The head in lower case and the body of an answer.
    fn ask(&self, method: &str, target: &str, headers: &str) -> (String, String) {
        let host = if headers.contains("host:") { String::new() } else { format!("host: {}\r\n", self.address) };
        let answer = send(self.address, &format!("{method} {target} HTTP/1.1\r\n{host}{headers}\r\n"));
        (answer.head.to_ascii_lowercase(), answer.text)
    }

    fn get(&self, target: &str) -> (String, String) {
        self.ask("GET", target, "")
    }

    fn json(&self, target: &str) -> Value {
        let (head, body) = self.get(target);
        assert!(head.starts_with("http/1.1 200 "), "{target} {head}");
        serde_json::from_str(&body).expect("JSON")
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        self.running.signal(rustix::process::Signal::TERM);
    }
}

#[test]
fn programs_get_json() {
    let served = Served::begin();
    let start = served.site.url("/");
    let found = served.json("/api/search?q=first+words&limit=5");
    assert_eq!((&found["total"], &found["hits"][0]["url"]), (&json!(1), &json!(start)));
    let page = served.json(&format!("/api/page?url={start}"));
    let expected =
        json!({ "url": start, "title": "Start", "status": 200, "sequence": 0, "text": "Start\n\nFirst words style" });
    for (name, value) in expected.as_object().expect("an object") {
        assert_eq!(&page[name], value, "{name}");
    }
    assert!(page["markdown"].as_str().is_some_and(|text| text.starts_with("# Start\n\nFirst [words](")), "{page}");
    assert_eq!(served.json(&format!("/api/page?url={start}&sequence=0"))["sequence"], 0);
    assert_eq!(served.json("/api/changes?since=0"), json!([]));
    assert_eq!(served.json("/api/status")["pages"]["stored"], 3);
    let described = served.json("/openapi.json");
    let paths: Vec<_> = described["paths"].as_object().expect("paths").keys().collect();
    assert_eq!(paths, ["/api/search", "/api/page", "/api/changes", "/api/status"]);
    for (target, status) in [
        ("/api/search", "400"),
        ("/api/search?q=a&limit=x", "400"),
        ("/api/changes?since=never", "400"),
        ("/api/search?q=a&limit=0", "400"),
        ("/api/page?url=nothing", "400"),
        (&format!("/api/page?url={start}&sequence=7"), "404"),
        ("/api/nothing", "404"),
        ("/nothing", "404"),
    ] {
        assert!(served.get(target).0.starts_with(&format!("http/1.1 {status} ")), "{target}");
    }
    assert!(served.ask("POST", "/api/search?q=a", "").0.starts_with("http/1.1 405 "));
    // A name that was made to lead here.
    assert!(served.ask("GET", "/api/status", "host: far.example\r\n").0.starts_with("http/1.1 401 "));
}

#[test]
fn what_a_page_has_stays_in_its_frame() {
    let served = Served::begin();
    let hostile = served.site.url("/hostile");
    let (_, results) = served.get("/?q=words");
    let (head, framed) = served.get(&format!("/page?url={hostile}"));
    for html in [&results, &framed] {
        assert!(!html.contains("<script") && html.contains("&lt;script&gt;"), "{html}");
    }
    assert!(head.contains("frame-src 'self'") && framed.contains("sandbox=\"allow-scripts\""), "{head} {framed}");
    let (head, shown) = served.get(&format!("/replay/0/{hostile}"));
    assert!(
        head.contains("sandbox allow-scripts;") && head.contains("connect-src 'none'") && head.contains("nosniff"),
        "{head}"
    );
    let expected = [
        format!("href=\"/replay/0/{}\"", served.site.url("/q/x")),
        "src=\"/replay/0/http://far.invalid/i.png\"".to_owned(),
    ];
    assert!(expected.iter().all(|part| shown.contains(part.as_str())), "{shown}");
    // By itself it could lead its reader elsewhere.
    let (head, _) = served.ask("GET", &format!("/replay/0/{hostile}"), "sec-fetch-dest: document\r\n");
    assert!(head.starts_with("http/1.1 302 ") && head.contains("location: /page?url=http"), "{head}");
    let (head, style) = served.get(&format!("/replay/-/{}", served.site.url("/style.css")));
    assert!(
        head.contains("text/css") && style.contains(&format!("url(\"/replay/-/{}\")", served.site.url("/b.png"))),
        "{head} {style}"
    );
    let (head, source) = served.get(&format!("/raw?url={hostile}"));
    assert!(head.contains("text/plain") && source == HOSTILE, "{head}");
    assert!(served.get("/replay/0/http://far.invalid/i.png").0.starts_with("http/1.1 404 "));
}

#[test]
fn assistants_ask_over_http_and_pages_of_others_do_not() {
    let served = Served::begin();
    let ask = |headers: &str, message: &Value| {
        let message = message.to_string();
        let length = message.len();
        let accepts = "accept: application/json, text/event-stream\r\ncontent-type: application/json\r\n";
        let headers = format!("{accepts}content-length: {length}\r\n{headers}");
        let host = if headers.contains("host:") { String::new() } else { format!("host: {}\r\n", served.address) };
        let answer = send(served.address, &format!("POST /mcp HTTP/1.1\r\n{host}{headers}\r\n{message}"));
        (answer.head, answer.text)
    };
    let call = |name: &str, arguments: Value| json!({ "jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": { "name": name, "arguments": arguments } });
    let (head, text) = ask("", &call("search", json!({ "query": "first" })));
    let answer: Value = serde_json::from_str(&text).expect("JSON");
    assert!(head.starts_with("HTTP/1.1 200 "), "{head}");
    assert_eq!(answer["result"]["structuredContent"]["hits"][0]["url"], served.site.url("/"));
    let status = call("status", json!({}));
    for (headers, refused) in [("origin: http://far.invalid\r\n", "403"), ("host: far.invalid\r\n", "401")] {
        let (head, text) = ask(headers, &status);
        assert!(head.starts_with(&format!("HTTP/1.1 {refused} ")) && !text.contains("drained"), "{head} {text}");
    }
    assert!(ask("", &call("search", json!({ "query": "a".repeat(100_000) }))).0.starts_with("HTTP/1.1 413 "));
    assert!(served.get("/mcp").0.starts_with("http/1.1 405 "));
}

#[test]
fn the_report_has_changes_and_broken_links() {
    let served = Served::begin();
    let (head, text) = served.get("/report");
    assert!(head.starts_with("http/1.1 200 ") && text.contains("Crawl sequence 0"), "{head} {text}");
    assert!(text.contains("Complete: ") && text.contains("<h2>Changes</h2><p>none</p>"), "{text}");
    let broken = served.site.url("/q/x");
    let row = format!("<td data-column=\"URL\">{broken}</td><td data-column=\"Why\">404, broken</td>");
    assert!(text.contains(&row) && !text.contains("<script>"), "{text}");
}

#[test]
fn assistants_have_tools() {
    let served = Served::begin();
    let mut program = Command::new(webloom_tests::webloom::program());
    program.arg("mcp").arg(served.folder.crawl()).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = program.spawn().expect("it starts");
    let (mut input, output) = (child.stdin.take().expect("a pipe"), child.stdout.take().expect("a pipe"));
    let mut answers = BufReader::new(output).lines();
    let mut ask = |method: &str, params: Value| {
        writeln!(input, "{}", json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params }))
            .expect("it reads");
        let answer: Value = serde_json::from_str(&answers.next().expect("an answer").expect("UTF-8")).expect("JSON");
        if method == "initialize" {
            writeln!(input, "{}", json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }))
                .expect("it reads");
        }
        answer
    };
    let client = json!({ "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": { "name": "test", "version": "1" } });
    assert_eq!(ask("initialize", client)["result"]["serverInfo"]["name"], "webloom");
    let listed = ask("tools/list", json!({}));
    let names = listed["result"]["tools"].as_array().expect("a list").iter().map(|tool| tool["name"].as_str());
    assert_eq!(names.collect::<Option<Vec<_>>>(), Some(vec!["search", "get", "changes", "status"]));
    let mut call = |name: &str, arguments: Value| {
        ask("tools/call", json!({ "name": name, "arguments": arguments }))["result"].clone()
    };
    let start = served.site.url("/");
    let page = call("get", json!({ "url": start }));
    assert!(page["structuredContent"]["markdown"].as_str().is_some_and(|text| text.starts_with("# Start")), "{page}");
    assert_eq!(call("search", json!({ "query": "first" }))["structuredContent"]["hits"][0]["url"], start);
    assert_eq!(call("changes", json!({ "since": 0 }))["structuredContent"]["changes"], json!([]));
    assert_eq!(call("status", json!({}))["structuredContent"]["end"], "drained");
    assert_eq!(call("get", json!({ "url": "http://far.invalid/" }))["isError"], true);
    assert_eq!(call("search", json!({}))["isError"], true);
    drop(input);
    assert!(child.wait().expect("it ends").success());
}
