//! Figures of freshness and age, beside the truth of a site whose pages change by chance.

use std::{
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, SystemTime},
};

use rusqlite::Connection;
use serde_json::Value;
use webloom_tests::{
    server::{Reply, Server},
    webloom::{REDISCOVER, Webloom, assert_clean},
};

use crate::{Folder, assert_counts, crawl, serve};

const PAGES: usize = 1000;

/// Hours for which it is known when pages change.
const HOURS: usize = 6;

/// When each page changes, in hours.
type Times = Vec<Vec<f64>>;

/// A site whose pages change as Poisson processes do. Its clock shows whole hours, and is set.
struct Site {
    server: Server,
    hour: Arc<AtomicUsize>,
    times: Arc<Times>,
}

/// Freshness and mean age in seconds.
type Figures = [f64; 2];

impl Site {
    /// Pages that change so often an hour, and say when they did so last, or do not.
    fn serve(rate: impl Fn(usize) -> f64, dated: bool) -> Self {
        let mut chance = 7_u64;
        let times: Arc<Times> = Arc::new((0..PAGES).map(|page| changes(rate(page), &mut chance)).collect());
        let hour = Arc::new(AtomicUsize::new(0));
        let (known, clock) = (Arc::clone(&times), Arc::clone(&hour));
        let server = serve(move |asked| {
            let now = clock.load(Ordering::SeqCst) as f64;
            let links = || Reply::links((0..PAGES).map(|page| format!("/{page}")));
            match asked.target.trim_start_matches('/') {
                "robots.txt" => Reply::status(404),
                "" => links(),
                page => shown(&known[page.parse::<usize>().expect("a page")], now, dated),
            }
        });
        Self { server, hour, times }
    }

    /// An hour passes: for the site by its clock, for the crawl by what it remembers.
    fn pass(&self, dir: &Path) {
        self.hour.fetch_add(1, Ordering::SeqCst);
        let earlier =
            "UPDATE sequence SET began_at = began_at - 3600000; UPDATE visit SET fetched_at = fetched_at - 3600000";
        let database = Connection::open(dir.join("webloom.sqlite")).expect("a database");
        database.execute_batch(earlier).expect("it can be changed");
    }

    /// Of copies that were good at this hour, until the next. The start never changes.
    fn truth(&self, hour: usize) -> Figures {
        let from = hour as f64;
        let fresh = |times: &Vec<f64>| times.iter().find(|at| **at > from).map_or(1.0, |at| (at - from).min(1.0));
        let sums = self.times.iter().map(fresh).map(|fresh| [fresh, (1.0 - fresh) * (1.0 - fresh) / 2.0 * 3600.0]);
        let [all, age] = sums.fold([1.0, 0.0], |[all, ages], [fresh, age]| [all + fresh, ages + age]);
        [all, age].map(|sum| sum / (PAGES + 1) as f64)
    }

    /// Copies that are good at this hour, of those taken an hour before.
    fn share_good(&self, hour: usize) -> f64 {
        let changes = |times: &&Vec<f64>| times.iter().any(|at| *at > hour as f64 - 1.0 && *at <= hour as f64);
        1.0 - self.times.iter().filter(changes).count() as f64 / (PAGES + 1) as f64
    }
}

