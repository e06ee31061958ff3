//! What moves by itself is shown where somebody asks for it, and its figures are in the status.

use std::{
    sync::atomic::{AtomicUsize, Ordering},
    time::Duration,
};

use serde_json::Value;
use webloom_tests::{
    server::{Reply, Server},
    webloom::{Webloom, assert_clean},
};

use super::{
    NOTHING,
    site::{Answer, CLOCK, NOISE, Site, TEXT, TOKEN, links, own_text},
};
use crate::{Folder, crawl, serve};

/// Pages that say something of their own, and on which much moves.
fn page(site: &Site, path: &str, text: &str) {
    let lines: Vec<_> = text.lines().map(|line| format!("<p>{line}</p>\n")).collect();
    site.set(path, Answer::Page(lines.concat() + NOISE + "<p>Copyright by the owner</p>"));
}

fn lines(site: &Site, arguments: &[&str]) -> Vec<Value> {
    site.changes(&[&["--format", "jsonl"], arguments].concat()).expect(0).json_lines()
}

fn says(value: &Value, part: &str) -> bool {
    value.as_str().is_some_and(|text| text.contains(part))
}

#[test]
fn what_moves_by_itself_is_listed_and_counted() {
    let paths: Vec<_> = (1..=30).map(|number| format!("/docs/{number}")).collect();
    let site = Site::of(&paths);
    for path in &paths {
        page(&site, path, &own_text(path));
    }
    site.crawl(&TEXT);
    assert_eq!(site.again(&[]), NOTHING);
    page(&site, "/docs/3", "Another text of this page\nthat is as long as before");
    assert_eq!(site.again(&[]), ["changed_text /docs/3"]);
    // A page for each sequence, and ten more at most in each.
    assert!(site.server.log().len() <= 3 * (31 + 10) + 2);
    let masks = lines(&site, &["--masks"]);
    for kind in ["reorders", "rotates", "value"] {
        assert!(masks.iter().any(|mask| mask["kind"] == kind), "{kind}: {masks:?}");
    }
    let counter = masks.iter().find(|mask| says(&mask["example"], "Visitors so far")).expect("the counter");
    assert!(says(&counter["where"], "/docs/ ") && says(&counter["where"], "after \"Others read\""), "{counter}");
    assert!(counter["pages"].as_u64() >= Some(3) && counter["since"] == 0 && counter["hid"].as_u64() > Some(30));
    let masked = lines(&site, &["--masked", "--match", "/docs/1$"]);
    assert!(masked.iter().any(|line| says(&line["before"], "Visitors so far")), "{masked:?}");
    let status = Webloom::new(["status", "--json"]).args([&site.dir()]).run().expect(0).json();
    let noise = &status["noise"];
    assert!(noise["masked_lines"].as_u64() > Some(60) && noise["second_looks"].as_u64() >= Some(1), "{noise}");
    assert!(noise["withdrawn_share"].as_f64().is_some_and(|share| (0.1..=1.0).contains(&share)), "{noise}");
}

#[test]
fn a_clock_moves_though_a_sequence_ends_within_its_second() {
    let paths: Vec<_> = (1..=20).map(|number| format!("/docs/{number}")).collect();
    let site = Site::of(&paths);
    let set = |path: &str, price: u32| {
        let own = own_text(path);
        site.set(
            path,
            Answer::Page(format!("<p>{own}<p>Price {price}, last sold at {CLOCK}<p>Copyright by the owner")),
        );
    };
    for path in &paths {
        set(path, 7);
    }
    site.crawl(&TEXT);
    std::thread::sleep(Duration::from_millis(1_100));
    assert_eq!(site.again(&[]), NOTHING);
    set("/docs/9", 8);
    assert_eq!(site.again(&[]), ["changed_text /docs/9"]);
}

#[test]
fn a_date_that_changes_daily_is_reported_once_and_one_beside_it_always() {
    let site = Site::numbered(3);
    let day = |day: u32, published: u32| {
        let own = own_text("/1");
        let dates = format!("Published {published} May 2024</p><p>Today is {day} June 2024");
        site.set("/1", Answer::Page(format!("<p>{own}</p><p>{dates}</p><p>Copyright by the owner</p>")));
        site.again(&[])
    };
    site.set("/1", Answer::Page(own_text("/1")));
    site.crawl(&TEXT);
    assert_eq!(day(1, 3), ["changed_text /1"]);
    assert_eq!(day(2, 3), ["changed_text /1"], "who knows whether this is news");
    assert_eq!(day(3, 3), NOTHING);
    assert_eq!(day(4, 5), ["changed_text /1"]);
    assert_eq!(day(5, 5), NOTHING);
}

