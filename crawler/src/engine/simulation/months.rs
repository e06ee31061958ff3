//! A site whose pages change at known rates, kept fresh for months. Are rates estimated right? Which policy keeps it fresher? Do file and
//! memory keep their size?
//!
//! `LONG=1` has 5,000 pages; without it there are fewer, so that it takes seconds.

use std::{collections::BTreeMap, sync::Arc};

use super::{
    Random,
    crawl::{BEGIN, NextRun, Request, SimulatedCrawl},
    settings::Stage,
    web::{Given, Host, SimulatedPage, SimulatedRobots, Web},
};
use crate::{
    engine::{Between, RunEnd},
    revisit::{Class, PageState, Span, chance::Chance},
    store::{
        ReadSide, Revisit,
        sqlite::{CrawlDirectory, Records},
    },
    time::Moment,
};

/// By so much at least is `optimal` fresher than both others. With 5,000 pages, of which rates are learnt in 30 days, it was 0.017.
const MARGIN: f64 = 0.01;

const DAY: u64 = 86_400_000;

const ORIGIN: &str = "http://h0.test";

/// A site, and when its pages change.
struct Site {
    web: Web,
    /// By number, in milliseconds from the beginning.
    changes: Vec<Arc<[u64]>>,
    /// Changes a second.
    rates: Vec<f64>,
}

impl Site {
    /// So many pages, in five folders, with mean times between changes from half a day to `spread` times that, their logarithms
    /// equally spread; after so many days nothing changes any more. Page 0 is the start, and stays.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "milliseconds of months")]
    fn new(pages: usize, spread: f64, days: u64) -> Self {
        let mut chance = Chance::new(11);
        let (mut changes, mut rates) = (Vec::new(), Vec::new());
        for page in 0..pages {
            let rate = if page == 0 { 0.0 } else { 2.0 / 86_400.0 * spread.powf(-chance.share()) };
            let mut next =
                |at: &f64| Some(at - chance.share().ln() / rate * 1000.0).filter(|at| *at < (days * DAY) as f64);
            let times = std::iter::successors(next(&0.0), |at| next(at)).map(|at| at as u64).collect::<Vec<_>>();
            changes.push(times.into());
            rates.push(rate);
        }
        let path = |page: usize| if page == 0 { "/0".to_owned() } else { format!("/{}/{page}", page % 5) };
        let links = |page: usize| {
            let next = [2 * page + 1, 2 * page + 2].into_iter().filter(|next| *next < pages);
            next.map(|next| ORIGIN.to_owned() + &path(next)).collect()
        };
        let living =
            |(page, times): (usize, &Arc<[u64]>)| (path(page), SimulatedPage::Living(Arc::clone(times), links(page)));
        let all = changes.iter().enumerate().map(living).collect();
        let host = Host {
            pages: all,
            robots: SimulatedRobots::Missing,
            outages: Vec::new(),
            robots_outages: Vec::new(),
            sitemap: None,
            strain: None,
            is_given: true,
        };
        let starts = vec![Given { url: format!("{ORIGIN}/0"), guessed: false, is_added: false }];
        Self {
            web: Web { hosts: BTreeMap::from([(ORIGIN.to_owned(), host)]), starts, is_later: false },
            changes,
            rates,
        }
    }

    fn crawl(&self, settings: Stage) -> SimulatedCrawl {
        SimulatedCrawl::new(self.web.clone(), vec![settings], Random::new(1))
    }
}

/// The number of a page.
fn number(url: &str) -> usize {
    url.rsplit('/').next().and_then(|last| last.parse().ok()).expect("each page has a number")
}

fn settings(policy: &str, sweep: &str) -> Stage {
    Stage::new(&format!(
        "[cache]\nstrategy = \"temporal\"\nsweep = \"{sweep}\"\n[politeness]\ndelay = 0\nper_host = 1\n\
         [revisit]\nadaptive = \"on\"\naudit_not_modified = 0\npolicy = \"{policy}\"\nmin_interval = \"6h\"\nmax_interval = \"1000d\"\n\
         [change]\ntext = \"on\"\nmass_share = 1\n"
    ))
}

/// How fresh the copies of a site really are.
struct Truth<'a> {
    site: &'a Site,
    /// When each page was fetched last.
    copies: Vec<u64>,
    /// Nothing before counts.
    from: u64,
    span: Span,
    visits: usize,
}

impl<'a> Truth<'a> {
    fn new(site: &'a Site, from: u64) -> Self {
        Self { site, copies: vec![0; site.changes.len()], from, span: Span::default(), visits: 0 }
    }

    /// Takes in what was asked for.
    fn take(&mut self, requests: &mut Vec<Request>) {
        for request in requests.drain(..).filter(|request| !request.url.ends_with("robots.txt")) {
            let page = number(&request.url);
            self.until(page, request.from);
            self.copies[page] = request.from;
            self.visits += usize::from(request.from >= self.from);
        }
    }

