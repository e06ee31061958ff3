//! Hosts that forbid what they are asked for: one URL, a folder, or everything.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use webloom_tests::{
    server::{Asked, Reply},
    webloom::{Webloom, assert_clean, with_outcome},
};

use crate::{Folder, assert_counts, crawl, serve, star};

/// Pages of each site, beside its start.
const PAGES: usize = 60;

/// URLs in a row for which a host is believed.
const BELIEVED: usize = 10;

#[test]
fn a_host_that_begins_to_forbid_everything_is_left_alone_and_named() {
    for status in [403, 401] {
        let (asked, site) = (AtomicUsize::new(0), star(PAGES));
        let patience = Arc::new(AtomicUsize::new(25));
        let most = Arc::clone(&patience);
        let server = serve(move |request: &Asked| {
            let number = asked.fetch_add(1, Ordering::Relaxed);
            if number < most.load(Ordering::Relaxed) { site(request) } else { Reply::status(status) }
        });
        let folder = Folder::new();
        let run = Webloom::crawl(&folder.crawl(), &server.url("/")).args(["--delay", "0"]);
        let summary = run.env("WEBLOOM_POLITENESS_GIVE_UP", "1s").run().expect(4).json();
        assert_counts(&summary);
        assert_eq!(summary["hosts"][0]["cause"], status.to_string(), "{summary}");
        assert_eq!(summary["pages"]["broken"], BELIEVED, "the others are asked for again");
        assert!(server.log().len() < 25 + BELIEVED + 30, "{}", server.log().len());
        assert_clean(&folder.crawl());
        // It thinks better of it.
        patience.store(usize::MAX, Ordering::Relaxed);
        let rest = Webloom::go_on(&folder.crawl()).args(["--delay", "0"]).run().expect(0).json();
        assert_counts(&rest);
        assert_eq!((&rest["end"], &rest["pages"]["stored"]), (&"drained".into(), &(PAGES + 1 - BELIEVED).into()));
        assert_eq!(rest["hosts"], serde_json::json!([]));
        assert_clean(&folder.crawl());
    }
}

#[test]
fn a_site_may_forbid_most_of_its_pages() {
    let site = star(PAGES);
    let server = serve(move |asked: &Asked| match asked.target[1..].parse::<usize>() {
        Ok(number) if number > 10 => Reply::status(403),
        _ => site(asked),
    });
    let folder = Folder::new();
    let summary = crawl(&server, &folder.crawl(), &["--delay", "0"]);
    assert_counts(&summary);
    assert_eq!(
        (&summary["end"], &summary["pages"]["stored"], &summary["pages"]["broken"]),
        (&"drained".into(), &11.into(), &(PAGES - 10).into())
    );
    assert_eq!(with_outcome(&folder.crawl(), "broken").len(), PAGES - 10);
    // One in ten or so is asked for again, after a page that had an answer.
    let forbidden = |target: &str| target[1..].parse::<usize>().is_ok_and(|number| number > 10);
    let asked = server.targets().iter().filter(|target| forbidden(target)).count();
    assert!(asked <= (PAGES - 10) + 2 * (PAGES - 10) / BELIEVED, "{asked}");
    assert_clean(&folder.crawl());
}
