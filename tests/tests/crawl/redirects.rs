//! Redirects of pages and of starts.

use std::{
    sync::{Arc, Condvar, Mutex},
    time::Duration,
};

use webloom_tests::{
    server::{Reply, Server},
    webloom::{Webloom, assert_clean, pages, with_outcome},
};

use crate::{Folder, assert_asked_once, assert_counts, chain, crawl, serve, star};

#[test]
fn chains_loops_and_ways_out_of_the_scope() {
    let server = serve(|asked| match asked.target.as_str() {
        "/" => Reply::links(["/chain", "/loop-a", "/away", "/nowhere"]),
        "/chain" => Reply::redirect(301, "/chain-2"),
        "/chain-2" => Reply::redirect(308, "end"),
        "/end" => Reply::html("end"),
        "/loop-a" => Reply::redirect(302, "/loop-b"),
        "/loop-b" => Reply::redirect(302, "/loop-a"),
        "/away" => Reply::redirect(302, "http://other.invalid/"),
        "/nowhere" => Reply::status(302),
        _ => Reply::status(404),
    });
    let folder = Folder::new();
    let summary = crawl(&server, &folder.crawl(), &[]);
    assert_asked_once(&server, &["/", "/chain", "/chain-2", "/end", "/loop-a", "/loop-b", "/away", "/nowhere"]);
    let pages = pages(&folder.crawl());
    let end = &pages[&server.url("/end")];
    assert_eq!(
        (&end["depth"], &end["hop"], &end["via"]),
        (&1.into(), &"redirect".into(), &server.url("/chain-2").into())
    );
    assert_eq!(pages[&server.url("/away")]["redirect"], "http://other.invalid/");
    assert_eq!(pages[&server.url("/nowhere")]["outcome"], "broken");
    assert_eq!(summary["urls"]["refused"]["scope"], 1);
}

#[test]
fn a_redirect_to_itself_is_asked_for_a_second_time_and_no_third() {
    let server = serve(|asked| match (asked.target.as_str(), asked.before) {
        ("/", _) => Reply::links(["/cookie", "/for-ever"]),
        ("/cookie", 0) => Reply::redirect(302, "/cookie#top").header("set-cookie: a=b"),
        ("/cookie", _) => Reply::html("there"),
        ("/for-ever", _) => Reply::redirect(302, "/for-ever"),
        _ => Reply::status(404),
    });
    let folder = Folder::new();
    let summary = crawl(&server, &folder.crawl(), &[]);
    assert_asked_once(&server, &["/", "/cookie", "/cookie", "/for-ever", "/for-ever"]);
    assert_eq!(pages(&folder.crawl())[&server.url("/cookie")]["outcome"], "stored");
    let for_ever = &pages(&folder.crawl())[&server.url("/for-ever")];
    assert_eq!((&for_ever["outcome"], &for_ever["reason"]), (&"broken".into(), &"redirect_to_itself".into()));
    let count = |status| Webloom::new(["pages", "--count", "--status", status]).args([folder.crawl()]).run();
    assert_eq!(["3xx", "302", "2xx", "4xx"].map(|status| count(status).expect(0).stdout), ["1\n", "1\n", "2\n", "0\n"]);
    for wrong in ["4x", "xxx", "99", "1000", "0xx", "10xx"] {
        assert!(count(wrong).expect(2).stderr.contains("4xx"), "{wrong}");
    }
    assert_eq!(summary["requests"]["sent"], server.log().len());
}

#[test]
fn too_many_redirects_end() {
    let server = serve(|asked| match asked.target.trim_start_matches('/').parse::<u32>() {
        Ok(hop) => Reply::redirect(302, format!("/{}", hop + 1)),
        Err(_) if asked.target == "/" => Reply::links(["/1"]),
        Err(_) => Reply::status(404),
    });
    let summary = crawl(&server, &Folder::new().crawl(), &[]);
    assert_eq!((server.count("/11"), server.count("/12")), (1, 0), "ten are followed");
    assert_eq!(summary["urls"]["refused"]["redirects"], 1);
}

