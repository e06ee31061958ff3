//! Hosts that are away for a while: nothing is abandoned or failed for it, and they are not asked much meanwhile.

use std::{
    io::Read,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use serde_json::{Value, json};
use webloom_tests::{
    server::{Asked, Reply, Server},
    webloom::{Webloom, assert_clean, pages},
};

use crate::{Folder, assert_asked_once, assert_counts, chain, serve, star};

/// Pages of each site.
const PAGES: usize = 30;

/// How long a site is away.
const AWAY: Duration = Duration::from_secs(2);

/// A site that is away from the moment at which `/9` is asked for.
fn site_with(trouble: fn() -> Reply) -> Server {
    let began: Mutex<Option<Instant>> = Mutex::default();
    let site = star(PAGES);
    serve(move |asked: &Asked| {
        let mut began = began.lock().expect("no other answer panics");
        if asked.target == "/9" {
            began.get_or_insert_with(Instant::now);
        }
        let away = began.is_some_and(|began| began.elapsed() < AWAY);
        drop(began);
        if away { trouble() } else { site(asked).header("connection: close") }
    })
}

fn assert_whole(summary: &Value) {
    assert_counts(summary);
    assert_eq!((&summary["end"], &summary["pages"]["stored"]), (&"drained".into(), &(PAGES + 1).into()), "{summary}");
    assert_eq!((&summary["pages"]["failed"], &summary["pages"]["broken"]), (&0.into(), &0.into()));
    assert_eq!((&summary["urls"]["abandoned"], &summary["hosts"]), (&json!({}), &json!([])));
}

/// No answer until the client goes away.
fn hang() -> Reply {
    Reply::Script(Box::new(|stream| stream.read(&mut [0]).map(drop)))
}

const TROUBLES: [fn() -> Reply; 5] = [
    Reply::hang_up,
    || Reply::status(503),
    || Reply::status(503).header("retry-after: 1"),
    || Reply::status(429),
    || Reply::status(502),
];

#[test]
fn a_site_that_is_away_for_a_while_is_crawled_completely() {
    for (number, trouble) in TROUBLES.into_iter().enumerate() {
        for slots in ["1", "4"] {
            let (server, folder) = (site_with(trouble), Folder::new());
            let run = Webloom::crawl(&folder.crawl(), &server.url("/")).args(["--per-host", slots]).run().expect(0);
            assert_whole(&run.json());
            assert_clean(&folder.crawl());
            assert!(run.stderr.contains("the host answers again"), "trouble {number}: {}", run.stderr);
            let spare = server.log().len() - (PAGES + 2);
            assert!(spare <= 24, "trouble {number}: {spare} requests for nothing");
        }
    }
}

#[test]
fn a_site_that_hangs_is_crawled_completely() {
    let (server, folder) = (site_with(hang), Folder::new());
    let run = Webloom::crawl(&folder.crawl(), &server.url("/")).env("WEBLOOM_FETCH_FIRST_BYTE_TIMEOUT", "300ms");
    assert_whole(&run.run().expect(0).json());
    assert_clean(&folder.crawl());
}

#[test]
fn a_site_whose_server_is_started_anew_is_crawled_completely() {
    let stopped = Arc::new(AtomicBool::new(false));
    let (now, site) = (Arc::clone(&stopped), star(PAGES));
    let answer = move |asked: &Asked| {
        now.fetch_or(asked.target == "/9", Ordering::SeqCst);
        site(asked).header("connection: close")
    };
    let server = Server::start("127.0.0.78", answer).unwrap();
    let (start, address) = (server.url("/"), ([127, 0, 0, 78], server.port()).into());
    let folder = Folder::new();
    let running = Webloom::crawl(&folder.crawl(), &start).args(["--delay", "20ms"]).spawn();
    server.wait_for("/9", 1);
    drop(server);
    let away = Instant::now();
    while away.elapsed() < AWAY {
        std::thread::yield_now();
    }
    let server = Server::start_at(address, star(PAGES)).unwrap();
    let run = running.wait().expect(0);
    assert_whole(&run.json());
    assert!(run.json()["requests"]["errors"]["refused"].as_u64() > Some(0), "{}", run.stderr);
    assert_clean(&folder.crawl());
    assert_eq!(server.count("/robots.txt"), 0, "it is still young enough");
}

#[test]
fn a_run_that_is_left_with_silent_hosts_says_so_and_the_next_start_goes_on() {
    let stopped = Arc::new(AtomicBool::new(false));
    let now = Arc::clone(&stopped);
    let site = star(PAGES);
    let server = serve(move |asked: &Asked| {
        now.fetch_or(asked.target == "/9" && asked.before == 0, Ordering::SeqCst);
        let reply = if now.load(Ordering::SeqCst) { Reply::hang_up() } else { site(asked) };
        reply.header("connection: close")
    });
    let folder = Folder::new();
    let run = Webloom::crawl(&folder.crawl(), &server.url("/")).env("WEBLOOM_POLITENESS_GIVE_UP", "1s").run().expect(4);
    let summary = run.json();
    assert_counts(&summary);
    assert_clean(&folder.crawl());
    let host = &summary["hosts"][0];
    let origin = server.url("");
    assert_eq!(
        (&summary["end"], &host["host"], &host["health"], &host["cause"], &host["waiting"]),
        (
            &"unreachable".into(),
            &origin.trim_end_matches('/').into(),
            &"unreachable".into(),
            &"closed".into(),
            &22.into()
        )
    );
    assert!(host["since"].as_str().is_some_and(|since| since.ends_with('Z')));
    assert!(run.stderr.contains("22 URLs wait"), "{}", run.stderr);
    // Started again while it is still away, it tries at once and ends in the same way.
    let asked = server.log().len();
    let run = Webloom::go_on(&folder.crawl()).env("WEBLOOM_POLITENESS_GIVE_UP", "500ms").run().expect(4);
    assert_eq!(run.json()["counts"]["queued"], 22);
    assert!((1..=12).contains(&(server.log().len() - asked)));
    stopped.store(false, Ordering::SeqCst);
    let rest = Webloom::go_on(&folder.crawl()).env("WEBLOOM_POLITENESS_BACKOFF", "1h").run().expect(0);
    assert_whole(&rest.json());
    assert_clean(&folder.crawl());
}

#[test]
fn a_host_that_is_gone_for_good_can_be_left_out() {
    for again in [false, true] {
        let (server, folder) = (serve(star(3)), Folder::new());
        let dead = "http://127.0.0.1:1/";
        Webloom::crawl(&folder.crawl(), &server.url("/")).args(["--add", dead]).run().expect(4);
        let excluded = || Webloom::go_on(&folder.crawl()).args(["--exclude", "^http://127.0.0.1:1/"]);
        if again {
            // A run that ends before its first visit has not left it out yet.
            excluded().args(["--again"]).env("WEBLOOM_FAILPOINT", "after_begin_sequence:1").run();
        }
        let excluded = excluded();
        let summary = excluded.run().expect(0).json();
        assert_counts(&summary);
        assert_eq!((&summary["end"], &summary["urls"]["abandoned"]), (&"drained".into(), &json!({"scope": 1})));
        assert_eq!((&summary["hosts"], &summary["pages"]["stored"]), (&json!([]), &4.into()));
        assert_eq!(pages(&folder.crawl())[dead]["outcome"], "abandoned");
        assert_clean(&folder.crawl());
    }
}

#[test]
fn a_narrower_scope_cuts_no_pause_short_that_a_host_has_asked_for() {
    let server = serve(|asked| match asked.target.as_str() {
        "/robots.txt" => Reply::status(404),
        "/" if asked.before == 0 => Reply::links(["/1"]),
        _ => Reply::status(429).header("retry-after: 90"),
    });
    let folder = Folder::new();
    let run = |arguments: &[&str]| Webloom::go_on(&folder.crawl()).args(["--max-time", "1s"]).args(arguments).run();
    Webloom::crawl(&folder.crawl(), &server.url("/")).args(["--max-time", "1s"]).run().expect(0);
    let asked = server.log().len();
    run(&["--exclude", "/1"]);
    run(&["--again", "--revisit", "rediscover", "--exclude", "/nothing"]);
    assert_eq!(server.log().len(), asked, "{:?}", server.targets());
}

#[test]
fn a_host_that_asks_for_more_than_is_waited_for_is_paused_and_named() {
    let stopped = Arc::new(AtomicBool::new(true));
    let now = Arc::clone(&stopped);
    let site = star(3);
    let server = serve(move |asked: &Asked| match asked.target.as_str() {
        "/2" if now.load(Ordering::SeqCst) => Reply::status(429).header("retry-after: 86400"),
        _ => site(asked),
    });
    let folder = Folder::new();
    for _ in 0..2 {
        // Also at the next start, which asks nothing before that time.
        let run = Webloom::crawl(&folder.crawl(), &server.url("/")).run().expect(4).json();
        assert_eq!((&run["end"], &run["hosts"][0]["health"]), (&"unreachable".into(), &"paused".into()));
        assert_eq!((&run["hosts"][0]["cause"], server.count("/2")), (&"429".into(), 1));
    }
    assert_clean(&folder.crawl());
}

#[test]
fn a_silent_host_holds_no_level_up() {
    let away = Server::start("127.0.0.79", |asked: &Asked| match asked.target.as_str() {
        "/robots.txt" => Reply::status(404),
        "/" if asked.before == 0 => Reply::links(["/1", "/2"]),
        _ => Reply::hang_up(),
    });
    let (away, others) = (away.unwrap(), [serve(star(5)), serve(star(5))]);
    let folder = Folder::new();
    let mut run = Webloom::crawl(&folder.crawl(), &away.url("/")).args(["--max-depth", "3"]);
    for other in &others {
        run = run.args([other.url("/")]);
    }
    let summary = run.env("WEBLOOM_POLITENESS_GIVE_UP", "1s").run().expect(4).json();
    assert_eq!((&summary["pages"]["stored"], &summary["counts"]["queued"]), (&13.into(), &2.into()));
    assert_clean(&folder.crawl());
}

/// Whatever the silent host has queued, the levels of a hundred hosts go on without it.
#[test]
fn one_silent_host_of_a_hundred_holds_no_level_up() {
    let away = serve(|asked: &Asked| match asked.target.as_str() {
        "/robots.txt" => Reply::status(404),
        "/" if asked.before == 0 => Reply::links(["/1", "/2"]).header("connection: close"),
        _ => hang(),
    });
    let others: Vec<Server> = (1..100).map(|_| serve(chain(3))).collect();
    let folder = Folder::new();
    let mut run = Webloom::crawl(&folder.crawl(), &away.url("/")).args(["--max-depth", "3"]);
    for other in &others {
        run = run.args([other.url("/")]);
    }
    let run = run.env("WEBLOOM_FETCH_FIRST_BYTE_TIMEOUT", "300ms").env("WEBLOOM_POLITENESS_GIVE_UP", "2s");
    let summary = run.run().expect(4).json();
    assert_eq!((&summary["pages"]["stored"], &summary["counts"]["queued"]), (&(99 * 4 + 1).into(), &2.into()));
    assert_clean(&folder.crawl());
    for other in others {
        assert_asked_once(&other, &["/", "/1", "/2", "/3"]);
    }
}

#[test]
fn a_name_that_is_none_fails_at_once_and_the_same_command_tries_it_again() {
    let server = serve(star(2));
    let folder = Folder::new();
    let start = format!("http://site.invalid:{}/", server.port());
    let began = Instant::now();
    let run = Webloom::crawl(&folder.crawl(), &start).args(["-q"]).run().expect(1);
    assert!(began.elapsed() < Duration::from_secs(10), "{:?}", began.elapsed());
    assert!(run.stderr.contains("no such name"), "{}", run.stderr);
    let there = format!("site.invalid:{}:127.0.0.1", server.port());
    let run = Webloom::crawl(&folder.crawl(), &start).args(["--resolve", &there, "--allow-private", "site.invalid"]);
    let summary = run.run().expect(0).json();
    assert_eq!((&summary["end"], &summary["pages"]["stored"]), (&"drained".into(), &3.into()));
    assert_clean(&folder.crawl());
}

/// Pages that never answer, at the end of a crawl: their host does, so they fail.
#[test]
fn pages_that_hang_for_ever_fail_where_their_host_answers() {
    let site = star(6);
    let server = serve(move |asked: &Asked| match asked.target.as_str() {
        "/3" | "/6" => hang(),
        _ => site(asked).header("connection: close"),
    });
    let folder = Folder::new();
    let run = Webloom::crawl(&folder.crawl(), &server.url("/")).env("WEBLOOM_FETCH_FIRST_BYTE_TIMEOUT", "150ms");
    let summary = run.run().expect(0).json();
    assert_eq!((&summary["end"], &summary["pages"]["failed"]), (&"drained".into(), &2.into()));
    assert_eq!(summary["pages"]["stored"], 5);
    assert_clean(&folder.crawl());
}

/// Answers that say nothing of what robots.txt permits: the host waits, and is not asked without end.
#[test]
fn a_robots_txt_that_cannot_be_used_is_asked_for_after_growing_pauses() {
    for status in [501, 520] {
        let server = serve(move |asked: &Asked| match asked.target.as_str() {
            "/robots.txt" => Reply::status(status),
            _ => Reply::html("x"),
        });
        let run = Webloom::crawl(&Folder::new().crawl(), &server.url("/")).env("WEBLOOM_POLITENESS_GIVE_UP", "2s");
        assert_eq!(run.run().expect(4).json()["end"], "unreachable");
        assert!((5..30).contains(&server.log().len()), "{} requests", server.log().len());
    }
}

/// The page by which a recovery would be found out does not belong to the crawl any more.
#[test]
fn a_page_that_is_known_to_be_good_may_be_excluded() {
    let away = Arc::new(AtomicBool::new(false));
    let (now, site) = (Arc::clone(&away), star(9));
    let server = serve(move |asked: &Asked| if now.load(Ordering::SeqCst) { Reply::status(503) } else { site(asked) });
    let folder = Folder::new();
    Webloom::crawl(&folder.crawl(), &server.url("/")).args(["--max-pages", "3"]).run().expect(0);
    away.store(true, Ordering::SeqCst);
    let asked = server.log().len();
    let run = Webloom::go_on(&folder.crawl()).args(["--max-pages", "none", "--exclude", "/$", "--exclude", "/1$"]);
    let summary = run.env("WEBLOOM_POLITENESS_GIVE_UP", "1s").run().expect(4).json();
    assert_eq!((&summary["end"], &summary["counts"]["queued"]), (&"unreachable".into(), &7.into()));
    assert!((3..20).contains(&(server.log().len() - asked)), "{} requests", server.log().len() - asked);
    assert_clean(&folder.crawl());
}

#[test]
fn a_robots_txt_that_leads_to_a_dead_host_holds_nobody_else_up() {
    let dead = Server::start("127.0.0.80", star(0)).unwrap();
    let there = dead.url("/robots.txt");
    drop(dead);
    let lost = Server::start("127.0.0.81", move |asked: &Asked| match asked.target.as_str() {
        "/robots.txt" => Reply::redirect(302, &there),
        _ => Reply::html("x"),
    });
    let lost = lost.unwrap();
    let well = serve(star(8));
    let folder = Folder::new();
    let run = Webloom::crawl(&folder.crawl(), &lost.url("/")).args([well.url("/")]);
    let run = run.args(["--max-depth", "3", "--allow-private", "127.0.0.80"]);
    let summary = run.env("WEBLOOM_POLITENESS_GIVE_UP", "1s").run().expect(4).json();
    assert_eq!((&summary["pages"]["stored"], &summary["counts"]["queued"]), (&9.into(), &1.into()));
    let waits = |host: &&Value| host["waiting"] == 1 && host["host"] == lost.url("").trim_end_matches('/');
    assert_eq!(summary["hosts"].as_array().unwrap().iter().filter(waits).count(), 1, "{}", summary["hosts"]);
    assert_clean(&folder.crawl());
}

#[test]
fn a_retry_after_beyond_all_bounds_is_a_slip() {
    let away = Arc::new(AtomicBool::new(true));
    let (now, site) = (Arc::clone(&away), star(2));
    let server = serve(move |asked: &Asked| match asked.target.as_str() {
        "/2" if now.load(Ordering::SeqCst) => Reply::status(503).header("retry-after: 18446744073709551"),
        _ => site(asked),
    });
    let folder = Folder::new();
    Webloom::crawl(&folder.crawl(), &server.url("/")).run().expect(4);
    assert_clean(&folder.crawl());
    // Thirty days at most; and what may be waited for now is.
    let database = rusqlite::Connection::open(folder.crawl().join("webloom.sqlite")).unwrap();
    let days = "SELECT (not_before - unixepoch() * 1000) / 86400000 FROM host";
    assert!((29..=30).contains(&database.query_row(days, [], |row| row.get::<_, i64>(0)).unwrap()));
    database.execute_batch("UPDATE host SET not_before = (unixepoch() + 2) * 1000").unwrap();
    away.store(false, Ordering::SeqCst);
    assert_eq!(Webloom::go_on(&folder.crawl()).run().expect(0).json()["pages"]["stored"], 3);
}

#[test]
fn all_starts_that_are_a_guess_are_tried_by_http() {
    let server = serve(star(3));
    let bare = server.url("/").replace("http://", "");
    let other = format!("{bare}1");
    let host = bare.trim_end_matches('/');
    let folder = Folder::new();
    let run = Webloom::crawl(&folder.crawl(), &bare).args([&*other, "--ignore-robots", host]).run().expect(0).json();
    assert_eq!(
        (&run["end"], &run["pages"]["stored"], &run["counts"]["queued"]),
        (&"drained".into(), &4.into(), &0.into())
    );
    assert_clean(&folder.crawl());
}
