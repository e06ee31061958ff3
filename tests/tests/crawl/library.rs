//! The library: a crawl as another program runs it.

use std::{
    collections::BTreeSet,
    path::Path,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use tokio::runtime::Runtime;
use webloom::{
    Crawl, End, Page, Scope, WebUrl,
    fetcher::{Cause, FetchError, FetchFailure, FetchRequest, FetchResponse, Fetcher, HostAddresses},
};
use webloom_tests::{
    server::{Asked, Reply},
    webloom::{assert_clean, cargo, pages},
};

use crate::{Folder, assert_asked_once, chain, closing, serve, star};

/// A crawl without pauses.
pub(crate) fn quick(start: impl Into<String>) -> Crawl {
    Crawl::new(start)
        .delay(Duration::ZERO)
        .set("politeness.backoff", "20ms")
        .set("retry.backoff", "20ms")
        .set("sources.sitemaps", "off")
}

/// A runtime such as other programs have.
pub(crate) fn runtime() -> Runtime {
    Runtime::new().expect("a runtime")
}

#[test]
fn each_page_is_given_out_once_with_all_that_was_sent() {
    let server = serve(|asked: &Asked| match asked.target.as_str() {
        "/" => {
            Reply::html("<title> Caf\u{e9} </title><a href=/a>a</a><a href=http://other.test/>o</a><a href=/gone>g</a>")
        }
        "/a" => Reply::text("<a href=/never>").header("x-answer: 42"),
        _ => Reply::status(404),
    });
    let mut given = Vec::new();
    let summary = runtime().block_on(quick(server.url("/")).run(|page| given.push(page))).unwrap();
    assert!(summary.is_complete() && summary.end == End::Drained, "{summary}");
    assert_eq!((summary.pages.stored, summary.pages.broken, summary.urls.admitted, summary.sequence), (2, 1, 3, 0));
    assert_eq!((summary.losses.verified_links, summary.losses.missing, summary.losses.budget), (Some(2), 0, Some(0.5)));
    assert!(summary.to_string().starts_with("Complete: 2 pages in "), "{summary}");
    let json: serde_json::Value = serde_json::from_str(&summary.to_json()).unwrap();
    assert_eq!((&json["end"], &json["pages"]["stored"]), (&"drained".into(), &2.into()));
    let [start, text] = given.as_slice() else { panic!("{given:?}") };
    assert_eq!((start.url().as_str(), start.depth(), start.title()), (&*server.url("/"), 0, Some("Caf\u{e9}")));
    assert!(start.is_html() && start.text().contains("Caf\u{e9}") && start.status() == 200);
    let links: Vec<_> = start.links().iter().map(|link| link.as_str().to_owned()).collect();
    assert_eq!(links, [&server.url("/a"), "http://other.test/", &server.url("/gone")]);
    assert_eq!((text.depth(), text.title(), text.header("X-Answer")), (1, None, Some("42")));
    assert!(text.links().is_empty() && text.body() == b"<a href=/never>" && text.truncated().is_none());
    assert_asked_once(&server, &["/", "/a", "/gone"]);
}

#[test]
fn a_crawl_that_was_stopped_is_resumed_and_gives_out_the_rest() {
    let server = serve(star(40));
    let folder = Folder::new();
    let crawl = || quick(server.url("/")).dir(folder.crawl());
    let (mut first, mut rest) = (Vec::new(), Vec::new());
    let stopped = crawl();
    let stop = stopped.stop_handle();
    let summary = runtime().block_on(stopped.run(|page| {
        first.push(page.url().clone());
        if first.len() == 5 {
            stop.stop();
        }
    }));
    let summary = summary.unwrap();
    assert_eq!((summary.end, summary.is_complete()), (End::Stopped, false), "{summary}");
    assert!((5..41).contains(&summary.pages.stored) && summary.urls.queued > 0, "{summary}");
    let summary = runtime().block_on(crawl().run(|page| rest.push(page.url().clone()))).unwrap();
    assert!(summary.is_complete() && summary.pages.stored == 41, "{summary}");
    assert_eq!(first.len() + rest.len(), 41, "each page once");
    assert_eq!(first.iter().chain(&rest).collect::<BTreeSet<_>>().len(), 41);
    let summary = runtime().block_on(crawl().run(|page| panic!("{page:?} again"))).unwrap();
    assert!(summary.is_complete() && summary.pages.stored == 41, "nothing was left to do");
    assert_eq!(server.log().len(), 41 + 1, "robots.txt and each page");
    assert_clean(&folder.crawl());
}

#[test]
fn dropping_a_crawl_is_a_kill_that_loses_nothing() {
    let server = serve(chain(60));
    let folder = Folder::new();
    let crawl = || quick(server.url("/")).dir(folder.crawl());
    let mut given = BTreeSet::new();
    let runtime = runtime();
    for most in [3, 10, 20] {
        let mut count = 0;
        let (ended, mut end) = tokio::sync::mpsc::unbounded_channel();
        let dropped = runtime.block_on(async {
            let crawling = crawl().run(|page| {
                count += 1;
                given.insert(page.url().as_str().to_owned());
                if count == most {
                    ended.send(()).unwrap();
                }
            });
            tokio::select! {
                summary = crawling => Some(summary),
                _ = end.recv() => None,
            }
        });
        assert!(dropped.is_none(), "{dropped:?}");
        wait_until_free(&folder);
    }
    let rest = |page: Page| given.extend([page.url().as_str().to_owned()]);
    let summary = runtime.block_on(crawl().run(rest)).unwrap();
    assert!(summary.is_complete() && summary.pages.stored == 61, "{summary}");
    assert_eq!(given, pages(&folder.crawl()).into_keys().collect(), "each was given out");
    assert_clean(&folder.crawl());
}

/// The thread that writes ends a moment after its crawl was dropped.
pub(crate) fn wait_until_free(folder: &Folder) {
    let lock = std::fs::File::open(folder.crawl().join("lock")).expect("a lock");
    lock.lock().expect("it is free sooner or later");
}

#[test]
fn another_sequence_gives_out_what_has_changed() {
    let version = Arc::new(Mutex::new(1));
    let of_site = Arc::clone(&version);
    let server = serve(move |asked: &Asked| {
        let version = *of_site.lock().unwrap();
        let tag = if asked.target == "/2" { format!("etag: \"{version}\"") } else { "etag: \"1\"".to_owned() };
        let has_it = asked.headers.iter().any(|line| line.replace("if-none-match", "etag").eq_ignore_ascii_case(&tag));
        match asked.target.as_str() {
            "/robots.txt" => Reply::status(404),
            _ if has_it => Reply::status(304).header(tag),
            "/" => Reply::links(["/1", "/2", "/3"]).header(tag),
            _ => Reply::html(format!("<title>{version}</title>")).header(tag),
        }
    });
    let folder = Folder::new();
    let crawl = || quick(server.url("/")).dir(folder.crawl()).set("revisit.audit_not_modified", "0");
    let first = crawl().again();
    let stop = first.stop_handle();
    let stopped = runtime().block_on(first.run(|_| stop.stop())).unwrap();
    assert_eq!((stopped.end, stopped.sequence), (End::Stopped, 0), "the first sequence begins");
    assert!(stopped.to_string().starts_with("Stopped by the program after "), "{stopped}");
    let mut rest = 0;
    let resumed = runtime().block_on(crawl().again().run(|_| rest += 1)).unwrap();
    assert_eq!((resumed.end, resumed.sequence, resumed.pages.unchanged), (End::Drained, 1, 4), "and another follows");
    assert!((3..=4).contains(&rest), "{rest} of the pages are given out as it is resumed");
    *version.lock().unwrap() = 2;
    let mut given = Vec::new();
    let summary = runtime().block_on(crawl().again().run(|page| given.push(page.url().path().to_owned()))).unwrap();
    assert_eq!((summary.sequence, summary.pages.changed, summary.pages.unchanged), (2, 1, 3), "{summary}");
    assert_eq!(given, ["/2"]);
}

#[test]
fn a_task_may_run_it_and_a_function_that_waits_may_take_the_pages() {
    let server = serve(star(30));
    let start = server.url("/");
    let summary = runtime().block_on(async {
        let (sender, mut receiver) = tokio::sync::mpsc::channel(1);
        let crawling = tokio::spawn(async move {
            let send = |page: Page| {
                let (sender, url) = (sender.clone(), page.url().clone());
                async move { sender.send(url).await.unwrap() }
            };
            quick(start).run_async(send).await
        });
        let mut given = 0;
        while receiver.recv().await.is_some() {
            given += 1;
        }
        assert_eq!(given, 31);
        let start = server.url("/1");
        let prefix = tokio::spawn(async move { quick(start).exclude("/[2-9]").run(drop).await });
        assert!(prefix.await.unwrap().unwrap().pages.stored > 1);
        crawling.await.unwrap()
    });
    assert!(summary.unwrap().is_complete());
}

#[test]
fn pages_that_are_kept_take_no_room_from_the_others() {
    let big = "x".repeat(3 << 20);
    let site = star(12);
    let server = serve(move |asked: &Asked| match asked.target.as_str() {
        "/" | "/robots.txt" => site(asked),
        _ => Reply::text(&big),
    });
    let mut kept = Vec::new();
    let crawl = quick(server.url("/")).set("politeness.per_host", "8");
    let summary = runtime().block_on(crawl.run(|page| kept.push(page))).unwrap();
    assert!(summary.is_complete() && kept.len() == 13, "{summary}");
    assert_eq!(kept.into_iter().map(|page| page.into_body().len() >> 20).sum::<usize>(), 36);
}

#[test]
fn what_is_wrong_is_an_error_and_what_does_not_answer_is_none() {
    let server = serve(star(3));
    let folder = Folder::new();
    let run = |crawl: Crawl| runtime().block_on(crawl.run(drop));
    for (crawl, why) in [
        (quick(server.url("/")).set("politness.delay", "1s"), "politeness"),
        (quick(server.url("/")).set("retry.attempts", "many"), "retry.attempts"),
        (quick(server.url("/")).include("("), "scope.include"),
        (quick(server.url("/")).profile("none"), "none"),
        (quick("ftp://h/"), "ftp"),
        (quick("@/etc/passwd"), "/etc/passwd"),
        (quick(server.url("/")).login("a:b", "c\nd"), "login"),
    ] {
        let error = run(crawl.dir(folder.crawl())).unwrap_err();
        assert!(error.is_refusal() && error.to_string().contains(why), "{error}");
    }
    assert!(!folder.crawl().exists() && server.log().is_empty());
    let silent = run(quick("http://127.0.0.1:1/").set("politeness.give_up", "100ms")).unwrap();
    assert_eq!((silent.end, silent.pages.stored), (End::Unreachable, 0), "{silent}");
    assert_eq!((&*silent.silent_hosts[0].host, silent.silent_hosts[0].waiting), ("http://127.0.0.1:1", 1));
    let failed = serve(closing(|_| Reply::status(404)));
    let failed = run(quick(failed.url("/"))).unwrap();
    assert!(failed.end == End::Failed && failed.why_failed.is_some_and(|why| why.contains("answered 404")));
    let excluded = quick(server.url("/")).set("scope.exclude", "/1$\n/2$").exclude("/3$");
    assert_eq!(run(excluded).unwrap().pages.stored, 1);
    let few = run(quick(server.url("/")).max_pages(2).dir(folder.crawl())).unwrap();
    assert_eq!((few.end, few.pages.stored), (End::Budget, 2), "{few}");
    let _kept =
        std::fs::File::open(folder.crawl().join("lock")).map(|lock| lock.lock().map(|()| lock)).unwrap().unwrap();
    assert!(run(quick(server.url("/")).dir(folder.crawl())).unwrap_err().is_refusal(), "it is in use");
}

#[test]
fn secrets_and_scope_are_those_of_the_program() {
    let server = serve(|asked: &Asked| match asked.target.as_str() {
        _ if !asked.headers.iter().any(|line| line.eq_ignore_ascii_case("authorization: basic Ym9iOmE6Yg==")) => {
            Reply::status(401)
        }
        "/docs/" => Reply::links(["/docs/1", "/other", "/docs/x/2"]),
        _ => Reply::html(""),
    });
    let folder = Folder::new();
    let crawl = quick(server.url("/docs/")).scope(Scope::Prefix).login("bob", "a:b").header("X-Team", "docs");
    let summary = runtime().block_on(crawl.dir(folder.crawl()).run(drop)).unwrap();
    assert!(summary.is_complete() && summary.pages.stored == 3, "{summary}");
    assert_eq!(server.count("/other"), 0);
    assert!(server.log().iter().all(|hit| hit.headers.iter().any(|line| line.eq_ignore_ascii_case("x-team: docs"))));
    let database = std::fs::read(folder.crawl().join("webloom.sqlite")).unwrap();
    assert!(!database.windows(3).any(|part| part == b"a:b"), "the password is not kept");
}

/// A web of two pages; a third never answers.
struct Memory;

impl Fetcher for Memory {
    async fn fetch(&self, request: FetchRequest) -> Result<FetchResponse, FetchFailure> {
        let body = match request.url.as_str() {
            "http://memory.test/" => "<a href=two><a href=silent>",
            "http://memory.test/two" => "<a href=/>",
            "http://memory.test/silent" => {
                return Err(FetchError::Protocol(Cause::new("none")).after(1));
            }
            _ => return Ok(FetchResponse::new(request.url, 404)),
        };
        let headers = vec![("content-type".into(), b"text/html".as_slice().into())];
        Ok(FetchResponse { headers, body: body.into(), ..FetchResponse::new(request.url, 200) })
    }
}

#[test]
fn another_fetcher_may_take_the_place_of_http() {
    let mut given = Vec::new();
    let crawl = quick("http://memory.test/").fetcher(Memory);
    let summary = runtime().block_on(crawl.run(|page| given.push(page.url().path().to_owned()))).unwrap();
    assert!(summary.is_complete(), "{summary}");
    assert_eq!((given.join(" "), summary.pages.failed), ("/ /two".to_owned(), 1));
}

/// The same web; whoever looks its name up finds a bug. Counts the look-ups.
struct PanicsOverNames(Arc<AtomicUsize>);

impl Fetcher for PanicsOverNames {
    async fn fetch(&self, request: FetchRequest) -> Result<FetchResponse, FetchFailure> {
        Memory.fetch(request).await
    }

    async fn look_up(&self, _: &WebUrl) -> HostAddresses {
        self.0.fetch_add(1, Ordering::Relaxed);
        panic!("a bug in a look-up");
    }
}

#[test]
fn a_bug_in_a_look_up_keeps_no_host_from_being_asked() {
    let look_ups = Arc::default();
    let crawl = quick("http://memory.test/").fetcher(PanicsOverNames(Arc::clone(&look_ups)));
    let summary = runtime().block_on(crawl.run(drop)).unwrap();
    assert!(summary.is_complete() && summary.pages.stored == 2, "{summary}");
    let (look_ups, requests) = (look_ups.load(Ordering::Relaxed) as u64, summary.requests);
    assert!((1..=requests).contains(&look_ups), "{look_ups} look-ups for {requests} requests");
}

#[test]
fn the_examples_do_what_they_say() {
    let version = Arc::new(Mutex::new("one"));
    let of_site = Arc::clone(&version);
    let server = serve(move |asked: &Asked| match asked.target.as_str() {
        "/" => Reply::html(
            "<title>Start</title><meta name=description content=d><h1>A <b>b</b></h1><a href=/1><a href=/2>",
        ),
        "/1" => Reply::html(*of_site.lock().unwrap()),
        _ => Reply::status(404),
    });
    let (output, messages) = example("fields", &[&server.url("/")], true);
    let lines: Vec<serde_json::Value> = output.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let start =
        serde_json::json!({ "url": server.url("/"), "title": "Start", "description": "d", "headings": ["A b"] });
    assert!(lines.len() == 2 && lines[0] == start, "{output}");
    assert!(messages.contains("Complete: 2 pages in"), "{messages}");
    let (output, messages) = example("links", &[&server.url("/")], false);
    assert_eq!(output, format!("404\t{}\t{}\n", server.url("/"), server.url("/2")));
    assert!(messages.contains("1 links are broken") && messages.contains("/2 (404)"), "{messages}");
    let folder = tempfile::tempdir().unwrap();
    let copy = folder.path().to_str().unwrap();
    let (output, _) = example("mirror", &[&server.url("/"), copy], true);
    assert_eq!(output, format!("new\t{copy}/index.html\nnew\t{copy}/1/index.html\n"));
    *version.lock().unwrap() = "two";
    let (output, _) = example("mirror", &[&server.url("/"), copy], true);
    assert_eq!(output, format!("changed\t{copy}/1/index.html\n"));
    assert_eq!(std::fs::read_to_string(folder.path().join("1/index.html")).unwrap(), "two");
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in
        [("index.html", "<a href=b.html>b</a><a href=gone.html>g</a>"), ("b.html", ""), ("alone.html", "")]
    {
        std::fs::write(folder.path().join(name), text).unwrap();
    }
    let (output, messages) = example("folder", &[folder.path().to_str().unwrap()], true);
    assert_eq!(output, "missing\t/gone.html\tlinked by /\nnot linked\t/alone.html\n");
    assert!(messages.contains("Complete: 2 pages in"), "{messages}");
}

/// What an example prints to stdout and stderr, and whether it ends well.
fn example(name: &str, arguments: &[&str], ends_well: bool) -> (String, String) {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../crawler/examples/{name}.rs"));
    let lines = std::fs::read_to_string(source).expect("an example").lines().count();
    assert!(lines < 60, "{name} has {lines} lines: somebody is to begin with it");
    let output = cargo().args(["run", "-q", "--locked", "--example", name, "--"]).args(arguments).output();
    let output = output.expect("cargo");
    let [shown, messages] = [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).expect("UTF-8"));
    assert_eq!(output.status.success(), ends_well, "{messages}");
    (shown, messages)
}

