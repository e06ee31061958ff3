//! Links that leave the scope are checked.

use std::{
    collections::BTreeMap,
    path::Path,
    sync::{Arc, OnceLock},
    time::{Duration, Instant},
};

use rustix::process::Signal;
use serde_json::Value;
use webloom_tests::{
    server::{Asked, Hit, Reply, Server},
    webloom::{Run, Webloom, assert_clean, pages},
};

use crate::{Folder, assert_counts, serve};

/// What the checks of a crawl without a delay are made with: other hosts have one all the same.
const CHECKS: [&str; 3] = ["--check-external", "--allow-private", "127.0.0.0/8"];

fn other(number: u8, answer: impl Fn(&Asked) -> Reply + Send + Sync + 'static) -> Server {
    Server::start(&format!("127.0.1.{number}"), answer).expect("a free port")
}

/// A site whose pages link to these.
fn site(targets: Vec<String>) -> Server {
    serve(move |asked| match asked.target.as_str() {
        "/" => Reply::links(targets.iter().map(String::as_str).chain(["/1"])),
        "/1" => Reply::links(targets.iter().rev()),
        _ => Reply::status(404),
    })
}

fn checking(server: &Server, dir: &Path, arguments: &[&str]) -> Webloom {
    let crawl = if dir.exists() { Webloom::go_on(dir) } else { Webloom::crawl(dir, &server.url("/")) };
    // Pauses that a test can wait for.
    let short = [("WEBLOOM_CHECK_DELAY", "20ms"), ("WEBLOOM_POLITENESS_BACKOFF", "100ms")];
    let crawl = short.iter().fold(crawl, |crawl, (name, value)| crawl.env(name, value));
    crawl.args(CHECKS).args(["--delay", "0"]).args(arguments)
}

fn checked(server: &Server, dir: &Path, arguments: &[&str]) -> Value {
    let summary = checking(server, dir, arguments).run().expect(0).json();
    assert_counts(&summary);
    assert_clean(dir);
    summary
}

fn links(dir: &Path, flag: &str) -> Vec<Value> {
    let dir = dir.to_str().expect("a path of the tests");
    Webloom::new(["links", dir, flag, "--format", "jsonl"]).run().expect(0).json_lines()
}

/// Outcome, status and reason of each target that is shown.
fn shown(dir: &Path, flag: &str) -> BTreeMap<String, String> {
    let word = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let line = |line: Value| {
        let said = ["outcome", "status", "reason", "redirect_outcome"].map(|name| word(&line[name]));
        (word(&line["to"]), said.join(" "))
    };
    links(dir, flag).into_iter().map(line).collect()
}

fn requests(server: &Server) -> Vec<String> {
    let log = server.log().into_iter().filter(|hit| hit.target != "/robots.txt");
    log.map(|Hit { method, target, .. }| format!("{method} {target}")).collect()
}

fn open_server(asked: &Asked) -> Reply {
    match asked.target.as_str() {
        "/robots.txt" | "/gone" => Reply::status(404),
        "/moved" => Reply::redirect(301, "/new"),
        "/moved-away" => Reply::redirect(302, "/gone"),
        "/round" => Reply::redirect(302, "/round/2"),
        "/round/2" => Reply::redirect(302, "/round"),
        _ => Reply::html("it is there"),
    }
}

/// A host that refuses HEAD in two ways.
fn refuses_head(asked: &Asked) -> Reply {
    match (asked.method.as_str(), asked.target.as_str()) {
        (_, "/robots.txt") => Reply::status(404),
        ("HEAD", "/hangs-up") => Reply::hang_up(),
        ("HEAD", _) => Reply::status(405),
        (_, "/gone") => Reply::status(410),
        _ => Reply::html("it is there"),
    }
}

fn forbids(asked: &Asked) -> Reply {
    match asked.target.as_str() {
        "/robots.txt" => Reply::text("User-agent: *\nDisallow: /private"),
        _ => Reply::html("it is there"),
    }
}

fn busy(asked: &Asked) -> Reply {
    match (asked.target.as_str(), asked.before) {
        ("/robots.txt", _) => Reply::status(404),
        (_, 0) => Reply::status(429).header("retry-after: 1"),
        _ => Reply::html("it is there"),
    }
}

const NO_NAME: &str = "http://no-such-name.invalid/";

