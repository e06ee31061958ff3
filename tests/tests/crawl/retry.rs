//! `webloom retry`: what came to nothing is asked for again, as the user says.

use std::{
    collections::BTreeMap,
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use webloom_tests::{
    server::{Reply, Server},
    webloom::{Run, Webloom, assert_clean, pages},
};

use crate::{Folder, assert_counts, closing, crawl, serve, star};

/// A site of which three pages come to nothing, until it is mended.
struct Site {
    server: Server,
    is_mended: Arc<AtomicBool>,
}

impl Site {
    fn new() -> Self {
        let is_mended = Arc::new(AtomicBool::new(false));
        let mended = Arc::clone(&is_mended);
        let server = serve(closing(move |asked| match (asked.target.as_str(), mended.load(Ordering::SeqCst)) {
            ("/robots.txt", false) => Reply::text("User-agent: *\nDisallow: /private"),
            ("/", _) => Reply::links(["/fine", "/missing", "/down", "/private/page"]),
            ("/fine" | "/new", _) => Reply::html("fine"),
            ("/missing" | "/private/page", true) => Reply::links(["/new"]),
            ("/down", false) => Reply::hang_up(),
            ("/down", true) => Reply::html("up"),
            _ => Reply::status(404),
        }));
        Self { server, is_mended }
    }

    fn mend(&self) {
        self.is_mended.store(true, Ordering::SeqCst);
    }

    /// What came of its pages, by their paths.
    fn outcomes(&self, dir: &Path) -> BTreeMap<String, String> {
        let path = |url: &str| url[self.server.url("").len()..].to_owned();
        let outcome = |page: &serde_json::Value| page["outcome"].as_str().expect("an outcome").to_owned();
        pages(dir).iter().map(|(url, page)| (path(url), outcome(page))).collect()
    }
}

fn retry(dir: &Path, arguments: &[&str]) -> Run {
    let run = Webloom::new(["retry", "--no-progress", "--delay", "0"]).args([dir]).args(arguments);
    run.run()
}

#[test]
fn what_was_broken_or_failed_is_asked_for_again_and_nothing_else() {
    let (site, folder) = (Site::new(), Folder::new());
    let dir = folder.crawl();
    crawl(&site.server, &dir, &[]);
    let before = site.server.log().len();
    site.mend();
    let run = retry(&dir, &["--json"]).expect(0);
    assert!(run.stderr.contains("asks again for 2 URLs: 1 broken, 1 failed"), "{}", run.stderr);
    let summary = run.json();
    assert_counts(&summary);
    assert_clean(&dir);
    assert_eq!((&summary["sequence"], &summary["end"]), (&0.into(), &"drained".into()));
    assert_eq!((&summary["pages"]["stored"], &summary["pages"]["broken"]), (&5.into(), &0.into()));
    let mut asked = site.server.targets().split_off(before);
    asked.sort_unstable();
    assert_eq!(asked, ["/down", "/missing", "/new"]);
    let outcomes = site.outcomes(&dir);
    assert_eq!((&*outcomes["/missing"], &*outcomes["/private/page"]), ("stored", "abandoned"));
    assert!(retry(&dir, &[]).expect(0).stderr.contains("no URL matches"));
}

#[test]
fn filters_say_what_is_asked_for_again() {
    let (site, folder) = (Site::new(), Folder::new());
    let dir = folder.crawl();
    crawl(&site.server, &dir, &[]);
    site.mend();
    for (filter, said) in [
        (&["--status", "4xx"][..], "1 URL: 1 broken"),
        (&["--outcome", "failed,abandoned"], "2 URLs: 1 abandoned, 1 failed"),
        (&["--match", "/mis+ing$", "--outcome", "broken,abandoned"], "1 URL: 1 broken"),
        (&["--older", "1d"], "no URL matches"),
        (&["--older", "0"], "2 URLs: 1 broken, 1 failed"),
        (&["--status", "500"], "no URL matches"),
    ] {
        let before = site.server.log().len();
        let dry = retry(&dir, &[filter, &["--dry-run"]].concat()).expect(0);
        assert!((dry.stdout.clone() + &dry.stderr).contains(said), "{filter:?}: {}", dry.stdout);
        assert_eq!(dry.stdout.contains("no request was sent"), !said.contains("no URL"), "{filter:?}: {}", dry.stdout);
        assert_eq!(site.server.log().len(), before, "{filter:?}");
    }
    assert_clean(&dir);
    let fine = site.server.count("/fine");
    // robots.txt is another by now, and was read less than a day ago.
    retry(&dir, &["--outcome", "abandoned"]).expect(0);
    assert_clean(&dir);
    let outcomes = site.outcomes(&dir);
    assert_eq!(
        (&*outcomes["/private/page"], &*outcomes["/new"], &*outcomes["/missing"]),
        ("stored", "stored", "broken")
    );
    assert_eq!((site.server.count("/robots.txt"), site.server.count("/fine")), (2, fine));
}

#[test]
fn what_stays_broken_is_asked_for_once_each_time() {
    let (site, folder) = (Site::new(), Folder::new());
    let dir = folder.crawl();
    crawl(&site.server, &dir, &[]);
    let before = site.outcomes(&dir);
    // A page that fails has others asked for, to find out whether the host is well.
    let missing = site.server.count("/missing");
    for asked in 1..3 {
        let summary = retry(&dir, &["--outcome", "broken,abandoned", "--json"]).expect(0).json();
        assert_counts(&summary);
        assert_clean(&dir);
        assert_eq!((site.outcomes(&dir), site.server.count("/missing")), (before.clone(), missing + asked));
        assert_eq!((site.server.count("/private/page"), site.server.count("/robots.txt")), (0, 1 + asked));
    }
}

#[test]
fn a_retry_that_is_killed_goes_on_with_the_next_start() {
    for point in ["before_step:1", "before_commit:1", "inside_end:1"] {
        let (site, folder) = (Site::new(), Folder::new());
        let dir = folder.crawl();
        crawl(&site.server, &dir, &[]);
        crawl_again(&dir);
        site.mend();
        let killed = Webloom::new(["retry", "--no-progress", "--delay", "0"]).args([&dir]);
        let killed = killed.env("WEBLOOM_FAILPOINT", point).run();
        assert_eq!(killed.code, None, "{point}: {}", killed.stderr);
        assert_clean(&dir);
        let refused = retry(&dir, &[]).expect(2);
        assert!(refused.stderr.contains("sequence 1 is not finished: resume it first"), "{}", refused.stderr);
        retry(&dir, &["--dry-run"]).expect(2);
        Webloom::new(["crawl", "-q", "-d"]).args([&dir]).run().expect(0);
        assert_clean(&dir);
        assert_eq!(&*site.outcomes(&dir)["/missing"], "stored", "{point}");
    }
}

fn crawl_again(dir: &Path) {
    Webloom::new(["crawl", "-q", "--again", "--delay", "0", "-d"]).args([dir]).run().expect(0);
}

#[test]
fn a_page_that_was_gone_is_back() {
    let (site, folder) = (Site::new(), Folder::new());
    let dir = folder.crawl();
    site.mend();
    crawl(&site.server, &dir, &[]);
    site.is_mended.store(false, Ordering::SeqCst);
    crawl_again(&dir);
    assert_eq!(&*site.outcomes(&dir)["/missing"], "gone");
    site.mend();
    let summary = retry(&dir, &["--status", "404", "--json"]).expect(0).json();
    assert_clean(&dir);
    assert_eq!((&summary["sequence"], &summary["pages"]["gone"]), (&1.into(), &0.into()));
    assert_eq!(&*site.outcomes(&dir)["/missing"], "stored");
}

#[test]
fn what_cannot_be_retried_is_refused_and_changes_nothing() {
    let broken = star(4);
    let server = serve(move |asked| if asked.target == "/4" { Reply::status(404) } else { broken(asked) });
    let folder = Folder::new();
    let dir = folder.crawl();
    crawl(&server, &dir, &[]);
    for (arguments, why) in [
        (&["--outcome", "stored"][..], "--outcome"),
        (&["--older", "yesterday"], "1d"),
        (&["--status", "99"], "4xx"),
        (&["--match", "("], "--match"),
        (&["--scope", "any"], "scope"),
        (&["--delay", "soon"], "delay"),
        (&["--json", "--items", "-"], "stdout"),
        (&["--json", "--dry-run"], "--dry-run"),
    ] {
        let refused = Webloom::new(["retry"]).args([&dir]).args(arguments).run().expect(2);
        assert!(refused.stderr.contains(why), "{arguments:?}: {}", refused.stderr);
    }
    let before = Webloom::new(["pages"]).args([&dir]).run().expect(0).stdout;
    for (arguments, why) in [
        (&["--cookies", "nowhere.txt", "--outcome", "broken"][..], "nowhere.txt"),
        (&["--max-pages", "2"], "--max-pages is reached"),
    ] {
        let refused = Webloom::new(["retry"]).args([&dir]).args(arguments).run().expect(2);
        assert!(refused.stderr.contains(why), "{arguments:?}: {}", refused.stderr);
    }
    assert_eq!(Webloom::new(["pages"]).args([&dir]).run().expect(0).stdout, before, "nothing is queued");
    assert_clean(&dir);
    let nowhere = Webloom::new(["retry"]).args([folder.0.path().join("none")]).run().expect(2);
    assert!(nowhere.stderr.contains("none"), "{}", nowhere.stderr);
    assert_eq!(server.log().len(), 6, "five pages and robots.txt");
}