    /// Adds the time from a page's copy on, as far as it counts.
    fn until(&mut self, page: usize, to: u64) {
        let (copy, changes) = (self.copies[page], &self.site.changes[page]);
        let first = changes.get(changes.partition_point(|change| *change <= copy)).copied().unwrap_or(u64::MAX);
        let from = copy.max(self.from);
        if to <= from {
            return;
        }
        let seconds = |millis: u64| millis as f64 / 1000.0;
        let fresh = seconds(first.min(to).saturating_sub(from));
        let [old, oldest] = [from.max(first).min(to), to].map(|at| seconds(at.saturating_sub(first)));
        self.span += Span { seconds: seconds(to - from), fresh, age: (oldest * oldest - old * old) / 2.0 };
    }

    fn end(&mut self, to: u64) -> Span {
        for page in 0..self.copies.len() {
            self.until(page, to);
            self.copies[page] = to;
        }
        self.span
    }
}

fn run(crawl: &mut SimulatedCrawl) {
    let end = crawl.run();
    assert_eq!(end, Ok(Some(RunEnd::Drained)), "at {}", crawl.now);
    crawl.forget_the_writer();
    crawl.runs += 1;
}

/// Has the policy learn from all visits.
fn learn(crawl: &SimulatedCrawl) {
    let mut directory = CrawlDirectory::open(crawl.folder.path()).unwrap();
    let now = Moment::from_millis(BEGIN + crawl.now);
    let request = Between::new(&crawl.settings, now).look_ahead(now);
    directory.due(request).unwrap();
}

/// Bytes of the database.
fn file_size(crawl: &SimulatedCrawl) -> f64 {
    std::fs::metadata(crawl.folder.path().join("webloom.sqlite")).unwrap().len() as f64
}

/// Resident bytes of this process.
fn memory() -> f64 {
    let pages = std::fs::read_to_string("/proc/self/statm").unwrap();
    pages.split(' ').nth(1).and_then(|pages| pages.parse::<f64>().ok()).expect("a number of pages") * 4096.0
}

/// The slope of the line with the least squares: so much more from one to the next.
fn slope(values: &[f64]) -> f64 {
    let middle = (values.len() as f64 - 1.0) / 2.0;
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    let off = |place: usize| place as f64 - middle;
    let sum: f64 = values.iter().enumerate().map(|(place, value)| off(place) * (value - mean)).sum();
    sum / (0..values.len()).map(|place| off(place) * off(place)).sum::<f64>()
}

fn is_long() -> bool {
    std::env::var("LONG").is_ok_and(|long| long == "1")
}

/// 200 sequences, one a day, in the last quarter of which nothing changes.
#[test]
fn two_hundred_sequences_tell_the_rates_and_take_no_more_room() {
    let (sequences, pages) = (200, if is_long() { 5_000 } else { 100 });
    let quiet = sequences * 3 / 4;
    let site = Site::new(pages, 40.0, quiet);
    // What each sequence measured is looked at in the end.
    let mut crawl = site.crawl(Stage::new(&(settings("optimal", "rescue").text + "[store]\nkeep = \"all\"\n")));
    crawl.runs = 1;
    let (mut files, mut memories) = (Vec::new(), Vec::new());
    let mut truth = Truth::new(&site, 0);
    let began = std::time::Instant::now();
    for sequence in 0..sequences {
        crawl.now = crawl.now.max(sequence * DAY);
        crawl.next = if sequence > 0 { NextRun::Begins } else { NextRun::GoesOn };
        crawl.revisit = Revisit::KnownFirst;
        run(&mut crawl);
        truth.take(&mut crawl.requests);
        learn(&crawl);
        if sequence + 1 == quiet {
            assert_rates(&site, &crawl);
        }
        files.push(file_size(&crawl));
        memories.push(memory());
    }
    let whole = |count: u64| usize::try_from(count).unwrap();
    let (busy, calm) = (&files[20..whole(quiet)], &files[whole(quiet) + 12..]);
    let changes: usize = site.changes.iter().map(|times| times.len()).sum();
    let each = slope(busy) / (changes as f64 / quiet as f64);
    println!(
        "{pages} pages, {sequences} sequences in {:?}: the file is {:.1} MB; {:.0} bytes a sequence, {each:.0} a change, while pages \
         change, and {:.0} bytes a sequence when they do not; memory {:.0} bytes a sequence",
        began.elapsed(),
        files[files.len() - 1] / 1e6,
        slope(busy),
        slope(calm),
        slope(&memories[40..])
    );
    assert!(each < 700.0 && slope(calm) < 8_192.0);
    // Other tests run at the same time, unless it is the only one. What the allocator does not give back is counted.
    assert!(!is_long() || slope(&memories[40..]) < 16_384.0);
    assert_figures(&crawl, &site);
}

