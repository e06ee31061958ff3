//! Sequences on a schedule, in one process.

use std::{
    fs,
    net::SocketAddr,
    path::Path,
    time::{Duration, Instant},
};

use rustix::process::Signal;
use serde_json::{Value, json};
use webloom_tests::{
    server::{Reply, Server},
    webloom::{Run, Running, Webloom, assert_clean, pages},
};

use crate::{
    Folder,
    again::{Versions, changes},
    assert_counts,
    caches::shelves,
    chain, crawl,
    known_first::{Site, living},
    loss::database,
    serve, star,
};

/// What a run that waits has said.
const WAITS: &str = "next sequence at 2";

/// `watch START -d DIR`, with the lines of both outputs on stdout, as they come.
fn watch(dir: &Path, start: &str, arguments: &[&str]) -> Webloom {
    let run = Webloom::new(["watch", "--no-progress", start, "-d"]).args([dir]).args(arguments);
    run.env("WEBLOOM_CHANGE_CONFIRM_SHARE", "0").within("exec 2>&1")
}

/// `watch START -d DIR --json`.
fn watch_json(dir: &Path, start: &str, arguments: &[&str]) -> Webloom {
    let run = Webloom::new(["watch", "--json", start, "-d"]).args([dir]).args(arguments);
    run.env("WEBLOOM_CHANGE_CONFIRM_SHARE", "0")
}

/// The summary of the next sequence that ends.
fn next(running: &mut Running) -> Value {
    let summary = serde_json::from_str(&running.line_with("\"end\":")).expect("a document a line");
    assert_counts(&summary);
    summary
}

/// Ends a run that waits.
fn stop(running: Running) -> Run {
    let began = Instant::now();
    running.signal(Signal::TERM);
    let run = running.wait().expect(143);
    assert!(began.elapsed() < Duration::from_secs(2), "it waits for nothing: {:?}", began.elapsed());
    run
}

#[test]
fn sequences_follow_one_another_and_see_what_has_changed() {
    let site = Versions::serve(|version, path, _| match (path, version) {
        ("/", 0) => Reply::links(["/same", "/gone"]),
        ("/", _) => Reply::links(["/same", "/new"]),
        ("/gone", 0) | ("/new", 1..) => Reply::html("it is here"),
        ("/same", _) => Reply::html("the same"),
        _ => Reply::status(404),
    });
    let folder = Folder::new();
    let dir = folder.crawl();
    let mut running = watch_json(&dir, &site.server.url("/"), &["--every", "1s", "--runs", "3"]).spawn();
    let first = next(&mut running);
    let began = site.set(1);
    let second = next(&mut running);
    let run = running.wait().expect(0);
    let summaries = run.json_lines();
    assert_eq!((&summaries[..2], summaries.len()), (&[first, second][..], 3), "{}", run.stdout);
    let found: Vec<_> = summaries.iter().map(|summary| (&summary["sequence"], changes(summary))).collect();
    assert_eq!(found, [(&0.into(), [3, 0, 0, 0]), (&1.into(), [1, 1, 1, 1]), (&2.into(), [0, 0, 3, 1])]);
    assert_eq!(site.asked_since(began), ["/", "/", "/gone", "/gone", "/new", "/new", "/same", "/same"]);
    let starts: Vec<_> = site.server.log().into_iter().filter(|hit| hit.target == "/").map(|hit| hit.began).collect();
    let apart = (starts[1] - starts[0]).min(starts[2] - starts[1]);
    assert!(apart > Duration::from_millis(700) && run.took < Duration::from_secs(30), "{apart:?} {:?}", run.took);
    let settings: String = database(&dir).query_row("SELECT settings FROM crawl", [], |row| row.get(0)).unwrap();
    assert!(settings.contains("temporal"), "the profile is the one for this: {settings}");
    assert_clean(&dir);
}

#[test]
fn while_it_waits_others_may_read_none_may_write_and_a_signal_ends_it() {
    for (signal, code) in [(Signal::TERM, 143), (Signal::INT, 130)] {
        let (server, folder) = (serve(star(2)), Folder::new());
        let dir = folder.crawl();
        let mut running = watch(&dir, &server.url("/"), &["--cron", "@yearly", "--tz", "Europe/Berlin"]).spawn();
        let line = running.line_with(WAITS);
        assert!(line.ends_with("-01-01T00:00:00+01:00\n"), "{line}");
        for command in ["crawl", "watch"] {
            let second = Webloom::new([command, "-q", "-d"]).args([&dir]).run().expect(2);
            assert!(second.stderr.contains("in use") && second.stderr.lines().count() == 1, "{}", second.stderr);
        }
        assert_eq!(Webloom::new(["status", "--json"]).args([&dir]).run().expect(0).json()["end"], "drained");
        assert_eq!(pages(&dir).len(), 3);
        assert_clean(&dir);
        let asked = server.log().len();
        let began = Instant::now();
        running.signal(signal);
        running.wait().expect(code);
        assert!(began.elapsed() < Duration::from_secs(2), "{:?}", began.elapsed());
        assert_eq!(server.log().len(), asked);
        assert_clean(&dir);
    }
}