#[test]
fn the_target_of_a_start_belongs_to_the_crawl() {
    let site = Server::start("127.0.0.2", star(2)).unwrap();
    let to = site.url("/");
    let start = serve(move |asked| if asked.target == "/" { Reply::redirect(301, &to) } else { Reply::status(404) });
    let folder = Folder::new();
    let arguments = ["--allow-private", "127.0.0.2"];
    let run = Webloom::crawl(&folder.crawl(), &start.url("/")).args(arguments).run().expect(0);
    assert_eq!(run.json()["pages"]["stored"], 3);
    assert!(
        run.stderr.lines().any(|line| line.contains("redirects") && line.contains(&site.url("/"))),
        "{}",
        run.stderr
    );
    assert_eq!(with_outcome(&folder.crawl(), "redirected"), [start.url("/")]);
}

#[test]
fn pages_that_are_queued_wait_for_the_redirect_of_a_start_that_is_added() {
    let asked_for_all = Arc::new((Mutex::new(false), Condvar::new()));
    let moved = Server::start("127.0.0.2", |asked| match asked.target.as_str() {
        "/robots.txt" => Reply::status(404),
        _ => Reply::html("it is here now"),
    })
    .unwrap();
    let [linked, new, home] = ["/linked", "/new", "/"].map(|path| moved.url(path));
    let all = Arc::clone(&asked_for_all);
    let here = serve(move |asked| match asked.target.as_str() {
        "/" => Reply::links(["/1", "/2", "/3"]),
        "/1" => Reply::links([&linked]),
        "/2" => Reply::redirect(301, &new),
        "/3" => {
            // One request at a time: what the others came to was taken in.
            *all.0.lock().unwrap() = true;
            all.1.notify_all();
            Reply::html("the last one")
        }
        _ => Reply::status(404),
    });
    let old = Server::start("127.0.0.3", move |asked| {
        if asked.target == "/robots.txt" {
            return Reply::status(404);
        }
        let (all, changed) = &*asked_for_all;
        drop(changed.wait_timeout_while(all.lock().unwrap(), Duration::from_secs(8), |all| !*all).unwrap());
        Reply::redirect(301, &home)
    })
    .unwrap();
    let folder = Folder::new();
    Webloom::crawl(&folder.crawl(), &here.url("/")).args(["--max-pages", "1"]).run().expect(0);
    let added = ["--max-pages", "none", "--allow-private", "127.0.0.2", "--add", &*old.url("/")];
    let summary = Webloom::go_on(&folder.crawl()).args(added).run().expect(0).json();
    assert_counts(&summary);
    assert_clean(&folder.crawl());
    assert_asked_once(&moved, &["/", "/linked", "/new"]);
    assert_asked_once(&here, &["/", "/1", "/2", "/3"]);
    assert_eq!((&summary["end"], &summary["pages"]["stored"]), (&"drained".into(), &6.into()), "{summary}");
}

#[test]
fn a_start_that_hangs_holds_nobody_back_for_long() {
    let done = Arc::new((Mutex::new(false), Condvar::new()));
    let quick = serve(chain(2));
    let wait = Arc::clone(&done);
    let hanging = Server::start("127.0.0.2", move |asked| {
        if asked.target == "/" {
            let (done, changed) = &*wait;
            drop(changed.wait_timeout_while(done.lock().unwrap(), Duration::from_secs(25), |done| !*done).unwrap());
        }
        Reply::status(404)
    })
    .unwrap();
    let folder = Folder::new();
    let running = Webloom::crawl(&folder.crawl(), &quick.url("/")).args([hanging.url("/")]).spawn();
    let began = running.began;
    quick.wait_for("/2", 1);
    *done.0.lock().unwrap() = true;
    done.1.notify_all();
    let summary = running.wait().expect(0).json();
    assert_counts(&summary);
    assert_eq!(summary["pages"]["stored"], 3);
    let waited = quick.log().iter().find(|hit| hit.target == "/1").unwrap().began - began;
    assert!(waited < Duration::from_secs(12), "{waited:?}");
}
