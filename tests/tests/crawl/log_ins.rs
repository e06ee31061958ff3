//! Cookies: they reach the hosts of the crawl and nobody else, they are kept, and a session that ends loses nothing.

use std::{
    fs,
    os::unix::fs::PermissionsExt,
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use webloom_tests::{
    server::{Asked, Hit, Reply, Server},
    webloom::{Webloom, assert_clean, pages, with_outcome},
};

use crate::{Folder, assert_counts, serve};

/// How a shop answers whoever is not logged in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Shut {
    /// By a redirect that no word gives away.
    Redirect,
    /// By the log-in page in place of each page.
    InPlace,
    /// By a status.
    Status,
}

const FORM: &str = "<title>Welcome</title><form method=post><input name=u><input name=p type=password></form>";

fn cookie(asked: &[String]) -> String {
    asked
        .iter()
        .find_map(|line| line.to_ascii_lowercase().strip_prefix("cookie: ").map(str::to_owned))
        .unwrap_or_default()
}

/// A shop of so many products, for whoever has the session `one` for the first pages, and `two` for all.
fn shop(shut: Shut, products: usize, first: usize) -> Server {
    let served = Arc::new(AtomicUsize::new(0));
    serve(move |asked: &Asked| {
        let path = asked.target.split('?').next().unwrap_or_default();
        let sent = cookie(&asked.headers);
        let (one, two) = (sent.contains("sid=one"), sent.contains("sid=two"));
        let is_in = two || one && served.load(Ordering::SeqCst) < first;
        match path {
            // It is for all, and looks another way to whoever has any cookie.
            "/" => {
                let title = if sent.contains("sid=") { "Hello" } else { "Welcome, stranger" };
                let links =
                    ["/list", "/logout", "/forbidden", "/account/password"].map(|to| format!("<a href={to}>x</a>"));
                Reply::html(format!("<title>{title}</title>{}", links.concat()))
            }
            "/enter" => Reply::html(FORM),
            "/logout" if is_in => {
                served.fetch_add(first, Ordering::SeqCst);
                Reply::redirect(302, "/")
            }
            _ if !is_in => match shut {
                Shut::Redirect => Reply::redirect(302, format!("/enter?next={path}")),
                Shut::InPlace => Reply::html(FORM),
                Shut::Status => Reply::status(401),
            },
            // Nobody but the owner may see it: it is no sign that the session has ended.
            "/forbidden" => match shut {
                Shut::Redirect => Reply::redirect(302, "/enter?next=/forbidden"),
                Shut::InPlace => Reply::html(FORM),
                Shut::Status => Reply::status(401),
            },
            "/account/password" => Reply::html("<title>New password</title><input type=password name=p>"),
            "/list" => Reply::links((0..products).map(|n| format!("/p{n}"))),
            product => {
                served.fetch_add(1, Ordering::SeqCst);
                Reply::html(format!("<title>Product {product}</title>"))
                    .header(format!("set-cookie: seen={}", &product[1..]))
            }
        }
    })
}

/// A file with a session for 127.0.0.1, and a cookie for another host that must never be sent.
fn session(folder: &Folder, name: &str) -> PathBuf {
    let path = folder.crawl().with_file_name(format!("cookies of {}.txt", name.len()));
    let text = format!(
        "# Netscape HTTP Cookie File\n127.0.0.1\tFALSE\t/\tFALSE\t0\tsid\t{name}\n#HttpOnly_.example.org\tTRUE\t/\tTRUE\t4102444800\tother\ts3cret\n"
    );
    fs::write(&path, text).expect("the folder is there");
    path
}

fn products(folder: &Folder) -> usize {
    let is_product =
        |page: &serde_json::Value| page["title"].as_str().is_some_and(|title| title.starts_with("Product /p"));
    pages(&folder.crawl()).values().filter(|page| page["outcome"] == "stored" && is_product(page)).count()
}