#[test]
fn each_link_has_its_finding() {
    let [open, no_head, forbids, busy] =
        [other(1, open_server), other(2, refuses_head), other(3, forbids), other(4, busy)];
    let dead = format!("http://127.0.1.5:{}/", open.port());
    let of_open = ["/ok#part", "/gone", "/moved", "/moved-away", "/round"].map(|path| open.url(path));
    let of_no_head = ["/ok", "/gone", "/hangs-up"].map(|path| no_head.url(path));
    let others = [forbids.url("/private/1"), forbids.url("/ok"), busy.url("/ok"), dead.clone()];
    let rest = [NO_NAME, "mailto:a@b.c"].map(str::to_owned);
    let targets = of_open.into_iter().chain(of_no_head).chain(others).chain(rest);
    let (server, folder) = (site(targets.collect()), Folder::new());
    let dir = folder.crawl();
    let summary = checked(&server, &dir, &["--header", "x-secret: s3cret"]);
    let has_secret =
        |server: &Server| server.log().iter().any(|hit| hit.headers.iter().any(|line| line.contains("s3cret")));
    assert_eq!([&server, &open, &no_head, &forbids, &busy].map(has_secret), [true, false, false, false, false]);
    assert_eq!((&summary["end"], &summary["pages"]["stored"]), (&"drained".into(), &2.into()));
    let broken = [
        (open.url("/gone"), "broken 404 null null"),
        (open.url("/moved-away"), "redirected 302 null broken"),
        (open.url("/round"), "redirected 302 null redirected"),
        (no_head.url("/gone"), "broken 410 null null"),
        (dead, "failed null refused null"),
        (NO_NAME.to_owned(), "failed null no_name null"),
    ];
    let broken = BTreeMap::from(broken.map(|(to, said)| (to, said.to_owned())));
    assert_eq!(shown(&dir, "--broken"), broken);
    assert_eq!(links(&dir, "--broken").len(), 2 * broken.len(), "a line for each page and target");
    assert!(links(&dir, "--broken").iter().all(|line| line["element"] == "a"));
    let redirects = shown(&dir, "--redirects").into_keys().collect::<Vec<_>>();
    assert_eq!(redirects, ["/moved", "/moved-away", "/round"].map(|path| open.url(path)));
    let external = shown(&dir, "--external");
    assert_eq!(external[&forbids.url("/private/1")], "abandoned null robots null");
    assert_eq!(external[&busy.url("/ok")], "checked 200 null null");
    assert_eq!(external[&no_head.url("/hangs-up")], "checked 200 null null");
    let found = &summary["link_check"];
    let figures = ["urls", "good", "redirected", "broken", "failed", "forbidden", "waiting"];
    assert_eq!(figures.map(|name| found[name].as_u64()), [15, 6, 4, 2, 2, 1, 0].map(Some), "{found}");
    let why = Webloom::new(["why", dir.to_str().unwrap(), &open.url("/gone"), "--json"]).run().expect(0).json();
    assert_eq!((&why["state"], &why["link_check"]["status"]), (&"refused".into(), &404.into()), "{why}");
    // They are no pages.
    assert!(pages(&dir).into_keys().all(|url| url.starts_with(&server.url("/"))));
    assert!(summary["hosts"].as_array().is_some_and(Vec::is_empty), "nothing waits for them: {}", summary["hosts"]);
    assert_eq!(requests(&forbids), ["HEAD /ok"]);
    once_a_sequence(&server, &dir, &open);
    assert_eq!(shown(&dir, "--broken"), broken);
}

/// The end of a redirect is asked for once, whoever leads there; another run has nothing to do, and the next sequence asks for all again.
fn once_a_sequence(server: &Server, dir: &Path, open: &Server) {
    let mut asked = requests(open);
    asked.sort_unstable();
    let rest = ["/moved", "/moved-away", "/new", "/ok", "/round", "/round/2"].map(|path| format!("HEAD {path}"));
    let all = ["GET /gone", "HEAD /gone"].map(str::to_owned).into_iter().chain(rest);
    assert_eq!(asked, all.collect::<Vec<_>>());
    let before = requests(open).len();
    checked(server, dir, &[]);
    assert_eq!(requests(open).len(), before);
    checked(server, dir, &["--again"]);
    assert_eq!(requests(open).len(), 2 * before);
}

