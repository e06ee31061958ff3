//! Trouble that passes, and trouble that does not.

use std::time::Duration;

use webloom_tests::{
    server::{Reply, Server},
    webloom::{Webloom, pages},
};

use crate::{Folder, assert_counts, closing, crawl, serve};

/// A site whose `/` links to `/x`, which answers so when asked for the nth time.
fn with_trouble(answer: impl Fn(usize) -> Reply + Send + Sync + 'static) -> Server {
    serve(closing(move |asked| match asked.target.as_str() {
        "/" => Reply::links(["/x"]),
        "/x" => answer(asked.before),
        _ => Reply::status(404),
    }))
}

fn cut_short() -> Reply {
    Reply::Raw(b"HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-length: 1000\r\n\r\n<a href=/y>".to_vec())
}

#[test]
fn passing_trouble_is_overcome() {
    for trouble in [|| Reply::status(500), || Reply::status(503), || Reply::status(429), Reply::hang_up, cut_short] {
        let server = with_trouble(move |before| if before < 2 { trouble() } else { Reply::html("whole") });
        let folder = Folder::new();
        let summary = crawl(&server, &folder.crawl(), &[]);
        let page = &pages(&folder.crawl())[&server.url("/x")];
        assert_eq!((&page["outcome"], &page["bytes"], server.count("/x")), (&"stored".into(), &5.into(), 3));
        assert!(page["truncated"].is_null(), "{page}");
        assert_eq!(summary["requests"]["sent"], server.log().len());
        assert_eq!((&summary["pages"]["stored"], &summary["pages"]["failed"]), (&2.into(), &0.into()));
    }
}

#[test]
fn retry_after_is_obeyed() {
    let server = with_trouble(|before| match before {
        0 => Reply::status(503).header("retry-after: 1"),
        _ => Reply::html("back"),
    });
    crawl(&server, &Folder::new().crawl(), &[]);
    let log: Vec<_> = server.log().into_iter().filter(|hit| hit.target == "/x").collect();
    assert!(log[1].began - log[0].ended.unwrap() >= Duration::from_secs(1));
}

#[test]
fn a_huge_retry_after_is_not_waited_for() {
    let server = with_trouble(|_| Reply::status(503).header("retry-after: 86400"));
    let run = Webloom::crawl(&Folder::new().crawl(), &server.url("/")).run().expect(4);
    assert_eq!((&run.json()["end"], server.count("/x")), (&"unreachable".into(), 1));
    assert!(run.stderr.contains("max_retry_after"), "{}", run.stderr);
}

#[test]
fn trouble_that_stays_ends_and_is_not_taken_for_done() {
    let server = with_trouble(|_| Reply::hang_up());
    let folder = Folder::new();
    let summary = crawl(&server, &folder.crawl(), &[]);
    // Four attempts, and some that may have been the fault of the host: here two, and three where it may allow few requests.
    let times = server.count("/x");
    assert!((4..=6).contains(&times) && summary["pages"]["failed"] == 1, "{times} times");
    let page = &pages(&folder.crawl())[&server.url("/x")];
    assert_eq!((&page["outcome"], &page["reason"], &page["status"]), (&"failed".into(), &"closed".into(), &().into()));
    assert_eq!(summary["requests"]["errors"]["closed"], times);
    let server = with_trouble(|_| Reply::status(503));
    let summary = crawl(&server, &Folder::new().crawl(), &[]);
    let times = server.count("/x");
    assert!((4..=7).contains(&times) && summary["pages"]["broken"] == 1, "{times} times");
    assert_eq!(summary["requests"]["by_status"]["503"], times);
}

#[test]
fn a_body_that_is_always_cut_short_is_kept_and_called_so() {
    let server = with_trouble(|_| cut_short());
    let folder = Folder::new();
    let summary = crawl(&server, &folder.crawl(), &[]);
    assert_eq!((server.count("/x"), server.count("/y")), (4, 1));
    let page = &pages(&folder.crawl())[&server.url("/x")];
    assert_eq!((&page["outcome"], &page["truncated"]), (&"stored".into(), &"disconnect".into()));
    assert_eq!(summary["pages"]["truncated"], 1);
    assert_counts(&summary);
}
