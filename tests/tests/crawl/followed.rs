//! The library: a crawl whose events a program follows, and which it steers.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, SystemTime},
};

use webloom::{Crawl, CrawlError, End, Event, Flow, PageOutcome, Pages, StreamExt, Summary};
use webloom_tests::{
    server::{Asked, Reply},
    webloom::{Webloom, assert_clean, pages},
};

use crate::{
    Folder, chain, closing,
    library::{quick, runtime, wait_until_free},
    serve, star,
};

/// Two versions of a site with a page of each kind.
fn kinds(second: Arc<AtomicUsize>) -> impl Fn(&Asked) -> Reply {
    closing(move |asked: &Asked| {
        let version = second.load(Ordering::Relaxed);
        let has_it = asked.headers.iter().any(|line| line.eq_ignore_ascii_case("if-none-match: \"1\""));
        match asked.target.as_str() {
            "/" => Reply::links(["/same", "/tagged", "/edited", "/old", "/gone", "/silent"]),
            "/tagged" if has_it => Reply::status(304),
            "/tagged" => Reply::html("tagged").header("etag: \"1\""),
            "/same" => Reply::html("the same"),
            "/edited" => Reply::html(format!("<title>{version}</title>")),
            "/old" => Reply::redirect(301, "/new"),
            "/new" => Reply::html("new"),
            "/silent" => Reply::hang_up(),
            _ => Reply::status(404),
        }
    })
}

/// The path of an event, and what it is in a word.
fn described(event: &Event) -> (String, String) {
    let said = match event {
        Event::Page(page) if page.is_new() => "new".to_owned(),
        Event::Page(_) => "changed".to_owned(),
        Event::Unchanged(unchanged) if unchanged.page().is_some() => "same bytes".to_owned(),
        Event::Unchanged(_) => "not modified".to_owned(),
        Event::Redirected(_, to) => format!("to {}", to.path()),
        Event::Failed(_, failure) => failure.to_string(),
        _ => unreachable!("an event of another kind"),
    };
    (event.visit().url().path().to_owned(), said)
}

fn run(crawl: Crawl, handle: impl FnMut(Event) -> Flow) -> Result<Summary, CrawlError> {
    runtime().block_on(crawl.run_events(handle))
}

#[test]
fn each_url_has_one_event_of_its_kind() {
    let second = Arc::new(AtomicUsize::new(1));
    let server = serve(kinds(Arc::clone(&second)));
    let folder = Folder::new();
    let crawl = || quick(server.url("/")).dir(folder.crawl()).set("revisit.audit_not_modified", "0").again();
    let began = SystemTime::now();
    let mut given = Vec::new();
    let summary = run(crawl(), |event| {
        let visit = event.visit();
        // It counts in milliseconds.
        let apart = [began.duration_since(visit.fetched_at()), visit.fetched_at().duration_since(SystemTime::now())];
        assert!(apart.iter().flatten().all(|apart| *apart < Duration::from_millis(5)), "{apart:?}");
        assert_eq!(
            visit.via().map(webloom::WebUrl::path),
            match visit.url().path() {
                "/" => None,
                "/new" => Some("/old"),
                _ => Some("/"),
            }
        );
        assert_eq!(visit.depth(), u32::from(visit.url().path() != "/"));
        given.push(described(&event));
        Flow::Continue
    });
    assert!(summary.unwrap().is_complete());
    let expected = |rest: [[&str; 2]; 4]| {
        let same = [["/old", "to /new"], ["/gone", "404"], ["/silent", "closed"]];
        let all = same.iter().chain(&rest).map(|[path, said]| ((*path).to_owned(), (*said).to_owned()));
        all.collect::<BTreeMap<_, _>>()
    };
    let first = [["/same", "new"], ["/tagged", "new"], ["/edited", "new"], ["/new", "new"]];
    assert_eq!(given.len(), 8, "{given:?}");
    given.retain(|(path, _)| path != "/");
    assert_eq!(given.drain(..).collect::<BTreeMap<_, _>>(), expected(first));
    second.store(2, Ordering::Relaxed);
    let summary = run(crawl(), |event| {
        given.push(described(&event));
        Flow::Continue
    });
    assert!(summary.unwrap().is_complete());
    given.retain(|(path, _)| path != "/");
    let then = [["/same", "same bytes"], ["/tagged", "not modified"], ["/edited", "changed"], ["/new", "same bytes"]];
    assert_eq!(given.into_iter().collect::<BTreeMap<_, _>>(), expected(then));
    assert_clean(&folder.crawl());
}