#[test]
fn what_is_no_schedule_is_refused_before_anything_is_made() {
    let (server, folder) = (serve(star(2)), Folder::new());
    for (arguments, named) in [
        (&["--cron", "61 * * * *"][..], "--cron"),
        (&["--cron", "0 0 30 2 *"], "--cron"),
        (&["--every", "0"], "--every"),
        (&["--every", "500ms"], "--every"),
        (&["--every", "1h", "--tz", "Mars/Olympus"], "--tz"),
        (&["--every", "1h", "--window", "22-6"], "--window"),
        (&["--every", "1h", "--overlap", "stop"], "--overlap"),
        (&["--every", "1h", "--cron", "@daily"], "--cron"),
        (&["--every", "1h", "--runs", "0"], "--runs"),
        (&[], "--every"),
    ] {
        let run = Webloom::new(["watch", "-q", &server.url("/"), "-d"]).args([folder.crawl()]).args(arguments).run();
        let run = run.expect(2);
        assert!(run.stderr.contains(named) && run.stderr.lines().count() <= 8, "{arguments:?}: {}", run.stderr);
        assert!(!folder.crawl().exists(), "{arguments:?}");
    }
    assert!(server.log().is_empty());
}

#[test]
fn a_sequence_that_was_killed_is_gone_on_with_on_the_schedule_it_had() {
    let (server, folder) = (serve(chain(8)), Folder::new());
    let dir = folder.crawl();
    let running = watch_json(&dir, &server.url("/"), &["--every", "1h", "--delay", "100ms"]).spawn();
    server.wait_for("/3", 1);
    running.signal(Signal::KILL);
    assert_eq!(running.wait().code, None);
    assert_clean(&dir);
    let run =
        Webloom::new(["watch", "--json", "--delay", "0", "-d"]).args([&dir]).args(["--runs", "1"]).run().expect(0);
    let summary = run.json();
    let ended = [&summary["end"], &summary["sequence"], &summary["pages"]["stored"]];
    assert_eq!(ended, [&Value::from("drained"), &0.into(), &9.into()]);
    assert_clean(&dir);
    // So it is in one that was not the first.
    let before = server.count("/3");
    let running = watch_json(&dir, &server.url("/"), &["--every", "1s", "--delay", "100ms"]).spawn();
    server.wait_for("/3", before + 1);
    running.signal(Signal::KILL);
    assert_eq!(running.wait().code, None);
    let run = watch_json(&dir, &server.url("/"), &["--cron", "@yearly", "--delay", "0", "--runs", "1"]).run().expect(0);
    let summary = run.json();
    assert_eq!((&summary["sequence"], changes(&summary)), (&1.into(), [0, 0, 9, 0]));
    assert_clean(&dir);
}

#[test]
fn starts_that_were_missed_are_made_up_for_once() {
    let (server, folder) = (serve(star(2)), Folder::new());
    let dir = folder.crawl();
    crawl(&server, &dir, &[]);
    let earlier = "UPDATE sequence SET began_at = began_at - 86400000";
    let writable = rusqlite::Connection::open(dir.join("webloom.sqlite")).unwrap();
    assert_eq!(writable.execute(earlier, []).unwrap(), 1);
    drop(writable);
    for (sequence, schedule) in [(1, ["--every", "1h"]), (1, ["--cron", "@yearly"])] {
        let mut running = watch(&dir, &server.url("/"), &schedule).spawn();
        running.line_with(WAITS);
        stop(running);
        let status = Webloom::new(["status", "--json"]).args([&dir]).run().expect(0).json();
        assert_eq!((&status["sequence"], &status["end"]), (&sequence.into(), &"drained".into()));
    }
    assert_eq!(server.count("/1"), 2);
    assert_clean(&dir);
}

#[test]
fn so_are_those_that_were_slept_through() {
    let (server, folder) = (serve(star(1)), Folder::new());
    let mut running = watch_json(&folder.crawl(), &server.url("/"), &["--every", "1s"]).spawn();
    next(&mut running);
    running.signal(Signal::STOP);
    server.wait_for_silence(Duration::from_millis(3_200));
    let before = server.count("/1");
    running.signal(Signal::CONT);
    for _ in 0..3 {
        next(&mut running);
    }
    stop(running);
    let after: Vec<_> = server.log().into_iter().filter(|hit| hit.target == "/1").map(|hit| hit.began).collect();
    // Three that were each made up for would come in a row.
    assert!(after[before + 2] - after[before] > Duration::from_millis(800), "{before}: {after:?}");
    assert_clean(&folder.crawl());
}

