//! Starts without a scheme.

use std::time::Duration;

use webloom_tests::{
    server::Server,
    webloom::{Webloom, assert_clean, with_outcome},
};

use crate::{Folder, assert_asked_once, assert_counts, serve, star};

/// `127.0.0.1:PORT/`.
pub(crate) fn without_scheme(server: &Server) -> String {
    server.url("/").trim_start_matches("http://").to_owned()
}

#[test]
fn http_is_tried_where_https_has_no_answer_and_nobody_waits_for_long() {
    let server = serve(star(2));
    let folder = Folder::new();
    let run = Webloom::crawl(&folder.crawl(), &without_scheme(&server)).run().expect(0);
    let summary = run.json();
    assert_counts(&summary);
    assert_clean(&folder.crawl());
    assert_eq!(with_outcome(&folder.crawl(), "stored"), ["/", "/1", "/2"].map(|path| server.url(path)));
    assert_asked_once(&server, &["/", "/1", "/2"]);
    // Links wait for the answers of starts, 10 s at most; what https came to is an answer.
    assert!(run.took < Duration::from_secs(8), "{:?}", run.took);
}

#[test]
fn a_list_is_read_from_stdin() {
    let server = serve(star(3));
    let folder = Folder::new();
    let dir = folder.crawl();
    let list = format!("# starts\n\n{}\n  {}\n", server.url("/1"), server.url("/2"));
    let crawl =
        |arguments: &[&str]| Webloom::new(["crawl", "--json", "--max-depth", "0", "-d"]).args([&dir]).args(arguments);
    crawl(&["-"]).run_with(&list).expect(0);
    assert_eq!(with_outcome(&dir, "stored"), ["/1", "/2"].map(|path| server.url(path)));
    crawl(&["--add", "-"]).run_with(&server.url("/3")).expect(0);
    assert_eq!(with_outcome(&dir, "stored"), ["/1", "/2", "/3"].map(|path| server.url(path)));
    for (arguments, input, words) in [
        (&["-"] as &[&str], "\nhttp://h/\nftp://h/\n", "stdin:3:"),
        (&["-", "--add", "-"], "http://h/", "once"),
        (&["-", "-"], "http://h/", "once"),
    ] {
        let run = crawl(arguments).args(["-q"]).run_with(input).expect(2);
        assert!(run.stderr.contains(words) && run.stderr.lines().count() == 1, "{}", run.stderr);
    }
    let run = Webloom::new(["crawl", "-q", "-"]).run_with("# none\n").expect(2);
    assert!(run.stderr.contains("the list stdin holds no URL"), "{}", run.stderr);
}

/// The contact of the default user agent is nobody's.
#[test]
fn a_crawl_of_others_asks_for_a_contact_once() {
    let server = serve(star(2));
    let port = server.url("").rsplit(':').next().unwrap().trim_end_matches('/').to_owned();
    let named = format!("http://site.test:{port}/");
    let (resolve, contact) = (format!("site.test:{port}:127.0.0.1"), ["--user-agent", "mybot/1.0 (+https://h.test/)"]);
    let crawl = |dir: &std::path::Path, start: &str, more: &[&str]| {
        let access = ["--resolve", &resolve, "--allow-private", "site.test", "--no-progress"];
        let crawl = Webloom::crawl(dir, start).args(access).args(more).env("WEBLOOM_LOG_LEVEL", "off");
        crawl.run().expect(0).stderr
    };
    let folder = Folder::new();
    let asked = crawl(&folder.crawl(), &named, &["--cache", "single", "--max-pages", "1"]);
    assert!(asked.lines().count() == 1 && asked.contains("--user-agent 'mybot/1.0 (+https://"), "{asked}");
    let again = crawl(&folder.crawl(), &named, &["--max-pages", "unlimited"]);
    assert!(again.contains("--user-agent 'mybot"), "in each run: {again}");
    for (start, more) in [(&*named, &contact as &[&str]), (&named, &["-q"]), (&server.url("/"), &[])] {
        assert_eq!(crawl(&Folder::new().crawl(), start, more), "");
    }
}