#[test]
fn a_program_leaves_out_links_and_adds_urls() {
    let server = serve(|asked: &Asked| match asked.target.as_str() {
        "/" => Reply::links(["/list", "/feed.txt", "/plain", "/skipped"]),
        "/skipped" => Reply::links(["/1", "http://other.test/"]),
        "/list" => Reply::links(["/1", "/2", "/plain"]),
        "/feed.txt" => Reply::text("3"),
        "/plain" | "/3" | "/4" => Reply::html(""),
        _ => Reply::status(404),
    });
    let folder = Folder::new();
    let mut found = Vec::new();
    let summary = run(quick(server.url("/")).dir(folder.crawl()), |event| {
        let Event::Page(page) = event else { panic!("{event:?}") };
        found.push((page.url().path().to_owned(), page.via().map(|via| via.path().to_owned())));
        match page.url().path() {
            "/skipped" => Flow::SkipLinks,
            "/list" => {
                page.enqueue("4").unwrap();
                Flow::SkipLinks
            }
            "/feed.txt" => {
                let added = page.text().into_owned();
                page.enqueue(&added).unwrap();
                page.enqueue(&added).unwrap();
                page.enqueue("http://other.test/").unwrap();
                page.enqueue("mailto:a@b").expect_err("it is not on the web");
                Flow::Continue
            }
            _ => Flow::Continue,
        }
    });
    let summary = summary.unwrap();
    assert!(summary.is_complete() && summary.pages.stored == 7, "{summary}");
    let via = |path: &str| found.iter().find(|(url, _)| url == path).and_then(|(_, via)| via.clone());
    assert_eq!([via("/3"), via("/4")], [Some("/feed.txt".to_owned()), Some("/list".to_owned())]);
    assert_eq!(server.count("/1") + server.count("/2"), 0);
    assert_clean(&folder.crawl());
    let list = webloom::WebUrl::parse(&server.url("/list")).unwrap();
    let kept = webloom::Links::from(folder.crawl(), list).all().unwrap();
    assert_eq!(kept.iter().map(|link| link.to.url.clone()).collect::<Vec<_>>(), [Some(server.url("/4"))]);
    let listed = Webloom::new(["links", "--external"]).args([folder.crawl()]).run().expect(0);
    assert!(!listed.stderr.contains("not kept"), "a page whose links are left out has none: {}", listed.stderr);
}

/// Pages that only the program knows of, under a filter that loses many of them.
#[test]
fn an_added_url_that_was_lost_is_found_by_the_sweep() {
    let server = serve(star(40));
    let folder = Folder::new();
    let tiny = [
        ("cache.expected_urls", "20"),
        ("cache.reset", "none"),
        ("cache.layout", "classic"),
        ("cache.audit_rescue", "off"),
        ("cache.audit_sample", "0"),
        ("cache.max_lost_urls", "none"),
    ];
    let crawl =
        tiny.iter().fold(quick(server.url("/")).dir(folder.crawl()), |crawl, (key, value)| crawl.set(*key, *value));
    let mut given = BTreeSet::new();
    let summary = run(crawl, |event| {
        let Some(page) = event.into_page() else { return Flow::Continue };
        if let Ok(number) = page.url().path().trim_start_matches('/').parse::<usize>()
            && number <= 40
        {
            (0..10).for_each(|more| page.enqueue(&format!("/{}", 100 * number + more)).unwrap());
        }
        given.insert(page.url().path().to_owned());
        Flow::Continue
    });
    let summary = summary.unwrap();
    let lost = rusqlite::Connection::open(folder.crawl().join("webloom.sqlite")).unwrap();
    let lost: u64 =
        lost.query_row("SELECT count(*) FROM lost WHERE admitted IS NOT NULL", [], |row| row.get(0)).unwrap();
    assert!(lost > 20, "{lost} were lost: {summary}");
    assert!(summary.is_complete() && given.len() == 441, "{} of 441: {summary}", given.len());
    assert_clean(&folder.crawl());
}