#[test]
fn other_hosts_have_a_delay_and_a_limit_whatever_this_one_has() {
    let open = other(6, open_server);
    let targets = (0..7).map(|number| open.url(&format!("/{number}"))).collect();
    let (server, folder) = (site(targets), Folder::new());
    let limit =
        [("WEBLOOM_CHECK_MAX_PER_HOST", "4"), ("WEBLOOM_POLITENESS_PER_HOST", "3"), ("WEBLOOM_CHECK_DELAY", "500ms")];
    let run = limit.iter().fold(checking(&server, &folder.crawl(), &[]), |run, (name, value)| run.env(name, value));
    let summary = run.run().expect(0).json();
    assert_eq!((requests(&open).len(), &summary["link_check"]["beyond_limit"]), (4, &3.into()), "{summary}");
    let began: Vec<Instant> = open.log().iter().map(|hit| hit.began).collect();
    let least = began.windows(2).map(|pair| pair[1] - pair[0]).min();
    assert!(least.is_some_and(|least| least >= Duration::from_millis(495)), "{least:?}");
    let external = shown(&folder.crawl(), "--external");
    assert_eq!(external.values().filter(|said| *said == "abandoned null max_per_host null").count(), 3);
    assert_clean(&folder.crawl());
}

#[test]
fn budgets_of_pages_end_no_check_and_a_run_that_goes_on_checks_what_is_new() {
    let open = other(7, open_server);
    let (first, second) = (open.url("/first"), open.url("/second"));
    let server = serve(move |asked| match asked.target.as_str() {
        "/" => Reply::links([&*first, "/1"]),
        "/1" => Reply::links([&*second, "/2"]),
        "/2" => Reply::html("the end"),
        _ => Reply::status(404),
    });
    let folder = Folder::new();
    let dir = folder.crawl();
    let summary = checked(&server, &dir, &["--max-pages", "1"]);
    assert_eq!((&summary["end"], &summary["pages"]["stored"]), (&"budget".into(), &1.into()));
    assert_eq!(requests(&open), ["HEAD /first"]);
    let summary = checked(&server, &dir, &["--max-pages", "unlimited"]);
    assert_eq!((&summary["end"], &summary["pages"]["stored"]), (&"drained".into(), &3.into()));
    assert_eq!(requests(&open), ["HEAD /first", "HEAD /second"]);
    // What was crawled without is checked later.
    let late = Folder::new();
    Webloom::crawl(&late.crawl(), &server.url("/")).args(["--delay", "0"]).run().expect(0);
    checked(&server, &late.crawl(), &[]);
    assert_eq!(requests(&open).len(), 4);
}

#[test]
fn a_killed_check_goes_on_and_asks_for_no_answer_twice() {
    for point in ["after_links_to_check:1", "after_commit:6", "inside_step:14", "before_end:1"] {
        let open = other(8, open_server);
        let hosts: Vec<Server> = (9..=12).map(|number| other(number, open_server)).collect();
        let targets = hosts.iter().chain([&open]).flat_map(|host| ["/ok", "/moved"].map(|path| host.url(path)));
        let (server, folder) = (site(targets.collect()), Folder::new());
        let dir = folder.crawl();
        let often = |run: Webloom| run.env("WEBLOOM_STORE_COMMIT_VISITS", "1");
        let killed = often(checking(&server, &dir, &[])).env("WEBLOOM_FAILPOINT", point).run();
        assert_eq!(killed.code, None, "{point}: {}", killed.stderr);
        assert_clean(&dir);
        let kept = of_database(&dir);
        let summary = often(checking(&server, &dir, &[])).run().expect(0).json();
        assert_eq!((&summary["end"], &summary["link_check"]["good"]), (&"drained".into(), &10.into()), "{point}");
        assert_clean(&dir);
        let twice = hosts.iter().flat_map(requests).filter(|asked| asked.ends_with("/new")).count();
        assert!(twice <= 4 + 1, "{point}: {kept} had their answer, and {twice} were asked for");
    }
}

/// URLs that have their answer.
fn of_database(dir: &Path) -> u64 {
    let database = rusqlite::Connection::open(dir.join("webloom.sqlite")).expect("it opens");
    let query = "SELECT count(*) FROM link_check WHERE checked_in IS NOT NULL";
    database.query_row(query, [], |row| row.get(0)).expect("it has the table")
}