#[test]
fn a_site_that_is_away_at_a_start_is_whole_at_a_later_one() {
    let server = Server::start("127.0.0.79", star(5)).unwrap();
    let (start, address) = (server.url("/"), SocketAddr::from(([127, 0, 0, 79], server.port())));
    let folder = Folder::new();
    let run = watch_json(&folder.crawl(), &start, &["--every", "1s"]).env("WEBLOOM_POLITENESS_GIVE_UP", "300ms");
    let mut running = run.spawn();
    assert_eq!(next(&mut running)["end"], "drained");
    drop(server);
    while next(&mut running)["end"] != "unreachable" {}
    // The next start finds it as it is, and does not come before its time.
    assert_eq!(next(&mut running)["end"], "unreachable");
    let server = Server::start_at(address, star(5)).unwrap();
    let mut back = next(&mut running);
    while back["end"] == "unreachable" {
        back = next(&mut running);
    }
    assert_eq!((&back["end"], changes(&back)), (&"drained".into(), [0, 0, 6, 0]), "{back}");
    let run = stop(running);
    assert!(run.stderr.contains("hosts that do not answer"), "{}", run.stderr);
    assert!(run.json_lines().len() as u64 <= run.took.as_secs() + 2, "it spins: {:?} {}", run.took, run.stdout);
    let drained = run.json_lines().iter().rev().take_while(|line| line["end"] == "drained").count();
    // What was left may be fetched before the next sequence begins.
    assert!((drained..=drained + 1).contains(&server.count("/1")), "{drained}");
    assert_clean(&folder.crawl());
}

#[test]
fn a_sequence_that_outlasts_its_interval_is_warned_of_and_dealt_with() {
    for (overlap, said) in [("skip", "left out"), ("queue", "right after"), ("restart", "the running one stops")] {
        let (server, folder) = (serve(chain(12)), Folder::new());
        let dir = folder.crawl();
        let slow = ["--every", "1s", "--overlap", overlap, "--delay", "120ms", "--runs", "2"];
        let run = watch(&dir, &server.url("/"), &slow).run().expect(0);
        assert_eq!(run.stdout.matches("is still running when the next one is due").count(), 2, "{}", run.stdout);
        assert!(run.stdout.contains(said), "{}", run.stdout);
        assert_eq!(run.stdout.contains(WAITS), overlap == "skip", "{}", run.stdout);
        let ends = if overlap == "restart" { "Reached " } else { "Complete: " };
        assert_eq!(run.stdout.matches(ends).count(), 2, "{}", run.stdout);
        assert_clean(&dir);
        if overlap == "restart" {
            // What was not come to is not lost.
            let rest = Webloom::go_on(&dir).args(["--again", "--delay", "0"]).run().expect(0).json();
            assert_eq!((&rest["end"], &rest["counts"]["finished"]), (&"drained".into(), &13.into()));
            assert_clean(&dir);
        }
    }
}

#[test]
fn the_budget_of_time_is_each_sequence_s() {
    let (server, folder) = (serve(chain(12)), Folder::new());
    let short = ["--every", "1s", "--delay", "120ms", "--max-time", "700ms", "--runs", "2"];
    let run = watch_json(&folder.crawl(), &server.url("/"), &short).run().expect(0);
    for summary in run.json_lines() {
        assert_eq!(summary["end"], "budget", "{summary}");
        assert!(summary["seconds"].as_f64() > Some(0.3) && summary["pages"]["stored"].as_u64() > Some(1), "{summary}");
    }
    assert_clean(&folder.crawl());
}

#[test]
fn where_nothing_has_changed_nothing_is_sent_and_that_is_no_failure() {
    let (site, folder) = (Site::serve(living), Folder::new());
    // The same starts each time are no wider scope: pages would be read anew for it.
    let arguments = ["--add", &site.server.url("/edit"), "--every", "1s", "--runs", "2"];
    let run = watch_json(&folder.crawl(), &site.server.url("/"), &arguments).run().expect(0);
    let second = &run.json_lines()[1];
    assert_eq!((&second["end"], &second["requests"]["by_status"]), (&"drained".into(), &json!({"304": 5})), "{second}");
    assert_eq!(second["pages"]["stored"], 5);
    assert_clean(&folder.crawl());
}