#[test]
fn what_is_edited_every_day_is_no_noise() {
    let paths: Vec<_> = (1..=40).map(|number| format!("/shop/{number}")).collect();
    let site = Site::of(&paths);
    let day = |day: usize| {
        for (number, path) in paths.iter().enumerate() {
            let words = ["rain", "wind", "snow", "fog", "hail", "sun"][day];
            let [first, rest] =
                [own_text(path), format!("Headline of {path} on {words}\nPrice {} EUR", number + day * 7)];
            site.page(path, &format!("{first}\n{rest}\nCopyright by the owner"));
        }
    };
    day(0);
    site.crawl(&TEXT);
    let mut reported = 0;
    for number in 1..6 {
        day(number);
        let run = Webloom::go_on(&site.dir()).args(["--again"]).env("WEBLOOM_CHANGE_MASS_SHARE", "1");
        reported += site.run(run).1.len();
    }
    // More change than may be looked at twice: a page waits for a sequence at most.
    assert!(reported >= 2 * paths.len(), "{reported}");
    assert!(lines(&site, &["--masks"]).is_empty(), "nothing of it moves by itself");
}

#[test]
fn what_moves_from_now_on_hides_neither_the_edit_that_brought_it_nor_a_new_page() {
    let site = Site::of(["/docs/1", "/docs/2"]);
    site.crawl(&TEXT);
    page(&site, "/docs/1", "Another text of this page\nthat is as long as before");
    page(&site, "/docs/new", &own_text("/docs/new"));
    site.set("/", Answer::Page(links(["/docs/1", "/docs/2", "/docs/new"])));
    assert_eq!(site.again(&[]), ["changed /", "changed_text /docs/1", "new /docs/new"]);
    assert_eq!(site.again(&[]), NOTHING);
}

#[test]
fn a_kill_between_two_looks_loses_nothing_and_reports_nothing_twice() {
    let paths: Vec<_> = (1..=12).map(|number| format!("/docs/{number}")).collect();
    for point in ["after_unsure_pages:1", "after_step:15", "before_end:1", "inside_end:1", "after_end:1"] {
        let site = Site::of(&paths);
        for path in &paths {
            page(&site, path, &own_text(path));
        }
        let killed = Webloom::crawl(&site.dir(), &site.server.url("/")).args(TEXT);
        let killed = killed.env("WEBLOOM_STORE_COMMIT_VISITS", "1").env("WEBLOOM_FAILPOINT", point).run();
        assert_eq!(killed.code, None, "{point}: {}", killed.stderr);
        site.run(Webloom::go_on(&site.dir()));
        page(&site, "/docs/3", "Another text of this page\nthat is as long as before");
        let killed = Webloom::go_on(&site.dir()).args(["--again"]).env("WEBLOOM_STORE_COMMIT_VISITS", "1");
        assert_eq!(killed.env("WEBLOOM_FAILPOINT", point).run().code, None, "{point}");
        let (_, reported) = site.run(Webloom::go_on(&site.dir()));
        assert_eq!(reported, ["changed_text /docs/3"], "{point}");
        assert_eq!(site.again(&[]), NOTHING, "{point}");
    }
}

#[test]
fn where_nothing_moves_nothing_is_known_to() {
    let site = Site::numbered(5);
    site.crawl(&TEXT);
    assert_eq!(site.again(&[]), NOTHING);
    let empty = site.changes(&["--masks"]).expect(0);
    assert!(empty.stdout.lines().count() <= 1 && empty.stderr.contains("nothing is known to move"), "{empty:?}");
    assert!(lines(&site, &["--masked"]).is_empty());
}

/// What a further sequence reports.
fn again(server: &Server, folder: &Folder) -> Vec<String> {
    let dir = folder.crawl();
    let summary = Webloom::go_on(&dir).args(["--again"]).run().expect(0).json();
    assert_clean(&dir);
    let since = summary["sequence"].to_string();
    let list = Webloom::new(["changes", "--format", "jsonl", "--since", &since]).args([&dir]).run().expect(0);
    let short = |line: &Value| {
        let [change, url] = ["change", "url"].map(|name| line[name].as_str().expect("a word"));
        format!("{change} {}", url.trim_start_matches(&server.url("")))
    };
    list.json_lines().iter().map(short).collect()
}

#[test]
fn a_page_of_nothing_but_a_counter_is_volatile() {
    let count = AtomicUsize::new(0);
    let server = serve(move |asked| match &*asked.target {
        "/" => Reply::html("<a href=/counter>x</a>"),
        "/counter" => Reply::html(format!("<p>{}</p>", count.fetch_add(1, Ordering::SeqCst))),
        _ => Reply::status(404),
    });
    let folder = Folder::new();
    crawl(&server, &folder.crawl(), &["--text", "on"]);
    assert_eq!(again(&server, &folder), ["volatile /counter"]);
    assert_eq!(again(&server, &folder), NOTHING);
    assert_eq!(again(&server, &folder), NOTHING);
}

