//! `crawl --dry-run`: what would be done, without a request and without a trace.

use std::{collections::BTreeMap, path::Path};

use webloom_tests::{
    server::Reply,
    webloom::{Run, Webloom},
};

use crate::{Folder, serve, star};

fn would(dir: &Path, arguments: &[&str]) -> Run {
    Webloom::new(["crawl", "--dry-run", "-q", "-d"]).args([dir]).args(arguments).run()
}

/// What lies in a folder, with the bytes of each file.
fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let entries = std::fs::read_dir(folder).expect("the folder can be read").map(|entry| entry.expect("an entry"));
    let read = |path: &Path| std::fs::read(path).expect("a file");
    entries.map(|entry| (entry.file_name().display().to_string(), read(&entry.path()))).collect()
}

#[test]
fn a_new_crawl_leaves_no_trace() {
    let (server, folder) = (serve(star(3)), Folder::new());
    let dir = folder.crawl();
    let text =
        would(&dir, &[&server.url("/"), "--scope", "prefix", "--max-pages", "2", "--depth", "1"]).expect(0).stdout;
    for said in [
        "begin a new crawl in",
        &server.url("/"),
        "scope     prefix",
        "ends      after 2 pages, or 1 level of links",
        "no request",
    ] {
        assert!(text.contains(said), "no {said:?}: {text}");
    }
    assert!(server.log().is_empty() && !dir.exists());
    for (arguments, why) in [
        (&["--max-pages", "none", "--delay", "soon", "http://h/"][..], "--delay"),
        (&[][..], "give a start URL"),
        (&["http://h/", "--again"][..], "leave out --again"),
        (&["http://h/", "--json"][..], "--json"),
    ] {
        let refused = would(&dir, arguments).expect(2);
        assert!(refused.stderr.contains(why) && refused.stdout.is_empty(), "{}", refused.stderr);
    }
    assert!(!dir.exists());
}

#[test]
fn a_crawl_that_exists_is_only_read() {
    let (server, folder) = (serve(star(6)), Folder::new());
    let dir = folder.crawl();
    Webloom::crawl(&dir, &server.url("/")).args(["--max-pages", "3"]).run().expect(0);
    let (before, asked) = (files(&dir), server.log().len());
    let text = would(&dir, &["--max-pages", "unlimited"]).expect(0).stdout;
    assert!(text.contains("go on with sequence 0 of") && text.contains("4 URLs wait"), "{text}");
    assert!(
        text.contains("budget.max_pages is \"unlimited\" (was 3)") && text.contains("when nothing is left"),
        "{text}"
    );
    // A sequence that was stopped is finished first.
    assert!(would(&dir, &["--again"]).expect(0).stdout.contains("go on with sequence 0"));
    let wider = would(&dir, &["--scope", "any"]).expect(2);
    assert!(wider.stderr.contains("wider scope"), "{}", wider.stderr);
    let foreign = would(&dir, &["http://elsewhere.test/"]).expect(2);
    assert!(foreign.stderr.contains("holds the crawl of"), "{}", foreign.stderr);
    assert_eq!((files(&dir), server.log().len()), (before, asked));
    Webloom::go_on(&dir).args(["--max-pages", "unlimited"]).run().expect(0);
    assert!(would(&dir, &[]).expect(0).stdout.contains("find nothing left to do in sequence 0"));
    assert!(would(&dir, &["--again"]).expect(0).stdout.contains("begin sequence 1 of"));
}

#[test]
fn what_is_shown_is_harmless() {
    let (server, folder) = (serve(|_: &_| Reply::status(404)), Folder::new());
    let url = server.url("/").replace("http://", "http://user:s3cr3t@");
    let text = would(&folder.crawl(), &[&url, "--exclude", "\u{1b}]2J\n", "elsewhere.test"]).expect(0).stdout;
    assert!(!text.contains("s3cr3t") && !text.contains('\u{1b}'), "{text}");
    assert!(text.contains("or the same with http if that does not answer"), "{text}");
}