#[test]
fn a_signal_ends_the_checks_at_once_and_they_go_on() {
    let slow = other(13, |asked| match (asked.target.as_str(), asked.before) {
        ("/robots.txt", _) => Reply::status(404),
        (_, 1..) => Reply::html("it is there"),
        _ => Reply::Script(Box::new(|_| {
            std::thread::sleep(Duration::from_millis(1_500));
            Ok(())
        })),
    });
    let targets = (0..3).map(|number| slow.url(&format!("/{number}"))).collect();
    let (server, folder) = (site(targets), Folder::new());
    let dir = folder.crawl();
    let running = checking(&server, &dir, &[]).spawn();
    slow.wait_for("/0", 1);
    running.signal(Signal::INT);
    let Run { code, .. } = running.wait();
    assert_eq!(code, Some(130));
    assert_clean(&dir);
    let summary = checked(&server, &dir, &[]);
    assert_eq!((&summary["end"], &summary["link_check"]["good"]), (&"drained".into(), &3.into()), "{summary}");
}

/// A page that shows and loads this and that, some of which is not there.
fn with_assets(elsewhere: String) -> impl Fn(&Asked) -> Reply {
    move |asked| match asked.target.as_str() {
        "/" => Reply::html(format!(
            "<link rel=stylesheet href=style.css><link rel=icon href=gone.ico><script src=x.js></script>
             <img src=1.png srcset='2.png 2x, gone.png 3x'><img src={elsewhere}><a href=big.png><img src=small.png></a>
             <a href=1.html>next</a><svg><use href='icons.svg#a'/></svg>",
        )),
        "/1.html" => Reply::html("<img src=gone.png><img src=big.png><img src=moved.png>"),
        "/moved.png" => Reply::redirect(301, "/1.png"),
        "/robots.txt" | "/gone.ico" | "/gone.png" | "/icons.svg" => Reply::status(404),
        _ => Reply::Whole(200, vec!["content-type: image/png".to_owned()], b"it is there".to_vec()),
    }
}

#[test]
fn what_pages_show_and_load_is_checked_on_any_host() {
    let open = other(14, open_server);
    let (server, folder) = (serve(with_assets(open.url("/gone"))), Folder::new());
    let dir = folder.crawl();
    let crawl = |arguments: &[&str]| {
        let crawl = if dir.exists() { Webloom::go_on(&dir) } else { Webloom::crawl(&dir, &server.url("/")) };
        let crawl = crawl.env("WEBLOOM_CHECK_DELAY", "20ms").args(["--delay", "0", "--allow-private", "127.0.0.0/8"]);
        let summary = crawl.args(arguments).run().expect(0).json();
        assert_counts(&summary);
        assert_clean(&dir);
        summary
    };
    let summary = crawl(&["--check-assets"]);
    // The large picture is a page too, because a link leads there: it is not asked for twice.
    assert_eq!((&summary["pages"]["stored"], server.count("/big.png")), (&3.into(), 1));
    let element = |line: &Value| format!("{} {} {}", line["element"], line["to"], line["outcome"]).replace('"', "");
    let mut broken: Vec<String> = links(&dir, "--broken").iter().map(element).collect();
    broken.sort_unstable();
    let expected = [
        format!("img {} broken", server.url("/gone.png")),
        format!("img {} broken", server.url("/gone.png")),
        format!("img {} broken", open.url("/gone")),
        format!("link {} broken", server.url("/gone.ico")),
        format!("use {} broken", server.url("/icons.svg")),
    ];
    assert_eq!(broken, expected);
    let moved: Vec<String> = links(&dir, "--redirects").iter().map(element).collect();
    assert_eq!(moved, [format!("img {} redirected", server.url("/moved.png"))]);
    assert!(links(&dir, "--external").is_empty(), "no link leaves the scope");
    let asked = |target: &str| requests(&server).iter().filter(|asked| asked.ends_with(target)).count();
    assert_eq!(["/style.css", "/x.js", "/1.png", "/2.png", "/small.png", "/gone.png"].map(asked), [1, 1, 1, 1, 1, 2]);
    // The next sequence finds the same, though its pages are known.
    crawl(&["--again"]);
    let mut again: Vec<String> = links(&dir, "--broken").iter().map(element).collect();
    again.sort_unstable();
    assert_eq!((again, asked("/style.css")), (broken, 2));
    // What was read without them does not know them.
    let plain = Folder::new();
    Webloom::crawl(&plain.crawl(), &server.url("/")).args(["--delay", "0"]).run().expect(0);
    let late = Webloom::go_on(&plain.crawl()).args(["--check-assets"]).run().expect(2);
    assert!(late.stderr.contains("--check-assets") && late.stderr.contains("--again"), "{}", late.stderr);
    let late =
        Webloom::go_on(&plain.crawl()).args(["--check-assets", "--again", "--delay", "0"]).run().expect(0).json();
    assert!(late["link_check"]["broken"].as_u64() >= Some(3), "{late}");
}