#[test]
fn sequences_that_a_full_cache_has_follow_belong_to_one_start() {
    let (server, folder) = (serve(shelves), Folder::new());
    let dir = folder.crawl();
    let policy = ["--every", "1h", "--reset", "restart", "--max-lost-urls", "0.00001", "--expected-urls", "40"];
    let mut running = watch(&dir, &server.url("/"), &policy).spawn();
    let line = running.line_with(WAITS);
    let run = stop(running);
    let status = Webloom::new(["status", "--json"]).args([&dir]).run().expect(0).json();
    let sequences = status["sequence"].as_u64().map_or(0, |last| last + 1);
    assert_eq!(run.stdout.matches("kept in").count() as u64, sequences, "each is shown: {}", run.stdout);
    assert_eq!((&status["end"], &status["pages"]["stored"]), (&"drained".into(), &311.into()));
    assert!(sequences > 1, "{status}");
    let time = line.trim().trim_start_matches("next sequence at ");
    let late = "SELECT unixepoch(?) - (began_at / 1000 + 3600) FROM sequence WHERE n = 0";
    let late: i64 = database(&dir).query_row(late, [time], |row| row.get(0)).unwrap();
    assert!((-2..=0).contains(&late), "it is counted from the first: {late} s");
    assert_clean(&dir);
}

#[test]
fn the_directory_of_another_crawl_is_refused_at_once() {
    let (server, other) = (serve(star(1)), serve(star(1)));
    let folder = Folder::new();
    crawl(&server, &folder.crawl(), &[]);
    let run = watch_json(&folder.crawl(), &other.url("/"), &["-q", "--every", "1h"]).run().expect(2);
    assert!(run.stderr.contains("--add"), "{}", run.stderr);
    assert!(other.log().is_empty());
}

#[test]
fn settings_are_read_again_on_sighup_and_kept_where_they_are_wrong() {
    let (server, folder) = (serve(star(2)), Folder::new());
    let (dir, file) = (folder.crawl(), folder.0.path().join("watch.toml"));
    let set = |text: &str| fs::write(&file, format!("[schedule]\n{text}\n")).unwrap();
    set("every = \"1h\"");
    let mut running = watch(&dir, &server.url("/"), &["--config", file.to_str().unwrap()]).spawn();
    running.line_with(WAITS);
    set("every = \"1h\"\ntz = \"Mars\"");
    running.signal(Signal::HUP);
    let error = running.line_with("error");
    assert!(error.contains("the old ones stay") && error.contains("schedule.tz"), "{error}");
    set("cron = \"* * * * * *\"");
    running.signal(Signal::HUP);
    running.line_with("read again");
    running.line_with("Complete: sequence 1");
    running.line_with("Complete: sequence 2");
    stop(running);
    assert!(server.count("/1") >= 3);
    assert_clean(&dir);
}

#[test]
fn it_is_paused_asked_for_and_given_more_starts_without_a_restart() {
    let (server, folder) = (serve(chain(0)), Folder::new());
    let [file, list] = ["watch.toml", "list"].map(|name| folder.0.path().join(name));
    let set = |text: &str| fs::write(&file, format!("[schedule]\nevery = \"1h\"\n{text}\n")).unwrap();
    set("");
    fs::write(&list, server.url("/1")).unwrap();
    let dir = folder.crawl();
    let start = format!("@{}", list.display());
    let mut running = watch(&dir, &start, &["--config", file.to_str().unwrap()]).spawn();
    running.line_with(WAITS);
    // A start more, and the next sequence at once.
    fs::write(&list, [server.url("/1"), server.url("/2")].join("\n")).unwrap();
    running.signal(Signal::HUP);
    running.line_with("read again");
    assert_eq!(server.count("/2"), 0);
    running.signal(Signal::USR1);
    running.line_with("Complete: sequence 1");
    assert_eq!((server.count("/1"), server.count("/2")), (2, 1));
    running.line_with(WAITS);
    // Paused: nothing begins, whatever is asked.
    set("pause = \"on\"");
    running.signal(Signal::HUP);
    running.line_with("paused: nothing begins");
    running.signal(Signal::USR1);
    running.line_with("paused: no sequence");
    // Not any more, and once at a time that comes at once.
    let now: i64 = database(&dir).query_row("SELECT unixepoch() + 1", [], |row| row.get(0)).unwrap();
    let now: String = database(&dir)
        .query_row("SELECT strftime('%Y-%m-%dT%H:%M:%SZ', ?, 'unixepoch')", [now], |row| row.get(0))
        .unwrap();
    set(&format!("also_at = \"{now}\""));
    running.signal(Signal::HUP);
    running.line_with("Complete: sequence 2");
    running.line_with(WAITS);
    // The list is gone: all stays as it was.
    fs::remove_file(&list).unwrap();
    running.signal(Signal::HUP);
    let error = running.line_with("error");
    assert!(error.contains("the old ones stay") && error.contains("cannot read the list"), "{error}");
    stop(running);
    assert_eq!((server.count("/1"), server.count("/2")), (3, 2));
    assert_clean(&dir);
}