/// `/` redirects to itself, and the second request of the same lease cannot be made, once. Notes when it is asked.
#[derive(Default)]
struct OutOfDescriptors(Mutex<Vec<Instant>>);

impl Fetcher for OutOfDescriptors {
    async fn fetch(&self, request: FetchRequest) -> Result<FetchResponse, FetchFailure> {
        if request.url.path() != "/" {
            return Ok(FetchResponse::new(request.url, 404));
        }
        let asked = {
            let mut asked = self.0.lock().expect("nobody panics with it");
            asked.push(Instant::now());
            asked.len()
        };
        match asked {
            1 => Ok(FetchResponse {
                headers: vec![("location".into(), b"/".as_slice().into())],
                ..FetchResponse::new(request.url, 302)
            }),
            2 => Err(FetchError::OwnMachine(Cause::new("no file descriptor")).after(0)),
            _ => Ok(FetchResponse::new(request.url, 200)),
        }
    }
}

#[test]
fn a_redirect_whose_second_request_cannot_be_made_counts_and_has_its_delay() {
    let (fetcher, delay) = (Arc::new(OutOfDescriptors::default()), Duration::from_millis(700));
    let crawl = Crawl::new("http://example.test/")
        .delay(delay)
        .set("sources.sitemaps", "off")
        .fetcher(Shared(Arc::clone(&fetcher)));
    let summary = runtime().block_on(crawl.run(drop)).unwrap();
    assert!(summary.is_complete() && summary.pages.stored == 1, "{summary}");
    assert_eq!(summary.requests, 3, "robots.txt, the redirect and the page");
    let asked = fetcher.0.lock().unwrap();
    assert!(asked.len() == 3 && asked[2] - asked[1] >= delay, "{asked:?}");
}

/// The same fetcher, that a test looks at.
struct Shared(Arc<OutOfDescriptors>);

impl Fetcher for Shared {
    async fn fetch(&self, request: FetchRequest) -> Result<FetchResponse, FetchFailure> {
        self.0.fetch(request).await
    }
}

#[test]
fn requests_a_second_are_limited_with_any_fetcher() {
    let server = serve(star(10));
    let crawl = quick(server.url("/")).set("politeness.max_rate", "20");
    // The server may have been slow to see the first of them.
    let began = Instant::now();
    let summary = runtime().block_on(crawl.run(drop)).unwrap();
    assert_eq!((summary.pages.stored, summary.requests), (11, 12));
    assert!(server.log()[11].began - began >= Duration::from_millis(550), "12 requests at 20 a second");
    let began = Instant::now();
    let crawl = Crawl::new("http://example.test/").delay(Duration::ZERO).set("politeness.max_rate", "2");
    let crawl = crawl.set("sources.sitemaps", "off");
    let summary = runtime().block_on(crawl.fetcher(OutOfDescriptors::default()).run(drop)).unwrap();
    assert_eq!(summary.requests, 3);
    assert!(began.elapsed() >= Duration::from_secs(1), "four tries at 2 a second");
}
