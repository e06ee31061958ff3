//! Starts without a scheme.

use std::time::Duration;

use webloom_tests::{
    server::Server,
    webloom::{Webloom, assert_clean, with_outcome},
};

use crate::{Folder, assert_asked_once, assert_law, serve, star};

/// `127.0.0.1:PORT/`.
pub(crate) fn without_scheme(server: &Server) -> String {
    server.url("/").trim_start_matches("http://").to_owned()
}

#[test]
fn http_is_tried_where_https_has_no_answer_and_nobody_waits_for_long() {
    let server = serve(star(2));
    let folder = Folder::new();
    let run = Webloom::crawl(&folder.crawl(), &without_scheme(&server)).run().expect(0);
    let summary = run.json();
    assert_law(&summary);
    assert_clean(&folder.crawl());
    assert_eq!(with_outcome(&folder.crawl(), "stored"), ["/", "/1", "/2"].map(|path| server.url(path)));
    assert_asked_once(&server, &["/", "/1", "/2"]);
    // Links wait for the answers of starts, 10 s at most; what https came to is an answer.
    assert!(run.took < Duration::from_secs(8), "{:?}", run.took);
}