#[test]
fn a_session_that_ends_loses_nothing_and_a_new_one_goes_on() {
    for shut in [Shut::Redirect, Shut::InPlace, Shut::Status] {
        let (server, folder) = (shop(shut, 60, 30), Folder::new());
        let start = server.url("/");
        let crawl = |session: &PathBuf| Webloom::crawl(&folder.crawl(), &start).args(["--cookies"]).args([session]);
        let first = crawl(&session(&folder, "one")).run().expect(4);
        let host = &first.json()["hosts"][0];
        assert_eq!((&host["cause"], &host["health"]), (&"log-in".into(), &"paused".into()), "{shut:?}");
        assert!(first.stderr.contains("--cookies FILE"), "{}", first.stderr);
        let stored = products(&folder);
        assert!((25..=30).contains(&stored), "{shut:?}: {stored} products, and those of a log-in page are none");
        let queued = with_outcome(&folder.crawl(), "queued");
        let why = Webloom::new(["why"]).args([folder.crawl()]).args([&queued[0]]).run().expect(0).stdout;
        assert!(
            why.contains("the log-in has expired") && why.contains("--cookies FILE` goes on with a new log-in"),
            "{why}"
        );
        let before = server.log().len();
        // The same cookies, or none, are of no use.
        for again in [Webloom::go_on(&folder.crawl()), crawl(&session(&folder, "one"))] {
            again.run().expect(4);
        }
        assert_eq!(server.log().len(), before, "{shut:?}: nothing is asked for");
        let last = crawl(&session(&folder, "two")).run().expect(0).json();
        assert_counts(&last);
        assert_eq!((products(&folder), last["hosts"].as_array().unwrap().len()), (60, 0), "{shut:?}");
        assert_eq!(last["requests"]["sent"], server.log().len(), "{shut:?}");
        assert_clean(&folder.crawl());
        let log_outs: Vec<_> = server.log().into_iter().filter(|hit| hit.target == "/logout").collect();
        assert!(log_outs.len() == 1 && cookie(&log_outs[0].headers).is_empty(), "{shut:?}: {log_outs:?}");
        let own = pages(&folder.crawl())[&server.url("/forbidden")].clone();
        let outcome = if shut == Shut::InPlace {
            "stored"
        } else if shut == Shut::Status {
            "broken"
        } else {
            "redirected"
        };
        assert_eq!(own["outcome"], outcome, "{shut:?}: it is for others");
    }
}

#[test]
fn a_session_that_ends_changes_no_page() {
    for shut in [Shut::Redirect, Shut::InPlace] {
        let (server, folder) = (shop(shut, 20, 35), Folder::new());
        let session = session(&folder, "one");
        Webloom::crawl(&folder.crawl(), &server.url("/")).args(["--cookies"]).args([&session]).run().expect(0);
        // The file may be gone by then: the directory has what was in it.
        fs::remove_file(&session).unwrap();
        Webloom::go_on(&folder.crawl()).args(["--again"]).run().expect(4);
        let changes = Webloom::new(["changes", "--format", "jsonl"]).args([folder.crawl()]).run().expect(0);
        assert_eq!(changes.json_lines(), Vec::<serde_json::Value>::new(), "{shut:?}");
        assert_clean(&folder.crawl());
    }
}

#[test]
fn a_log_in_that_was_never_valid_is_said_at_once() {
    let server = serve(|asked: &Asked| match asked.target.split('?').next().unwrap_or_default() {
        "/login" => Reply::html(FORM),
        _ => Reply::redirect(302, "/login?next=x"),
    });
    let folder = Folder::new();
    let cookies = session(&folder, "one");
    let run = Webloom::crawl(&folder.crawl(), &server.url("/")).args(["--cookies"]).args([&cookies]).run();
    let shown = format!("{}{}", run.stdout, run.stderr);
    assert!(run.code == Some(4) && shown.contains("log-in"), "{:?} {shown}", run.code);
}

#[test]
fn a_site_with_a_form_on_each_page_is_crawled_with_cookies_all_the_same() {
    let server = serve(|asked: &Asked| {
        let links = "<a href=/a>a</a><a href=/b>b</a>";
        Reply::html(format!("<title>{}</title><input type=password>{links}", asked.target))
    });
    let folder = Folder::new();
    let cookies = session(&folder, "one");
    let run = Webloom::crawl(&folder.crawl(), &server.url("/")).args(["--cookies"]).args([&cookies]).run().expect(0);
    assert_eq!(run.json()["pages"]["stored"], 3);
}