/// Pages whose links lead to names; once the second page has lost one.
fn with_anchors(elsewhere: String) -> impl Fn(&Asked) -> Reply {
    move |asked| {
        match (asked.target.as_str(), asked.before) {
        ("/", _) => Reply::html(format!(
            "<h1 id=here>x</h1><a name=old>y</a><a href=#here>1</a><a href=#old>2</a><a href=#top>3</a><a href=#not-here>not  here</a>
             <a href='/two#there'>4</a><a href='/two#caf%C3%A9'>5</a><a href='/two#:~:text=x'>6</a><a href='/two#lost'>7</a>
             <a href='/moved#there'>8</a><a href='/moved#gone'>9</a><a href='/404#any'>10</a><a href='/file.pdf#page=3'>11</a>
             <a href='/two#!/route'>12</a><map><area href='/two#none'></map><a href='{elsewhere}#known'>13</a>
             <a href='{elsewhere}#unknown'>14</a><a href='{elsewhere}/moved#unknown'>15</a><a href='{elsewhere}/file#x'>16</a>
             <a href='{elsewhere}/plain'>17</a><a href='{elsewhere}/back#there'>18</a><a href='{elsewhere}/back#nowhere'>19</a>",
        )),
        ("/two", 0) => Reply::html("<p id=there><p id=caf\u{e9}><p id=lost>"),
        ("/two", _) => Reply::html("<p id=there><p id=caf\u{e9}>"),
        ("/moved", _) => Reply::redirect(301, "/two"),
        ("/file.pdf", _) => Reply::Whole(200, vec!["content-type: application/pdf".to_owned()], b"%PDF".to_vec()),
        _ => Reply::status(404),
    }
    }
}

fn open_with_names(asked: &Asked, back: &OnceLock<String>) -> Reply {
    match asked.target.as_str() {
        "/back" => Reply::redirect(302, back.get().map_or("/", String::as_str)),
        "/" => Reply::html("<p id=known>"),
        "/moved" => Reply::redirect(302, "/"),
        "/file" => Reply::Whole(200, vec!["content-type: image/png".to_owned()], b"it is there".to_vec()),
        "/plain" => Reply::html("it is there"),
        _ => Reply::status(404),
    }
}

#[test]
fn names_that_links_lead_to_are_looked_for() {
    let back = Arc::new(OnceLock::new());
    let place = Arc::clone(&back);
    let open = other(15, move |asked| open_with_names(asked, &place));
    let (server, folder) = (serve(with_anchors(open.url(""))), Folder::new());
    back.set(server.url("/two")).expect("it is set once");
    let dir = folder.crawl();
    checked(&server, &dir, &["--check-anchors"]);
    let missing = |text: bool| -> Vec<String> {
        let lines = links(&dir, "--broken").into_iter().filter(|line| line["reason"] == "anchor");
        let shown = |line: Value| {
            assert_eq!((&line["outcome"], &line["status"]), (&"broken".into(), &200.into()), "{line}");
            let text = if text { line["text"].to_string() + " " } else { String::new() };
            format!("{text}{} {}", line["element"], line["to"]).replace('"', "")
        };
        lines.map(shown).collect()
    };
    let own = |path: &str| server.url(path);
    let expected = [
        format!("not here a {}", own("/#not-here")),
        format!("9 a {}", own("/moved#gone")),
        format!(" area {}", own("/two#none")),
        format!("14 a {}", open.url("/#unknown")),
        format!("15 a {}", open.url("/moved#unknown")),
        format!("19 a {}", open.url("/back#nowhere")),
    ];
    assert_eq!(missing(true), expected);
    let broken: Vec<Value> = links(&dir, "--broken").into_iter().filter(|line| line["reason"] != "anchor").collect();
    assert_eq!(broken.len(), 1, "{broken:?}");
    // Only where a name is looked for a page is read.
    let mut asked = requests(&open);
    asked.sort_unstable();
    assert_eq!(asked, ["GET /", "GET /back", "GET /file", "GET /moved", "HEAD /plain"]);
    for flag in ["--external", "--redirects"] {
        assert!(links(&dir, flag).iter().all(|line| line["reason"] != "anchor"), "{flag}");
    }
    // A page that has lost a name, and one whose copy is still good.
    checked(&server, &dir, &["--check-anchors", "--again"]);
    let again = missing(false);
    assert_eq!((again.len(), again.contains(&format!("a {}", own("/two#lost")))), (7, true), "{again:?}");
    checked(&server, &dir, &["--again"]);
    assert_eq!(missing(false).len(), 7, "the settings of a crawl hold until others are given");
}