/// Sequences by the day, of a site whose pages never cease to change: nothing grows once the history has its length. `LONG=1` has 1,000
/// of them, and the history that is kept by default.
#[test]
fn years_of_sequences_take_no_more_room() {
    let (sequences, history) = if is_long() { (1_000, "90 days") } else { (150, "30 sequences") };
    let site = Site::new(if is_long() { 300 } else { 40 }, 40.0, sequences);
    let Stage { text, .. } = settings("optimal", "rescue");
    let mut crawl = site.crawl(Stage::new(&format!("{text}[store]\nkeep = \"{history}\"\n")));
    crawl.runs = 1;
    let mut sizes: [Vec<f64>; 4] = Default::default();
    for sequence in 0..sequences {
        crawl.now = crawl.now.max(sequence * DAY);
        crawl.next = if sequence > 0 { NextRun::Begins } else { NextRun::GoesOn };
        crawl.revisit = Revisit::KnownFirst;
        run(&mut crawl);
        crawl.requests.clear();
        learn(&crawl);
        let log = std::fs::metadata(crawl.folder.path().join("webloom.sqlite-wal")).map_or(0.0, |log| log.len() as f64);
        let handles = std::fs::read_dir("/proc/self/fd").unwrap().count() as f64;
        for (sizes, size) in sizes.iter_mut().zip([file_size(&crawl), log, handles, memory()]) {
            sizes.push(size);
        }
    }
    // Until then, the history has not its length yet.
    let settled = sizes.each_ref().map(|sizes| &sizes[sizes.len() * 2 / 5..]);
    let [file, log, handles, memory] = settled.map(slope);
    let now = sizes.map(|sizes| sizes[sizes.len() - 1]);
    println!(
        "{sequences} sequences: the file has {:.0} bytes and {file:.0} more a sequence, the log {:.0} and {log:.0}, the process {:.0} \
         handles and {handles:.3}, {:.0} bytes of memory and {memory:.0}",
        now[0], now[1], now[2], now[3]
    );
    let report = Records::open(crawl.folder.path()).unwrap().check().unwrap();
    assert!(report.findings.is_empty(), "{:?}", report.findings);
    // The row of a sequence stays, with its figures: three or four have room on a page.
    assert!(file < 1_200.0 && log.abs() < 1_024.0, "{file} {log}");
    // Other tests run at the same time, unless it is the only one.
    assert!(!is_long() || (handles.abs() < 0.01 && memory < 16_384.0));
}

/// Each day a page is new and another is gone, to which nothing links any more: neither rows nor requests become more. What the start still
/// links to, and through what another page was found, is known for ever.
#[test]
fn pages_that_come_and_go_take_no_more_room() {
    const THERE: usize = 12;
    let page = |links: Vec<usize>| {
        SimulatedPage::Living(Arc::default(), links.iter().map(|page| format!("{ORIGIN}/1/{page}")).collect())
    };
    let mut site = Site::new(1, 1.0, 0);
    let Stage { text, .. } = settings("optimal", "rescue");
    let text = format!("{text}gone_after = 0\n[store]\nkeep_sequences = 2\nkeep = \"5 sequences\"\n");
    let mut crawl = site.crawl(Stage::new(&text));
    crawl.runs = 1;
    let (mut rows, mut requests) = (Vec::new(), Vec::new());
    for day in 0..60 {
        let there = day..day + THERE;
        let pages = &mut site.web.hosts.get_mut(ORIGIN).expect("it has one host").pages;
        pages.clear();
        // The start links to page 1 for ever, and page 2 has led to a page that stays.
        pages.insert("/0".to_owned(), page(there.clone().skip(1).chain([1, 1_000]).collect()));
        pages
            .extend(there.map(|number| (format!("/1/{number}"), page(if number == 2 { vec![2_000] } else { vec![] }))));
        pages.extend([1_000, 2_000].map(|number| (format!("/1/{number}"), page(vec![2_000]))));
        if day == 0 {
            pages.insert("/1/1000".to_owned(), page(vec![]));
        }
        crawl.world.lock().expect("nothing panics").web = site.web.clone();
        crawl.now = crawl.now.max(day as u64 * DAY);
        crawl.next = if day > 0 { NextRun::Begins } else { NextRun::GoesOn };
        crawl.revisit = Revisit::KnownFirst;
        run(&mut crawl);
        requests.push(crawl.requests.drain(..).count());
        let records = Records::open(crawl.folder.path()).unwrap();
        let report = records.check().unwrap();
        assert!(report.findings.is_empty(), "day {day}: {:?}", report.findings);
        let count = "SELECT count(*), count(*) FILTER (WHERE url LIKE '%/1/1' OR url LIKE '%/1/2') FROM url";
        let row = |row: &rusqlite::Row<'_>| Ok([row.get::<_, usize>(0)?, row.get(1)?]);
        rows.push(records.connection().query_row(count, [], row).unwrap());
    }
    println!("rows {rows:?}, requests {requests:?}");
    assert_eq!(rows[20..], [rows[20]; 40], "{rows:?}");
    assert!(rows[20][0] < 30 && rows[20][1] == 2, "{rows:?}");
    assert!(requests[20..].iter().all(|requests| *requests < 30), "{requests:?}");
}