#[test]
fn a_site_where_all_is_noise_has_one_line() {
    let count = AtomicUsize::new(0);
    let paths: Vec<_> = (1..=30).map(|number| format!("/docs/{number}")).collect();
    let start = links(&paths);
    let server = serve(move |asked| {
        let now = count.fetch_add(7, Ordering::SeqCst);
        match &*asked.target {
            "/" => Reply::html(format!("<p>{now} visitors</p>{start}")),
            path if path.starts_with("/docs/") => Reply::html(format!("<h1>Visitor {now}</h1><p>{}", now * now)),
            _ => Reply::status(404),
        }
    });
    let folder = Folder::new();
    crawl(&server, &folder.crawl(), &["--text", "on"]);
    let reported = again(&server, &folder);
    assert!(reported.len() == 1 && reported[0].starts_with("volatile "), "{reported:?}");
    let line =
        Webloom::new(["changes", "--format", "jsonl"]).args([folder.crawl()]).run().expect(0).json_lines().remove(0);
    assert_eq!(line["count"], 31);
    (0..3).for_each(|_| assert_eq!(again(&server, &folder), NOTHING));
}

#[test]
fn an_edit_between_two_looks_is_reported_late_and_not_lost() {
    let before = ["The first text</p><p>of this page", "<a href=/old>The guide</a>"];
    let after = ["Another text</p><p>of this page", "<a href=/new>The guide</a>"];
    for edited in 0..2 {
        let asked = AtomicUsize::new(0);
        let server = serve(move |request| match &*request.target {
            "/" => Reply::html("<a href=/page>x</a>"),
            "/old" | "/new" => Reply::html(&*request.target),
            "/page" => {
                let now = asked.fetch_add(1, Ordering::SeqCst);
                let part = |part: usize| if part == edited && now > 0 { after[part] } else { before[part] };
                Reply::html(format!("<h1>Title</h1><p>{}</p><p>{}</p><p>The end</p>", part(0), part(1)))
            }
            _ => Reply::status(404),
        });
        let folder = Folder::new();
        crawl(&server, &folder.crawl(), &["--text", "on"]);
        let reported: Vec<_> =
            (0..5).flat_map(|_| again(&server, &folder)).filter(|line| line.ends_with("/page")).collect();
        assert_eq!(reported, ["changed_text /page"], "{edited}");
    }
}

#[test]
fn a_second_look_that_fails_has_the_change_wait_for_the_next_sequence() {
    let asked = AtomicUsize::new(0);
    let server = serve(move |request| match &*request.target {
        "/" => Reply::html("<a href=/page>x</a>"),
        // In the first sequence the text, and twice; then another text, and no second look at it.
        "/page" => match asked.fetch_add(1, Ordering::SeqCst) {
            0 | 1 => Reply::html("<p>The first text\n<p>of this page"),
            3 => Reply::status(500),
            _ => Reply::html("<p>Another text\n<p>of this page"),
        },
        _ => Reply::status(404),
    });
    let folder = Folder::new();
    crawl(&server, &folder.crawl(), &["--text", "on"]);
    assert_eq!(again(&server, &folder), NOTHING);
    assert_eq!(again(&server, &folder), ["changed_text /page"]);
    assert_eq!(again(&server, &folder), NOTHING);
}

#[test]
fn bytes_that_have_come_to_rest_are_watched_again() {
    let paths: Vec<_> = (1..=4).map(|number| format!("/docs/{number}")).collect();
    let site = Site::of(&paths);
    let set = |path: &str, token: &str| {
        site.set(path, Answer::Page(format!("<p>{}</p><input type=hidden value='{token}'>", own_text(path))));
    };
    for path in &paths {
        set(path, TOKEN);
    }
    site.crawl(&TEXT);
    assert_eq!(site.again(&[]), NOTHING);
    assert_eq!(lines(&site, &["--masks"]).len(), 1, "of the section");
    for path in &paths {
        set(path, "none");
    }
    for _ in 0..6 {
        assert_eq!(site.again(&[]), NOTHING);
    }
    assert!(lines(&site, &["--masks"]).is_empty());
    set("/docs/2", "another");
    assert_eq!(site.again(&[]), ["changed /docs/2"]);
}

#[test]
fn a_page_that_is_volatile_by_its_bytes_is_looked_at_twice_when_its_text_moves() {
    let site = Site::of(["/docs/1", "/docs/2"]);
    let set = |more: &str| {
        site.set(
            "/docs/1",
            Answer::Page(format!("<p>{}</p>{more}<input type=hidden value={TOKEN}>", own_text("/docs/1"))),
        );
    };
    set("");
    let with = |share: &str, run: Webloom| site.run(run.env("WEBLOOM_CHANGE_CONFIRM_SHARE", share)).1;
    let again = |share: &str| with(share, Webloom::go_on(&site.dir()).args(["--again"]));
    with("0", Webloom::crawl(&site.dir(), &site.server.url("/")).args(TEXT));
    let reported = ["0"; 4].map(again).concat();
    assert_eq!(reported, ["changed /docs/1", "changed /docs/1", "volatile /docs/1"]);
    set(&format!("<p>Your visit is {TOKEN}</p>"));
    assert_eq!(again("0.1"), ["changed_text /docs/1"]);
    assert!(lines(&site, &["--masks"]).iter().any(|mask| says(&mask["example"], "Your visit is")));
    assert_eq!(["0.1"; 3].map(again).concat(), NOTHING);
}