#[test]
fn names_are_looked_for_from_a_new_sequence_on() {
    let (server, folder) = (serve(with_anchors("http://127.0.1.99:9".to_owned())), Folder::new());
    let dir = folder.crawl();
    Webloom::crawl(&dir, &server.url("/")).args(["--delay", "0"]).run().expect(0);
    assert!(links(&dir, "--broken").iter().all(|line| line["reason"] != "anchor"));
    let late = Webloom::go_on(&dir).args(["--check-anchors"]).run().expect(2);
    assert!(late.stderr.contains("--check-anchors") && late.stderr.contains("--again"), "{}", late.stderr);
    Webloom::go_on(&dir).args(["--check-anchors", "--again", "--delay", "0"]).run().expect(0);
    assert_eq!(links(&dir, "--broken").iter().filter(|line| line["reason"] == "anchor").count(), 4);
    assert_clean(&dir);
}

fn with_sheets(elsewhere: String) -> impl Fn(&Asked) -> Reply {
    let sheet = |css: &str| Reply::Whole(200, vec!["content-type: text/css; charset=utf-8".to_owned()], css.into());
    move |asked| {
        match asked.target.as_str() {
        "/" => Reply::html(
            "<link rel=preload href=css/s.css><link rel=stylesheet href=css/s.css><style>@import 'css/t.css'; p { background: url(own.png) }</style>
             <p style='background: url(gone.png)'><a href=page.html>next</a>",
        ),
        "/page.html" => Reply::html("<link rel=stylesheet href=css/s.css>"),
        "/css/s.css" => sheet(&format!(
            "@import url('deep.css'); p {{ background: url(x.png) }} q {{ background: url(gone.png) }} r {{ background: url({elsewhere}) }}"
        )),
        "/css/t.css" => sheet("p { background: url(../moved.png); content: 'no.png' } q { background: url(data:,x) }"),
        "/css/deep.css" => sheet("@import 's.css'; @import 'none.css'; p { background: url(x.png) }"),
        "/moved.png" => Reply::redirect(301, "/own.png"),
        "/robots.txt" | "/gone.png" | "/css/gone.png" | "/css/none.css" => Reply::status(404),
        _ => Reply::Whole(200, vec!["content-type: image/png".to_owned()], b"it is there".to_vec()),
    }
    }
}

#[test]
fn style_sheets_are_read_for_what_they_load() {
    let open = other(16, open_server);
    let (server, folder) = (serve(with_sheets(open.url("/gone"))), Folder::new());
    let dir = folder.crawl();
    let line = |line: Value| {
        format!("{} {} {} {}", line["from"], line["element"], line["to"], line["outcome"]).replace('"', "")
    };
    let shown = |flag: &str| -> Vec<String> { links(&dir, flag).into_iter().map(line).collect() };
    let own = |path: &str| server.url(path);
    for (round, sequence) in [(1, &["--check-assets"][..]), (2, &["--again"])] {
        checked(&server, &dir, sequence);
        let expected = [
            format!("{} style {} broken", own("/"), own("/gone.png")),
            format!("{} style {} broken", own("/css/s.css"), own("/css/gone.png")),
            format!("{} style {} broken", own("/css/s.css"), open.url("/gone")),
            format!("{} style {} broken", own("/css/deep.css"), own("/css/none.css")),
        ];
        assert_eq!(shown("--broken"), expected);
        assert_eq!(shown("--redirects"), [format!("{} style {} redirected", own("/css/t.css"), own("/moved.png"))]);
        // Each once, style sheets with GET.
        let mut asked = requests(&server);
        asked.retain(|asked| asked.contains("/css/") || asked.contains(".png"));
        asked.sort_unstable();
        let each = [
            "GET /css/deep.css",
            "GET /css/gone.png",
            "GET /css/none.css",
            "GET /css/s.css",
            "GET /css/t.css",
            "GET /gone.png",
            "HEAD /css/gone.png",
            "HEAD /css/x.png",
            "HEAD /gone.png",
            "HEAD /moved.png",
            "HEAD /own.png",
        ];
        let expected: Vec<&str> = each.iter().flat_map(|asked| vec![*asked; round]).collect();
        assert_eq!(asked, expected);
    }
}