/// The median error of the estimates of pages with 20 visits or more is 15 % at most.
fn assert_rates(site: &Site, crawl: &SimulatedCrawl) {
    let records = Records::open(crawl.folder.path()).unwrap();
    let query = "SELECT url.url, class, revisit.state FROM revisit JOIN url ON url.id = revisit.url";
    let mut select = records.connection().prepare(query).unwrap();
    let page = |row: &rusqlite::Row<'_>| {
        Ok((row.get::<_, String>(0)?, PageState::from_bytes(row.get(2)?, Class(row.get(1)?))))
    };
    let pages: Vec<_> = select.query_map([], page).unwrap().map(Result::unwrap).collect();
    let visited = pages.iter().filter(|(url, page)| page.visits >= 20.0 && number(url) > 0);
    let error = |(url, page): &(String, PageState)| (page.rate().unwrap() / site.rates[number(url)] - 1.0).abs();
    let mut errors: Vec<_> = visited.map(error).collect();
    errors.sort_by(f64::total_cmp);
    let median = errors[errors.len() / 2];
    println!("the median error of the rates of {} pages is {:.1} %", errors.len(), median * 100.0);
    assert!(errors.len() == site.rates.len() - 1 && median < 0.15);
}

/// What the last sequence in which pages changed said of itself is the truth, as near as one rate for all pages comes to it.
fn assert_figures(crawl: &SimulatedCrawl, site: &Site) {
    let losses = Records::open(crawl.folder.path()).unwrap().losses(100).unwrap();
    let mut truth = Truth::new(site, 0);
    let mut sums = [Span::default(); 2];
    for day in 101..140_u64 {
        let measured =
            losses.iter().find(|line| u64::from(line.sequence) == day).and_then(|line| line.measured).unwrap();
        sums[0] += measured;
        truth.copies.fill((day - 1) * DAY);
        truth.span = Span::default();
        sums[1] += truth.end(day * DAY);
    }
    let [measured, is] = sums.map(|span| [span.freshness().unwrap(), span.mean_age().unwrap() / 3600.0]);
    println!("measured: fresh {:.3}, age {:.2} h; in truth {:.3} and {:.2} h", measured[0], measured[1], is[0], is[1]);
    assert!((measured[0] - is[0]).abs() < 0.05 && (measured[1] / is[1] - 1.0).abs() < 0.3);
}

/// Freshness of a site that is visited so often a day, as a policy says, over the second half of the days; with the visits.
fn fresh(site: &Site, policy: &str, per_day: f64, days: u64) -> (Span, usize) {
    let mut crawl = site.crawl(settings(policy, "off"));
    crawl.runs = 1;
    crawl.between = Some((days * DAY, format!("budget = \"{per_day}/day\"\n")));
    let mut truth = Truth::new(site, days / 2 * DAY);
    run(&mut crawl);
    truth.take(&mut crawl.requests);
    (truth.end((days + 1) * DAY), truth.visits)
}

/// Months in which a fifth of the pages may be visited a day.
#[test]
fn optimal_keeps_a_real_crawl_fresher_than_the_others() {
    let (days, pages) = if is_long() { (60, 5_000) } else { (40, 300) };
    let site = Site::new(pages, 1000.0, days);
    let per_day = pages as f64 / 5.0;
    let began = std::time::Instant::now();
    let [fixed, multiplicative, optimal] = ["fixed", "multiplicative", "optimal"].map(|policy| {
        let (span, visits) = fresh(&site, policy, per_day, days);
        let freshness = span.freshness().unwrap();
        println!(
            "{policy}: fresh {freshness:.4}, age {:.2} days, {visits} visits",
            span.mean_age().unwrap() / 86_400.0
        );
        (freshness, visits)
    });
    println!("{:?}", began.elapsed());
    let budget = per_day * days as f64 / 2.0;
    for (_, visits) in [fixed, multiplicative, optimal] {
        // What is not due within an hour is not saved up.
        assert!((0.75..1.05).contains(&(visits as f64 / budget)), "all may have {budget:.0} visits, not {visits}");
    }
    assert!(optimal.0 > fixed.0.max(multiplicative.0) + MARGIN);
}
