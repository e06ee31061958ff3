//! URLs that are removed because somebody asks for it.

use std::{
    fs,
    io::Read,
    os::unix::fs::PermissionsExt,
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use flate2::read::MultiGzDecoder;
use webloom_tests::{
    archive::{assert_sound, files},
    server::{Asked, Reply, Server},
    webloom::{Run, Webloom, assert_clean, pages_of},
};

use crate::{Folder, serve};

/// A site with a page that is to go, which others link and redirect to, and which leads to another.
fn site() -> Server {
    serve(|asked: &Asked| match asked.target.as_str() {
        "/" => Reply::links(["/a", "/people/jane", "/old", "/b"]),
        "/a" => Reply::html("<title>A</title><a href=/people/jane>her page</a><a href=/b>b</a><p>plain words"),
        "/b" => Reply::html("<title>B</title><link rel=canonical href=/people/jane><a href=/a>a</a><p>other words"),
        "/old" => Reply::redirect(301, "/people/jane"),
        "/people/jane" => Reply::html("<title>Jane</title><h1>Jane</h1><p>zanzibar quetzal<a href=/child>c</a>"),
        "/child" => Reply::html("<title>Child</title><p>child words"),
        _ => Reply::status(404),
    })
}

fn forget(dir: &Path, pattern: &str) -> Run {
    Webloom::new(["forget"]).args([dir]).args([pattern]).run()
}

/// All bytes of the files of a crawl, those of the archive without compression.
fn bytes(dir: &Path) -> Vec<u8> {
    let mut all = Vec::new();
    let entries = fs::read_dir(dir).expect("a folder").map(|entry| entry.expect("an entry").path());
    for file in entries.filter(|path| path.is_file()).chain([dir.join("archive/index.cdxj")]) {
        all.extend(fs::read(file).expect("it can be read"));
    }
    for file in files(dir) {
        MultiGzDecoder::new(fs::File::open(file).expect("it opens")).read_to_end(&mut all).expect("it is gzip");
    }
    all
}

fn has(bytes: &[u8], text: &str) -> bool {
    bytes.windows(text.len()).any(|window| window == text.as_bytes())
}

#[test]
fn nothing_of_a_removed_page_is_in_any_file() {
    let (server, folder) = (site(), Folder::new());
    let (dir, start) = (folder.crawl(), server.url("/"));
    Webloom::crawl(&dir, &start).args(["--archive", "warc"]).run().expect(0);
    Webloom::crawl(&dir, &start).args(["--again"]).run().expect(0);
    let found = |words: &str| Webloom::new(["search"]).args([&dir]).args([words, "--json"]).run().expect(0).json();
    assert_eq!(found("zanzibar")["total"], 1);
    assert!(has(&bytes(&dir), "zanzibar") && has(&bytes(&dir), "jane"));
    let said = forget(&dir, "/people/jane$").expect(0).stdout;
    assert!(
        said.contains("removed 2 URLs and 4 archived answers; links to them left out of 2 copies of pages"),
        "{said}"
    );
    assert_clean(&dir);
    assert_sound(&dir);
    let left = bytes(&dir);
    for gone in ["zanzibar", "quetzal", "jane\",", &server.url("/old")] {
        assert!(!has(&left, gone), "{gone}");
    }
    // What others say of it stays: the bodies of two pages, and how the child was found.
    let text = String::from_utf8_lossy(&left);
    let named: Vec<_> =
        text.match_indices("people/jane").map(|(at, _)| &text[at.saturating_sub(28)..at + 11]).collect();
    assert!(named.iter().all(|line| line.contains("href=") || line.contains("via: ")), "{named:?}");
    assert_eq!((&found("zanzibar")["total"], &found("words")["total"]), (&0.into(), &3.into()));
    Webloom::new(["get"]).args([&dir]).args([server.url("/people/jane")]).run().expect(1);
    let body = Webloom::new(["get"]).args([&dir]).args([server.url("/child"), "--sequence".into(), "1".into()]).run();
    assert!(body.expect(0).stdout.contains("child words"));
    assert_eq!(pages_of(&dir, 1).len(), 4);
    // It is not asked for again, however pages are read.
    let asked = server.count("/people/jane");
    Webloom::crawl(&dir, &start).args(["--again"]).run().expect(0);
    assert_clean(&dir);
    assert_sound(&dir);
    assert_eq!(server.count("/people/jane"), asked);
    Webloom::crawl(&dir, &start).args(["--again", "--revisit", "rediscover"]).run().expect(0);
    assert_clean(&dir);
    assert!(pages_of(&dir, 3).keys().all(|url| !url.contains("jane") && !url.contains("old")));
    assert_eq!(server.count("/people/jane"), asked);
    let added = Webloom::go_on(&dir).args(["--add", &server.url("/people/jane")]).run().expect(2);
    assert!(added.stderr.contains("was removed from this crawl"), "{}", added.stderr);
    let why = Webloom::new(["why"]).args([&dir]).args([server.url("/people/jane")]).run().expect(0).stdout;
    assert!(why.contains("was removed with `webloom forget`"), "{why}");
    let none = forget(&dir, "/people/jane$").expect(1);
    assert!(none.stdout.contains("no URL matches"), "{}", none.stdout);
    let refused = forget(&dir, "/$").expect(2);
    assert!(refused.stderr.contains("is where the crawl begins"), "{}", refused.stderr);
    assert_clean(&dir);
}

#[test]
fn a_crawl_that_was_interrupted_goes_on_without_what_was_removed() {
    let (server, folder) = (site(), Folder::new());
    let (dir, start) = (folder.crawl(), server.url("/"));
    Webloom::crawl(&dir, &start).args(["--max-pages", "2"]).run().expect(0);
    forget(&dir, "jane|/b$").expect(0);
    assert_clean(&dir);
    Webloom::crawl(&dir, &start).args(["--max-pages", "unlimited"]).run().expect(0);
    assert_clean(&dir);
    assert_eq!(server.count("/people/jane"), 0);
    // Nothing but the last page is left to go: numbers are given again, and what is known of visits follows.
    forget(&dir, "/child$|/a$").expect(0);
    assert_clean(&dir);
    Webloom::crawl(&dir, &start).args(["--again", "--archive", "warc"]).run().expect(0);
    assert_clean(&dir);
}

/// A site of two moments, whose parts and outer links are checked, and whose pages fill several archive files.
fn large_site() -> (Server, Arc<AtomicUsize>) {
    let version = Arc::new(AtomicUsize::new(0));
    let now = Arc::clone(&version);
    let server = serve(move |asked: &Asked| {
        let later = now.load(Ordering::SeqCst) > 0;
        let is_conditional = asked.headers.iter().any(|line| line.to_ascii_lowercase().starts_with("if-none-match"));
        match asked.target.as_str() {
            "/" => {
                let links: String =
                    (0..8).map(|page| format!("<a href=/large/{page}>{page}</a>")).collect::<Vec<_>>().concat();
                let new = if later { "<a href=/new>new</a>" } else { "" };
                Reply::html(format!(
                    "{links}{new}<img src=/zebra.png><a href=/large/1#zebra>s</a><a href='/q?id=1&utm_x=2'>q</a>"
                ))
            }
            "/robots.txt" => Reply::status(404),
            path if path.starts_with("/large") && is_conditional => Reply::status(304).header("ETag: \"1\""),
            path if path.starts_with("/large") => {
                let mut number = path.len() as u64 + u64::from(path.as_bytes()[path.len() - 1]);
                let noise: String = std::iter::repeat_with(|| {
                    number = number.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                    char::from(b'a' + u8::try_from(number >> 59).unwrap_or(0) % 26)
                })
                .take(400_000)
                .collect();
                Reply::html(format!("<p>{noise}")).header("ETag: \"1\"")
            }
            path => Reply::html(format!("<p>page {path}")),
        }
    });
    (server, version)
}

#[test]
fn what_is_elsewhere_in_the_archive_stays_and_what_was_only_checked_goes() {
    let ((server, version), folder) = (large_site(), Folder::new());
    let (dir, start) = (folder.crawl(), server.url("/"));
    let how = ["--archive", "warc", "--check-assets", "--check-anchors", "--strip-query", "utm_*"];
    let crawl = |flags: &[&str]| {
        Webloom::crawl(&dir, &start).args(how).args(flags).env("WEBLOOM_ARCHIVE_FILE_SIZE", "1MiB").run().expect(0);
        assert_clean(&dir);
        assert_sound(&dir);
    };
    crawl(&[]);
    version.store(1, Ordering::SeqCst);
    crawl(&["--again"]);
    let size = || files(&dir).iter().map(|file| fs::metadata(file).unwrap().len()).sum::<u64>();
    let (before, count) = (size(), files(&dir).len());
    assert!(count > 1, "{count}");
    forget(&dir, "/new$|zebra|[?]id=1$").expect(0);
    assert_clean(&dir);
    assert_sound(&dir);
    assert!(size() < before && files(&dir).len() == count);
    assert!(!has(&fs::read(dir.join("webloom.sqlite")).unwrap(), "zebra"));
    let modes: Vec<_> =
        files(&dir).iter().map(|file| fs::metadata(file).unwrap().permissions().mode() & 0o777).collect();
    assert_eq!(modes, vec![0o600; count]);
    let asked = |path: &str| server.count(path);
    let known = [asked("/new"), asked("/zebra.png"), asked("/q?id=1&utm_x=2")];
    crawl(&["--again", "--revisit", "rediscover"]);
    assert_eq!([asked("/new"), asked("/zebra.png"), asked("/q?id=1&utm_x=2")], known);
    assert!(!has(&fs::read(dir.join("webloom.sqlite")).unwrap(), "zebra"));
}