/// The times of a Poisson process; its chance goes on (`SplitMix64`).
fn changes(rate: f64, chance: &mut u64) -> Vec<f64> {
    let (mut at, mut times) = (0.0, Vec::new());
    loop {
        *chance = chance.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (*chance ^ (*chance >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        let share = (((mixed ^ (mixed >> 31)) >> 11) as f64 + 0.5) / (1_u64 << 53) as f64;
        at -= share.ln() / rate;
        if at > HOURS as f64 {
            return times;
        }
        times.push(at);
    }
}

fn shown(times: &[f64], now: f64, dated: bool) -> Reply {
    let mut done = times.iter().filter(|at| **at <= now);
    let page = Reply::html(format!("<p>This page was changed {} times.</p>", done.clone().count()));
    match done.next_back().filter(|_| dated) {
        Some(last) => {
            let at = SystemTime::now() - Duration::from_secs_f64((now - last) * 3600.0);
            page.header(format!("Last-Modified: {}", httpdate::fmt_http_date(at)))
        }
        None => page,
    }
}

fn figures(summary: &Value, kind: &str) -> Figures {
    let revisit = &summary["revisit"];
    let figure = |value: &Value| value.as_f64().unwrap_or_else(|| panic!("{kind}: {revisit}"));
    [figure(&revisit["freshness"][kind]), figure(&revisit["age"][format!("{kind}_seconds")])]
}

/// The next sequence, an hour after the one before.
fn next(site: &Site, dir: &Path, arguments: &[&str]) -> Value {
    site.pass(dir);
    let summary = Webloom::go_on(dir).args(["--again"]).args(arguments).run().expect(0).json();
    assert_counts(&summary);
    summary
}

fn assert_near(found: Figures, truth: Figures, [share, age]: Figures, what: &str) {
    println!("{what}: {:.3} and {:.0} s, in truth {:.3} and {:.0} s", found[0], found[1], truth[0], truth[1]);
    assert!((found[0] - truth[0]).abs() < share, "{what}");
    assert!((found[1] / truth[1] - 1.0).abs() < age, "{what}");
}

/// Rates are one for the site: bounds are narrow where it has one, and wider where the fastest page changes 30 times as often as
/// the slowest.
#[test]
fn measured_and_expected_figures_are_near_the_truth() {
    let steady = |_| 0.7;
    let mixed = |page| 0.1 * 30_f64.powf(page as f64 / PAGES as f64);
    let sites = [
        (Site::serve(steady, false), [0.03, 0.12], "one rate"),
        (Site::serve(steady, true), [0.03, 0.12], "one rate, with dates"),
        (Site::serve(mixed, false), [0.06, 0.25], "many rates"),
        (Site::serve(mixed, true), [0.06, 0.25], "many rates, with dates"),
    ];
    for (site, bounds, what) in sites {
        let folder = Folder::new();
        let dir = folder.crawl();
        let first = crawl(&site.server, &dir, &[]);
        assert!(first["revisit"].is_null(), "{first}");
        for hour in 1..4 {
            let round = if hour == 3 { &REDISCOVER[1..] } else { &[] };
            let summary = next(&site, &dir, round);
            assert_near(figures(&summary, "measured"), site.truth(hour - 1), bounds, &format!("{what}, measured"));
            assert_near(figures(&summary, "expected"), site.truth(hour), bounds, &format!("{what}, expected"));
            let good = summary["revisit"]["freshness"]["at_looks"].as_f64().unwrap();
            assert!((good - site.share_good(hour)).abs() < 1e-9, "{good} {}", site.share_good(hour));
        }
        assert_clean(&dir);
    }
}

#[test]
fn the_expected_figures_are_those_of_the_schedule() {
    let site = Site::serve(|_| 0.7, false);
    let folder = Folder::new();
    let dir = folder.crawl();
    crawl(&site.server, &dir, &[]);
    let summary = next(&site, &dir, &[]);
    let [hourly, age] = figures(&summary, "expected");
    site.pass(&dir);
    let often = Webloom::go_on(&dir).args(["--again"]).env("WEBLOOM_SCHEDULE_EVERY", "15m").run().expect(0).json();
    let [fresh, young] = figures(&often, "expected");
    // Of a Poisson process of 0.7 an hour.
    let z = 0.7 / 4.0;
    assert!((fresh - (1.0 - f64::exp(-z)) / z).abs() < 0.02 && fresh > hourly && young < age / 3.0, "{often}");
    let status = Webloom::new(["status"]).args([&dir]).run().expect(0).stdout;
    let words = status.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains(" fresh measured ") && words.contains("expected until the next sequence"), "{status}");
    let rows: Vec<_> = status.lines().filter(|line| line.starts_with("sequence ")).collect();
    assert!(rows[0].ends_with("min") && rows[1].ends_with("min") && rows[2].ends_with("drained"), "{status}");
}

#[test]
fn what_says_nothing_of_a_page_is_no_look() {
    // Of ten pages one stays, one is gone from the second round on, one fails in it, and seven are changed by it.
    let round = Arc::new(AtomicUsize::new(0));
    let now = Arc::clone(&round);
    let server = serve(move |asked| match (asked.target.as_str(), now.load(Ordering::SeqCst)) {
        ("/robots.txt", _) | ("/gone", 1..) => Reply::status(404),
        ("/fails", 1) => Reply::status(403),
        ("/", _) => Reply::links((1..=7).map(|page| format!("/{page}")).chain(["/gone".into(), "/fails".into()])),
        ("/gone" | "/fails", _) => Reply::html("<p>It is here, and it stays.</p>"),
        (page, round) => Reply::html(format!("<p>{page} of round {round}</p>")),
    });
    let folder = Folder::new();
    let dir = folder.crawl();
    crawl(&server, &dir, &[]);
    let mut shares = Vec::new();
    for number in 1..4 {
        round.store(number.min(2), Ordering::SeqCst);
        let summary = Webloom::go_on(&dir).args(["--again"]).run().expect(0).json();
        shares.push(summary["revisit"]["freshness"]["at_looks"].as_f64().unwrap());
    }
    // Changed and gone: 8 of 9; what is gone stays so, what failed is as it was: 7 of 9; none of 9.
    assert_eq!(shares, [1.0 / 9.0, 2.0 / 9.0, 1.0]);
    assert_clean(&dir);
}
