//! The archive: what servers answer, in WARC files, and pages read back from them.

use std::{
    fs,
    io::{Read, Write},
    path::{Path, PathBuf},
    process::Command,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use flate2::{Compression, read::MultiGzDecoder, write::GzEncoder};
use rustix::process::Signal;
use webloom_tests::{
    archive::{assert_sound, assert_valid, files, files_in},
    server::{Asked, Reply, Server},
    webloom::{Webloom, assert_clean, pages_of},
};

use crate::{Folder, serve, star};

const ARCHIVED: &str = "the archive has the records that rows name";

/// A site of pages that stay, change, go, are compressed, and lead elsewhere. Each version is another moment.
struct Site {
    server: Server,
    version: Arc<AtomicUsize>,
}

impl Site {
    fn serve() -> Self {
        let version = Arc::new(AtomicUsize::new(0));
        let now = Arc::clone(&version);
        let server = serve(move |asked: &Asked| {
            let version = now.load(Ordering::SeqCst);
            let is_conditional =
                asked.headers.iter().any(|line| line.to_ascii_lowercase().starts_with("if-none-match"));
            match asked.target.as_str() {
                "/" => Reply::links([
                    "/same",
                    "/asked",
                    "/changing",
                    "/gzip",
                    "/moved",
                    "/gone",
                    "/empty",
                    "/bytes.bin",
                    "/%C3%A9?a=b",
                ]),
                "/asked" if is_conditional => Reply::status(304).header("ETag: \"1\""),
                "/asked" => Reply::html("<p>asked").header("ETag: \"1\""),
                "/changing" => Reply::html(format!("<p>version {version}")),
                "/gzip" => gzipped(&page("gzip")),
                "/moved" => Reply::redirect(301, "/there"),
                "/gone" if version > 0 => Reply::status(404),
                "/empty" => Reply::text(""),
                "/bytes.bin" => Reply::Whole(200, Vec::new(), b"\r\n\r\nWARC/1.1\r\n".to_vec()),
                "/robots.txt" | "/sitemap.xml" => Reply::status(404),
                path => Reply::html(page(path)),
            }
        });
        Self { server, version }
    }

    fn set(&self, version: usize) {
        self.version.store(version, Ordering::SeqCst);
    }

    fn get(&self, dir: &Path, path: &str, how: &[&str]) -> Vec<u8> {
        let program = webloom_tests::webloom::program();
        let output =
            Command::new(program).arg("get").arg(dir).arg(self.server.url(path)).args(how).output().expect("it starts");
        assert!(output.status.success(), "{path} {how:?}: {}", String::from_utf8_lossy(&output.stderr));
        output.stdout
    }
}

fn page(path: &str) -> String {
    format!("<title>{path}</title><p>{}", "the same words again ".repeat(50))
}

fn gzipped(text: &str) -> Reply {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(text.as_bytes()).expect("memory takes it");
    let headers = ["content-type: text/html", "content-encoding: gzip"].map(str::to_owned);
    Reply::Whole(200, headers.into(), encoder.finish().expect("memory takes it"))
}

fn crawl(dir: &Path, start: &str, arguments: &[&str]) {
    let run = Webloom::crawl(dir, start).args(arguments).run();
    drop(run.expect(0));
    assert_clean(dir);
}

/// `check` names this alone.
fn assert_damaged(dir: &Path) {
    let report = Webloom::new(["check", "--json"]).args([dir]).run().expect(1).json();
    let findings = report["findings"].as_array().expect("a list");
    assert!(findings.len() == 1 && findings[0]["invariant"] == ARCHIVED, "{report}");
}

/// The texts of all records.
fn records(dir: &Path) -> String {
    texts(&files(dir))
}

fn texts(files: &[PathBuf]) -> String {
    let mut text = Vec::new();
    for file in files {
        MultiGzDecoder::new(fs::File::open(file).expect("it opens")).read_to_end(&mut text).expect("it is gzip");
    }
    String::from_utf8_lossy(&text).into_owned()
}

fn count(dir: &Path, kind: &str) -> usize {
    records(dir).matches(&format!("WARC/1.1\r\nWARC-Type: {kind}\r\n")).count()
}

#[test]
fn each_answer_is_archived_once_and_read_back() {
    let (site, folder) = (Site::serve(), Folder::new());
    let (dir, start) = (folder.crawl(), site.server.url("/"));
    crawl(&dir, &start, &["--archive", "warc"]);
    assert_sound(&dir);
    let all = |dir: &Path| ["response", "revisit", "request", "metadata"].map(|kind| count(dir, kind));
    assert_eq!(all(&dir), [11, 0, 11, 11]);
    site.set(1);
    // It stays on.
    crawl(&dir, &start, &["--again"]);
    assert_sound(&dir);
    // What changed, what is gone, and the redirect, which has no body that could be the same; all others are as they were.
    assert_eq!(all(&dir), [14, 8, 22, 22]);
    let text = records(&dir);
    for part in
        ["revisit/server-not-modified\r\n", "revisit/identical-payload-digest\r\n", "hopsFromSeed: LR\r\n", "via: "]
    {
        assert!(text.contains(part), "{part}");
    }
    for path in ["/", "/same", "/gzip", "/%C3%A9?a=b"] {
        let body = site.get(&dir, path, &[]);
        let expected = match path {
            "/" => None,
            "/gzip" => Some(page("gzip")),
            path => Some(page(path)),
        };
        assert!(expected.is_none_or(|expected| expected.as_bytes() == body), "{path}");
        assert_eq!(site.get(&dir, path, &["--sequence", "0"]), body, "{path}");
    }
    assert_eq!(site.get(&dir, "/changing", &[]), b"<p>version 1");
    assert_eq!(site.get(&dir, "/changing", &["--sequence", "0"]), b"<p>version 0");
    assert_eq!(site.get(&dir, "/changing", &["--at", "2999-01-01T00:00:00Z"]), b"<p>version 1");
    assert_eq!(site.get(&dir, "/asked", &["--sequence", "1"]), b"<p>asked");
    assert!(
        site.get(&dir, "/asked", &["--sequence", "1", "--headers"]).starts_with(b"HTTP/1.1 200"),
        "those of the body"
    );
    assert_eq!(
        (site.get(&dir, "/empty", &[]), site.get(&dir, "/bytes.bin", &[])),
        (vec![], b"\r\n\r\nWARC/1.1\r\n".to_vec())
    );
    assert_eq!(site.get(&dir, "/gone", &[]), page("/gone").into_bytes(), "the last time that it was there");
    assert!(site.get(&dir, "/gzip", &["--raw"]).windows(4).any(|bytes| bytes == b"\r\n\r\n"));
    let none = Webloom::new(["get"]).args([&dir]).args([site.server.url("/nothing")]).run().expect(1);
    assert!(none.stdout.is_empty() && none.stderr.contains("no copy of it as a page"), "{}", none.stderr);
    let index = fs::read_to_string(dir.join("archive/index.cdxj")).unwrap();
    let mut sorted: Vec<_> = index.lines().collect();
    sorted.sort_unstable();
    assert_eq!((sorted.len(), sorted.join("\n") + "\n"), (22, index));
}

fn export(dir: &Path, out: &Path, how: &[&str]) {
    drop(Webloom::new(["export"]).args([dir]).args(["-o"]).args([out]).args(how).run().expect(0));
}

#[test]
fn an_export_has_the_records_and_bodies_that_are_elsewhere() {
    let (site, folder) = (Site::serve(), Folder::new());
    let (dir, start) = (folder.crawl(), site.server.url("/"));
    crawl(&dir, &start, &["--archive", "warc"]);
    site.set(1);
    crawl(&dir, &start, &["--again"]);
    let out = dir.with_extension("warcs");
    export(&dir, &out, &["--format", "warc"]);
    let bytes = |folder: &Path, name: &str| fs::read(folder.join(name)).unwrap();
    let name = files(&dir)[0].file_name().unwrap().to_str().unwrap().to_owned();
    for name in [&name, "index.cdxj"] {
        assert!(bytes(&out, name) == bytes(&dir.join("archive"), name), "{name}");
    }
    // What is as it was names records that are not there: it gets their bodies.
    export(&dir, &out, &["--format", "warc", "--since", "last", "--match", "/(same|asked|gone|gzip)$"]);
    let exported = files_in(&out);
    assert_valid(&exported);
    let text = texts(&exported);
    assert!(text.contains("\r\nsettings: {\"archive.format\":\"warc\",\""), "{text}");
    let kinds = ["warcinfo", "response", "revisit", "request"];
    assert_eq!(kinds.map(|kind| text.matches(&format!("WARC/1.1\r\nWARC-Type: {kind}\r\n")).count()), [1, 4, 0, 4]);
    assert!(text.contains(&page("/same")) && text.contains("<p>asked") && !text.contains("Refers-To"), "{text}");
    let index = String::from_utf8(bytes(&out, "index.cdxj")).unwrap();
    assert_eq!((index.lines().count(), index.matches("\"status\": \"200\"").count()), (4, 3), "{index}");
    for line in index.lines() {
        let value: serde_json::Value = serde_json::from_str(&line[line.find('{').unwrap()..]).unwrap();
        let number = |name: &str| value[name].as_str().unwrap().parse::<usize>().unwrap();
        let record = &bytes(&out, &name)[number("offset")..][..number("length")];
        let mut text = String::new();
        flate2::read::GzDecoder::new(record).read_to_string(&mut text).unwrap_or_default();
        assert!(text.is_empty() || text.contains(value["url"].as_str().unwrap()), "{line}");
    }
    let wacz = dir.with_extension("wacz");
    export(&dir, &wacz, &["--format", "wacz"]);
    let unpacked = dir.with_extension("unpacked");
    let python = Command::new("python3").args(["-m", "zipfile", "-e"]).arg(&wacz).arg(&unpacked).status();
    assert!(python.unwrap().success());
    assert!(bytes(&unpacked.join("archive"), &name) == bytes(&dir.join("archive"), &name));
    let mut lines = String::new();
    MultiGzDecoder::new(&bytes(&unpacked, "indexes/index.cdx.gz")[..]).read_to_string(&mut lines).unwrap();
    assert_eq!(lines.into_bytes(), bytes(&dir.join("archive"), "index.cdxj"));
    let about: serde_json::Value = serde_json::from_slice(&bytes(&unpacked, "datapackage.json")).unwrap();
    let paths: Vec<_> = about["resources"].as_array().unwrap().iter().map(|one| one["path"].clone()).collect();
    let expected = [&*format!("archive/{name}"), "indexes/index.cdx.gz", "indexes/index.idx", "pages/pages.jsonl"];
    assert_eq!(paths, expected);
    let first = fs::read(&wacz).unwrap();
    export(&dir, &wacz, &["--format", "wacz"]);
    assert!(fs::read(&wacz).unwrap() == first, "twice the same");
}

#[test]
fn parts_of_pages_are_kept_wherever_they_are() {
    let elsewhere = serve(|asked: &Asked| match asked.target.as_str() {
        "/x.js" => Reply::redirect(302, "/y.js"),
        "/robots.txt" => Reply::status(404),
        _ => Reply::text("part"),
    });
    let other = elsewhere.url("/");
    let site = serve(move |asked: &Asked| match asked.target.as_str() {
        "/" => Reply::html(format!(
            "<link rel=stylesheet href=s.css><img src=p.png><script src={other}x.js></script><a href={other}page>x</a>
             <a href={other}big.png><img src={other}big.png></a><img src={other}private/a.png><a href=deep>d</a>"
        )),
        "/deep" => Reply::html("<img src=deep.png>"),
        "/s.css" => Reply::Whole(
            200,
            vec!["content-type: text/css".to_owned()],
            b"@import 't.css'; p { background: url(q.png) }".to_vec(),
        ),
        "/t.css" => {
            Reply::Whole(200, vec!["content-type: text/css".to_owned()], b"p { background: url(/r.png) }".to_vec())
        }
        "/robots.txt" | "/sitemap.xml" => Reply::status(404),
        _ => Reply::text("image"),
    });
    let folder = Folder::new();
    let (dir, start) = (folder.crawl(), site.url("/"));
    let names = |dir: &Path, sequence| {
        let mut names: Vec<_> = pages_of(dir, sequence)
            .values()
            .map(|page| {
                let url = page["url"].as_str().unwrap();
                format!("{} {} {}", page["hop"].as_str().unwrap(), page["depth"], &url[url.rfind('/').unwrap()..])
            })
            .collect();
        names.sort();
        names
    };
    crawl(&dir, &start, &["--archive", "warc", "--max-depth", "0", "--exclude", "private"]);
    assert_eq!(names(&dir, 0), ["link 1 /deep", "start 0 /"]);
    // It is turned on later: pages are read anew.
    crawl(&dir, &start, &["--again", "--assets", "keep"]);
    let kept = [
        "asset 0 /big.png",
        "asset 0 /p.png",
        "asset 0 /q.png",
        "asset 0 /r.png",
        "asset 0 /s.css",
        "asset 0 /t.css",
        "asset 0 /x.js",
        "asset 0 /y.js",
        "start 0 /",
    ];
    assert_eq!(names(&dir, 1), kept);
    assert_sound(&dir);
    crawl(&dir, &start, &["--again"]);
    assert_eq!(names(&dir, 2), kept);
    let why = Webloom::new(["why"]).args([&dir]).args([elsewhere.url("/big.png")]).run().expect(0).stdout;
    assert!(why.contains("(asset)"), "{why}");
    assert_eq!(elsewhere.count("/page"), 0);
}

#[test]
fn parts_of_parts_come_to_an_end_and_a_page_that_is_shown_stays_a_page() {
    let sheet = |text: String| Reply::Whole(200, vec!["content-type: text/css".to_owned()], text.into_bytes());
    let site = serve(move |asked: &Asked| match asked.target.as_str() {
        "/" => Reply::html(
            "<link rel=stylesheet href=/chain/0><img src=/shown><link rel=preload href=/font><a href=/linking>l</a>",
        ),
        "/linking" => Reply::html("<a href=/shown>s</a>"),
        "/shown" => Reply::html("<a href=/behind>b</a>"),
        "/robots.txt" | "/sitemap.xml" => Reply::status(404),
        path => match path.strip_prefix("/chain/").and_then(|number| number.parse::<u32>().ok()) {
            Some(number) => sheet(format!("@import '/chain/{}';", number + 1)),
            None => Reply::html("page"),
        },
    });
    let folder = Folder::new();
    let (dir, start) = (folder.crawl(), site.url("/"));
    let run = Webloom::crawl(&dir, &start).args(["--archive", "warc", "--assets", "keep"]);
    run.env("WEBLOOM_CHANGE_CONFIRM_SHARE", "0").run().expect(0);
    let sheets = site.targets().iter().filter(|target| target.starts_with("/chain")).count();
    assert_eq!((sheets, site.count("/font"), site.count("/behind")), (6, 1, 1));
    let run = Webloom::crawl(&dir, &start).args(["--again", "--assets", "off"]);
    run.env("WEBLOOM_CHANGE_CONFIRM_SHARE", "0").run().expect(0);
    assert_eq!((site.count("/shown"), site.count("/behind")), (2, 2));
}

#[test]
fn a_self_contained_archive_has_each_body_again() {
    let (site, folder) = (Site::serve(), Folder::new());
    let (dir, start) = (folder.crawl(), site.server.url("/"));
    crawl(&dir, &start, &["--archive", "self-contained"]);
    crawl(&dir, &start, &["--again"]);
    assert_sound(&dir);
    assert_eq!((count(&dir, "response"), count(&dir, "revisit")), (22, 0));
    // From now on without, and later with it again: nothing is asked for by a condition that the archive could not answer.
    crawl(&dir, &start, &["--again", "--archive", "none"]);
    crawl(&dir, &start, &["--again", "--archive", "warc"]);
    assert_eq!(count(&dir, "response") + count(&dir, "revisit"), 33);
    assert_eq!(site.get(&dir, "/asked", &["--sequence", "3"]), b"<p>asked");
}

#[test]
fn an_archive_that_begins_later_asks_for_what_it_lacks() {
    let (site, folder) = (Site::serve(), Folder::new());
    let (dir, start) = (folder.crawl(), site.server.url("/"));
    crawl(&dir, &start, &[]);
    crawl(&dir, &start, &["--again", "--archive", "warc"]);
    assert_eq!((count(&dir, "response"), count(&dir, "revisit")), (11, 0));
    crawl(&dir, &start, &["--again"]);
    assert_eq!(site.get(&dir, "/asked", &["--sequence", "2"]), b"<p>asked");
    assert_eq!(count(&dir, "revisit"), 10);
}

#[test]
fn files_are_no_larger_than_they_may_be_and_hold_the_types_that_are_wanted() {
    let noise = |path: &str| {
        let mut random = path.len() as u64 + u64::from(path.as_bytes()[1]) * 977;
        let next = || {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            char::from(b'!' + u8::try_from((random >> 40) % 90).expect("it is small"))
        };
        std::iter::repeat_with(next).take(400_000).collect::<String>()
    };
    let server = serve(move |asked: &Asked| match asked.target.as_str() {
        "/" => Reply::links((0..9).map(|page| format!("/{page}")).chain(["/x.txt".to_owned()])),
        "/x.txt" => Reply::text("text"),
        "/robots.txt" | "/sitemap.xml" => Reply::status(404),
        path => Reply::html(noise(path)),
    });
    let folder = Folder::new();
    let dir = folder.crawl();
    let run = Webloom::crawl(&dir, &server.url("/")).args(["--archive", "warc"]);
    let run = run.env("WEBLOOM_ARCHIVE_TYPES", "text/html").env("WEBLOOM_ARCHIVE_FILE_SIZE", "1MiB");
    drop(run.run().expect(0));
    assert_clean(&dir);
    let sizes: Vec<_> = files(&dir).iter().map(|file| fs::metadata(file).unwrap().len()).collect();
    assert!(sizes.len() > 2 && sizes.iter().all(|size| *size < 1_500_000), "{sizes:?}");
    assert_eq!((count(&dir, "response"), count(&dir, "warcinfo")), (10, sizes.len()));
}

#[test]
fn what_is_damaged_is_named_and_a_file_that_lost_its_end_is_made_whole() {
    let (site, folder) = (Site::serve(), Folder::new());
    let (dir, start) = (folder.crawl(), site.server.url("/"));
    crawl(&dir, &start, &["--archive", "warc"]);
    let [file] = &files(&dir)[..] else { panic!("one file") };
    let whole = fs::read(file).unwrap();
    let mut damaged = whole.clone();
    damaged[whole.len() / 2] ^= 0x55;
    fs::write(file, &damaged).unwrap();
    assert_damaged(&dir);
    fs::write(file, &whole[..whole.len() / 2]).unwrap();
    assert_damaged(&dir);
    let again = Webloom::crawl(&dir, &start).args(["--again"]).run().expect(0);
    assert!(again.stderr.contains("has lost its end"), "{}", again.stderr);
    assert_clean(&dir);
    for (url, _) in pages_of(&dir, 1).iter().filter(|(_, page)| page["outcome"] == "stored") {
        Webloom::new(["get", "--sequence", "1"]).args([&dir]).args([url]).run().expect(0);
    }
    fs::remove_file(file).unwrap();
    assert_damaged(&dir);
}

#[test]
fn an_archive_that_is_gone_begins_anew() {
    let (site, folder) = (Site::serve(), Folder::new());
    let (dir, start) = (folder.crawl(), site.server.url("/"));
    crawl(&dir, &start, &["--archive", "warc"]);
    crawl(&dir, &start, &["--again"]);
    fs::remove_dir_all(dir.join("archive")).unwrap();
    assert_damaged(&dir);
    crawl(&dir, &start, &["--again"]);
    assert_eq!(fs::read_to_string(dir.join("archive/index.cdxj")).unwrap().lines().count(), 11);
    assert_eq!(["warcinfo", "response", "revisit"].map(|kind| count(&dir, kind)), [1, 11, 0]);
    assert_eq!(site.get(&dir, "/asked", &[]), b"<p>asked");
}

/// One page was there before the archive began, and is away when it does.
#[test]
fn an_error_is_no_copy_of_the_page() {
    let version = Arc::new(AtomicUsize::new(0));
    let now = Arc::clone(&version);
    let server = serve(move |asked: &Asked| {
        let is_conditional = asked.headers.iter().any(|line| line.to_ascii_lowercase().starts_with("if-none-match"));
        match (asked.target.as_str(), now.load(Ordering::SeqCst)) {
            ("/", _) => Reply::links(["/late", "/twice", "/plain"]),
            ("/late", 1) | ("/robots.txt" | "/sitemap.xml", _) => Reply::status(404),
            ("/late", _) if is_conditional => Reply::status(304),
            ("/late", _) => Reply::html("<p>late").header("ETag: \"1\""),
            ("/plain", _) if is_conditional => Reply::status(304).header("Content-Encoding: br"),
            ("/plain", _) => Reply::html("<p>plain").header("ETag: \"1\""),
            (_, _) => {
                let Reply::Whole(_, _, once) = gzipped("<p>twice") else { unreachable!("it is whole") };
                let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
                encoder.write_all(&once).expect("memory takes it");
                let headers = ["content-type: text/html", "content-encoding: gzip", "content-encoding: gzip"];
                Reply::Whole(200, headers.map(str::to_owned).into(), encoder.finish().expect("memory takes it"))
            }
        }
    });
    let folder = Folder::new();
    let (dir, start) = (folder.crawl(), server.url("/"));
    let get = |path: &str, arguments: &[&str]| {
        Webloom::new(["get"]).args([&dir]).args([server.url(path)]).args(arguments).run()
    };
    crawl(&dir, &start, &[]);
    version.store(1, Ordering::SeqCst);
    crawl(&dir, &start, &["--again", "--archive", "warc"]);
    get("/late", &[]).expect(1);
    assert!(get("/late", &["--headers"]).expect(0).stdout.starts_with("HTTP/1.1 404"));
    version.store(2, Ordering::SeqCst);
    for sequence in 2..4 {
        crawl(&dir, &start, &["--again"]);
        assert_eq!(get("/late", &[]).expect(0).stdout, "<p>late", "{sequence}");
        assert_eq!(get("/plain", &[]).expect(0).stdout, "<p>plain", "{sequence}");
        assert_eq!(get("/twice", &[]).expect(0).stdout, "<p>twice", "{sequence}");
    }
}

#[test]
fn what_is_not_to_be_archived_is_asked_for_by_conditions() {
    let server = serve(|asked: &Asked| {
        let is_conditional = asked.headers.iter().any(|line| line.to_ascii_lowercase().starts_with("if-none-match"));
        match asked.target.as_str() {
            "/" => Reply::links(["/a.pdf"]),
            "/a.pdf" if is_conditional => Reply::status(304),
            "/a.pdf" => Reply::Whole(
                200,
                vec!["content-type: Application/PDF; x=y".into(), "etag: \"1\"".into()],
                b"%PDF".into(),
            ),
            _ => Reply::status(404),
        }
    });
    let folder = Folder::new();
    let (dir, start) = (folder.crawl(), server.url("/"));
    for (arguments, not_modified) in [(&["--archive", "warc"][..], 0), (&["--again"], 1), (&["--again"], 1)] {
        let run = Webloom::crawl(&dir, &start).args(arguments).env("WEBLOOM_ARCHIVE_TYPES", "text/html");
        assert_eq!(run.run().expect(0).json()["revisit"]["not_modified"].as_u64().unwrap_or_default(), not_modified);
    }
    // From now on it is.
    let all = Webloom::crawl(&dir, &start).args(["--again"]).env("WEBLOOM_ARCHIVE_TYPES", "application/pdf");
    assert_eq!(all.run().expect(0).json()["revisit"]["not_modified"], 0);
    assert_clean(&dir);
    Webloom::new(["get"]).args([&dir]).args([server.url("/a.pdf")]).run().expect(0);
}

#[test]
fn no_secret_is_archived() {
    let (server, folder) = (serve(star(2)), Folder::new());
    let dir = folder.crawl();
    let cookies = folder.crawl().with_file_name("cookies.txt");
    fs::write(&cookies, "127.0.0.1\tFALSE\t/\tFALSE\t0\tsession\tc00k1e\n").unwrap();
    let start = server.url("/").replace("http://", "http://bob:s3cr3t@");
    let run = Webloom::crawl(&dir, &start).args([
        "--archive",
        "warc",
        "--header",
        "x-key: h3ad3r",
        "--header",
        "accept: text/x-own",
        "--cookies",
    ]);
    drop(run.args([&cookies]).run().expect(0));
    assert!(server.log().len() > 2);
    let text = records(&dir);
    for secret in ["s3cr3t", "h3ad3r", "c00k1e", "Ym9iOnMzY3IzdA"] {
        assert!(!text.contains(secret), "{secret}");
    }
    assert!(text.contains("GET / HTTP/1.1\r\nhost: 127.0.0.1:"), "{text}");
    // What the user gave in the place of a header of ours is not shown, and nor is ours.
    assert!(text.contains("user-agent: ") && !text.contains("accept: "), "{text}");
    assert_sound(&dir);
}

#[test]
fn a_crawl_that_is_killed_again_and_again_archives_each_page_once() {
    let (server, folder) = (serve(star(400)), Folder::new());
    let dir = folder.crawl();
    for kill in 1..=6 {
        let running = Webloom::crawl(&dir, &server.url("/")).args(["--archive", "warc", "--delay", "2ms"]).spawn();
        let before = server.log().len();
        while server.log().len() < before + 10 * kill {
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
        running.signal(Signal::KILL);
        running.wait();
        // What a dead process has left behind the last commit.
        if let Some(last) = files(&dir).last() {
            fs::OpenOptions::new().append(true).open(last).unwrap().write_all(b"torn").unwrap();
        }
    }
    crawl(&dir, &server.url("/"), &["--archive", "warc"]);
    assert_sound(&dir);
    assert_eq!(count(&dir, "response"), 401);
}