#[test]
fn a_program_stops_the_crawl_and_goes_on_with_it() {
    let server = serve(chain(30));
    let folder = Folder::new();
    let crawl = || quick(server.url("/")).dir(folder.crawl());
    let mut given = 0;
    let summary = run(crawl(), |_| {
        given += 1;
        if given == 7 { Flow::Stop } else { Flow::Continue }
    });
    assert_eq!((summary.unwrap().end, given), (End::Stopped, 7));
    let summary = run(crawl(), |_| {
        given += 1;
        Flow::Continue
    });
    assert!(summary.unwrap().is_complete());
    assert_eq!(given, 31, "each page once");
}

#[test]
fn functions_that_wait_run_beside_each_other_and_no_more_than_so_many() {
    let server = serve(|asked: &Asked| if asked.target == "/" { star(20)(asked) } else { Reply::status(404) });
    let counts = [0; 3].map(AtomicUsize::new);
    let [running, most, ended] = &counts;
    let crawl = quick(server.url("/")).set("politeness.per_host", "8");
    let summary = runtime().block_on(crawl.run_events_async(3, |_| async move {
        most.fetch_max(running.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
        tokio::time::sleep(Duration::from_millis(30)).await;
        running.fetch_sub(1, Ordering::SeqCst);
        ended.fetch_add(1, Ordering::SeqCst);
        Flow::Continue
    }));
    assert_eq!(summary.unwrap().pages.broken, 20);
    assert_eq!(
        [running, most, ended].map(|count| count.load(Ordering::SeqCst)),
        [0, 3, 21],
        "the last ones are waited for"
    );
}

#[test]
fn a_stream_hands_out_what_comes_and_drops_as_a_kill() {
    let server = serve(chain(40));
    let folder = Folder::new();
    let crawl = || quick(server.url("/")).dir(folder.crawl());
    let mut given = Vec::new();
    let summary = runtime().block_on(async {
        let mut events = crawl().stream().unwrap();
        for _ in 0..5 {
            given.extend(events.next().await.map(|event| described(&event).0));
        }
        drop(events);
        wait_until_free(&folder);
        let mut events = crawl().stream().unwrap();
        for _ in 0..5 {
            given.extend(events.next().await.map(|event| described(&event).0));
        }
        events.go_on(Flow::Stop);
        assert!(events.next().await.is_none(), "nothing follows the page at which it was stopped");
        assert_eq!(events.finish().await.unwrap().end, End::Stopped);
        // A process that another test starts has the lock too until it runs its program.
        wait_until_free(&folder);
        let mut events = crawl().stream().unwrap();
        given.extend(events.next().await.map(|event| described(&event).0));
        assert_eq!(events.finish().await.unwrap().end, End::Stopped, "it was not at its end");
        wait_until_free(&folder);
        let mut events = crawl().stream().unwrap();
        while let Some(event) = events.next().await {
            given.push(described(&event).0);
        }
        events.finish().await.unwrap()
    });
    assert!(summary.is_complete() && summary.pages.stored == 41, "{summary}");
    // The page that was handed out last before it was dropped is handed out again.
    assert_eq!((given.len(), given.iter().collect::<BTreeSet<_>>().len()), (42, 41), "{given:?}");
    assert_clean(&folder.crawl());
}

#[test]
fn a_function_filters_urls_whatever_leads_to_them() {
    let server = serve(|asked: &Asked| match asked.target.as_str() {
        "/" => Reply::links(["/1?sort=a", "/2", "/3"]),
        "/2" => Reply::redirect(302, "/2?sort=b"),
        _ => Reply::links(["/", "/4?sort=c"]),
    });
    let folder = Folder::new();
    let crawl = || quick(server.url("/")).dir(folder.crawl()).filter(|url| !url.as_str().contains("sort"));
    let summary = runtime().block_on(crawl().run(drop)).unwrap();
    assert!(summary.is_complete() && summary.pages.stored == 2, "{summary}");
    let json: serde_json::Value = serde_json::from_str(&summary.to_json()).unwrap();
    assert_eq!(json["urls"]["refused"]["filter"], 3, "{json}");
    assert!(server.targets().iter().all(|target| !target.contains("sort")));
    assert_clean(&folder.crawl());
    let nothing = quick(server.url("/")).filter(|_| false);
    let nothing = runtime().block_on(nothing.run(drop)).unwrap();
    assert_eq!((nothing.end, nothing.pages.stored), (End::Failed, 0), "{nothing}");
}

#[test]
fn figures_are_shown_while_a_crawl_runs() {
    let server = serve(star(30));
    let crawl = Crawl::new(server.url("/")).delay(Duration::from_millis(60));
    let progress = crawl.progress();
    assert_eq!(progress.get(), None);
    let seen = Mutex::new(0);
    runtime().block_on(crawl.run(|_| *seen.lock().unwrap() = progress.get().unwrap().pages)).unwrap();
    assert!((5..=31).contains(&*seen.lock().unwrap()), "{seen:?}");
    assert_eq!(progress.get().unwrap().pages, 31);
}

#[test]
fn a_directory_is_read_without_sql() {
    let second = Arc::new(AtomicUsize::new(1));
    let server = serve(kinds(Arc::clone(&second)));
    let folder = Folder::new();
    let dir = folder.crawl();
    let missing = Pages::of(&dir).all().unwrap_err();
    assert!(missing.is_refusal() && missing.to_string().starts_with("no crawl in "), "{missing}");
    let crawl = || quick(server.url("/")).dir(&dir).set("change.confirm", "0s").again();
    runtime().block_on(crawl().run(drop)).unwrap();
    second.store(2, Ordering::Relaxed);
    wait_until_free(&folder);
    runtime().block_on(crawl().run(drop)).unwrap();
    let listed = Pages::of(&dir).all().unwrap();
    assert_eq!(listed.len(), pages(&dir).len());
    let broken = Pages::of(&dir).outcome(PageOutcome::Broken).all().unwrap();
    assert_eq!(broken.iter().map(|page| page.status).collect::<Vec<_>>(), [Some(404)]);
    let mut first = 0;
    Pages::of(&dir)
        .sequence(0)
        .each(|_| {
            first += 1;
            first < 3
        })
        .unwrap();
    assert_eq!(first, 3, "it ends when the function has seen enough");
    let broken = webloom::Links::broken(&dir).all().unwrap();
    let broken: Vec<_> = broken.iter().map(|link| (&*link.from, link.to.status, link.to.reason.as_deref())).collect();
    assert_eq!(broken, [(&*server.url("/"), Some(404), None), (&*server.url("/"), None, Some("closed"))]);
    let old = webloom::WebUrl::parse(&server.url("/old")).unwrap();
    assert_eq!(webloom::Links::to(&dir, old).all().unwrap().len(), 1);
    let changes = webloom::Changes::of(&dir).since(1).with_texts().all().unwrap();
    let reported: Vec<_> = changes.iter().map(|line| (&*line.url, line.change.as_str())).collect();
    assert_eq!(reported, [(&*server.url("/edited"), "changed")]);
}