#[test]
fn cookies_reach_the_hosts_of_the_crawl_alone_and_are_never_shown() {
    let outside = serve(|_: &Asked| Reply::html("<title>x</title>").header("set-cookie: theirs=1"));
    let (far, near) = (outside.url("/linked"), outside.url("/robots.txt"));
    let server = serve(move |asked: &Asked| match asked.target.as_str() {
        "/robots.txt" => Reply::text("User-agent: *\nAllow: /\n"),
        "/" => Reply::links([&far, "/a", "/moved"]).header("set-cookie: token=s3cond; Path=/; HttpOnly"),
        "/moved" => Reply::redirect(301, &near),
        _ => Reply::html("<title>a</title>"),
    });
    let folder = Folder::new();
    let cookies = session(&folder, "s3ssion");
    let crawl = Webloom::crawl(&folder.crawl(), &server.url("/")).args(["--check-external", "-vv", "--cookies"]);
    let run = crawl.args([&cookies]).run().expect(0);
    let sent = |log: Vec<Hit>| log.iter().map(|hit| (hit.target.clone(), cookie(&hit.headers))).collect::<Vec<_>>();
    assert!(
        outside.count("/linked") > 0 && sent(outside.log()).iter().all(|(_, sent)| sent.is_empty()),
        "{:?}",
        outside.log()
    );
    let own = sent(server.log());
    assert!(
        own.iter().filter(|(target, _)| target == "/a").any(|(_, sent)| sent == "sid=s3ssion; token=s3cond"),
        "{own:?}"
    );
    let kept = folder.crawl().join("cookies.txt");
    let text = fs::read_to_string(&kept).unwrap();
    assert!(text.contains("s3ssion") && text.contains("s3cond") && !text.contains("theirs"), "{text}");
    assert_eq!(fs::metadata(&kept).unwrap().permissions().mode() & 0o777, 0o600);
    let again = Webloom::go_on(&folder.crawl()).args(["--again", "-vv"]).run().expect(0);
    let shown = Webloom::new(["config", "show", "--cookies"]).args([&cookies]).run().expect(0);
    let toml = fs::read_to_string(folder.crawl().join("crawl.toml")).unwrap();
    for text in [&run.stdout, &run.stderr, &again.stdout, &again.stderr, &shown.stdout, &toml] {
        assert!(!["s3ssion", "s3cond", "s3cret"].iter().any(|secret| text.contains(secret)), "{text}");
    }
    let database = fs::read(folder.crawl().join("webloom.sqlite")).unwrap();
    assert!(
        !["s3ssion", "s3cond"]
            .iter()
            .any(|secret| database.windows(secret.len()).any(|part| part == secret.as_bytes()))
    );
}

#[test]
fn cookies_that_a_server_sets_are_sent_back_if_that_is_wanted() {
    let server = serve(|asked: &Asked| match (asked.target.as_str(), cookie(&asked.headers).contains("seen=1")) {
        ("/robots.txt", _) => Reply::status(404),
        (_, true) => Reply::links(["/a", "/b"]),
        (path, false) => Reply::redirect(302, path).header("set-cookie: seen=1"),
    });
    for (choice, stored) in [("on", 3), ("off", 0)] {
        let folder = Folder::new();
        let run = Webloom::crawl(&folder.crawl(), &server.url("/")).args(["--cookies", choice]).run();
        assert_eq!(run.json()["pages"]["stored"], stored, "{choice}");
        assert_eq!(folder.crawl().join("cookies.txt").exists(), choice == "on");
    }
}

#[test]
fn a_file_that_is_none_of_cookies_is_refused_before_anything_is_asked_for() {
    let (server, folder) = (serve(|_: &Asked| Reply::html("x")), Folder::new());
    let file = folder.crawl().with_file_name("cookies");
    for (text, why) in [
        (Some("[{\"name\": \"s3cret\"}]"), "line 1 is no cookie"),
        (Some("# Netscape HTTP Cookie File\n"), "it has no cookie"),
        (Some("127.0.0.1\tFALSE\t/\tFALSE\t1000\tsid\ts3cret\n"), "all of its cookies have expired"),
        (None, "No such file"),
    ] {
        match text {
            Some(text) => fs::write(&file, text).unwrap(),
            None => fs::remove_file(&file).unwrap(),
        }
        let run = Webloom::crawl(&folder.crawl(), &server.url("/")).args(["--cookies"]).args([&file]).run().expect(2);
        assert!(run.stderr.contains(why) && !run.stderr.contains("s3cret"), "{}", run.stderr);
    }
    assert!(server.log().is_empty());
}
