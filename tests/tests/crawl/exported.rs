//! Exports of the archived pages.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    process::Command,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use serde_json::Value;
use webloom_tests::{
    server::{Asked, Reply, Server},
    webloom::{Run, Webloom, assert_clean},
};

use crate::{Folder, serve};

const NAV: &str = "<nav><a href=/>Home</a> <a href=/docs/guide>Guide</a> <a href=/docs/code.html>Code</a></nav>";

/// A page in the dress of the site.
fn page(title: &str, main: &str) -> Reply {
    Reply::html(format!(
        "<html lang=en><title>{title} - Site</title><meta name=description content='About {title}'><body>{NAV}
         <main><h1>{title}</h1>{main}</main><footer>All rights reserved by nobody in particular</footer>"
    ))
}

/// What its pages are at each of two moments.
fn site() -> (Server, Arc<AtomicUsize>) {
    let version = Arc::new(AtomicUsize::new(0));
    let now = Arc::clone(&version);
    let server = serve(move |asked: &Asked| {
        let later = now.load(Ordering::SeqCst) > 0;
        match asked.target.as_str() {
            "/" => page(
                "Start",
                "<p>See <a href='docs/guide#top'>the guide</a>, <a href=/old>the old one</a>, <a href=/none>none</a>, <a href=/%2e%2e%2fevil>evil</a>,
                 <a href='/docs/code.html?x==1'>code</a>, <a href=/gone>gone</a>, <a href=/notes.txt>notes</a> and <a href='javascript:alert(1)'>script</a>.</p>",
            ),
            "/docs/guide" if later => page("Guide", "<p>The guide has changed.</p>"),
            "/docs/guide" => page("Guide", "<p>First words of the guide.</p><h2 id=top>Top</h2><p>More words.</p>"),
            path if path.starts_with("/docs/code.html") => page(
                "=Code()",
                "<pre><code class=language-rust>fn main() { /* ``` */ }\n</code></pre><table><tr><th>a<th>b<tr><td>1|2<td>3</table>
                 <p>&lt;script&gt;alert(1)&lt;/script&gt; and *stars*</p>",
            ),
            "/old" => Reply::redirect(301, "/docs/guide"),
            "/gone" if later => Reply::status(410),
            "/gone" => page("Gone", "<p>It goes.</p>"),
            "/%2e%2e%2fevil" | "/..%2fevil" => page("Evil", "<p>../..</p>"),
            "/notes.txt" => Reply::text("plain <b>notes</b>"),
            _ => Reply::status(404),
        }
    });
    (server, version)
}

fn export(dir: &Path, out: &Path, flags: &[&str]) -> Run {
    Webloom::new(["export"]).args([dir]).args(["-o"]).args([out]).args(flags).run()
}

/// All files below a folder, by their paths.
fn files(folder: &Path) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    let mut folders = vec![PathBuf::new()];
    while let Some(below) = folders.pop() {
        for entry in fs::read_dir(folder.join(&below)).expect("a folder").map(|entry| entry.expect("an entry")) {
            let path = below.join(entry.file_name());
            if entry.path().is_dir() {
                folders.push(path);
            } else {
                let text = fs::read_to_string(entry.path()).expect("UTF-8");
                found.insert(path.to_str().expect("UTF-8").to_owned(), text);
            }
        }
    }
    found
}

fn lines(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

#[test]
fn each_page_is_a_file_whose_links_lead_to_the_others() {
    let ((server, _), folder) = (site(), Folder::new());
    let (dir, start) = (folder.crawl(), server.url("/"));
    Webloom::crawl(&dir, &start).args(["--archive", "warc"]).run().expect(0);
    let out = folder.crawl().with_extension("out");
    export(&dir, &out, &["--chunks", "50"]).expect(0);
    let first = files(&out);
    let names: Vec<_> = first
        .keys()
        .map(String::as_str)
        .filter(|name| name.rsplit_once('.').is_some_and(|(_, end)| end == "md"))
        .collect();
    assert_eq!(names.len(), 7, "{names:?}");
    assert!(
        ["index.md", "docs/guide.md", "docs/code.html.md", "gone.md", "notes.txt.md"]
            .iter()
            .all(|name| names.contains(name)),
        "{names:?}"
    );
    let start = &first["index.md"];
    let expected = [
        "url: \"http",
        "title: \"Start - Site\"\n",
        "description: \"About Start\"\n",
        "digest: \"sha256:",
        "language: \"en\"\n",
        "# Start\n",
        "[the guide](docs/guide.md#top)",
        "[the old one](docs/guide.md)",
        "[gone](gone.md)",
        &format!("[none]({})", server.url("/none")),
    ];
    for part in expected {
        assert!(start.contains(part), "{part} in {start}");
    }
    for part in ["Home", "All rights", "javascript:"] {
        assert!(!start.contains(part), "{part} in {start}");
    }
    let code = &first["docs/code.html.md"];
    assert!(code.contains("````rust\nfn main() { /* ``` */ }\n````") && code.contains("| 1\\|2 | 3 |"), "{code}");
    assert!(code.contains("\\<script>alert(1)\\</script> and \\*stars\\*"), "{code}");
    assert!(first["notes.txt.md"].contains("```\nplain <b>notes</b>\n```"), "{}", first["notes.txt.md"]);
    let chunks = lines(&first["chunks.jsonl"]);
    let top = chunks.iter().find(|chunk| chunk["headings"] == serde_json::json!(["Guide", "Top"]));
    assert!(top.is_some_and(|chunk| chunk["anchor"] == "top" && chunk["tokens"].as_u64() > Some(0)), "{chunks:?}");
    assert!(
        first["llms.txt"].contains("](docs/guide.md): About Guide\n") && first["llms-full.txt"].contains("First words")
    );
    assert!(start.contains("[code](docs/code.html-"), "{start}");
    for (name, text) in &first {
        let folder = Path::new(name).parent().expect("a folder");
        let links = text.split("](").skip(1).filter_map(|rest| rest.split([')', '#']).next());
        for link in links.filter(|link| !link.is_empty() && !link.contains("://") && name.ends_with('d')) {
            assert!(out.join(folder).join(link).exists(), "{link} in {name}");
        }
    }
    // Twice the same.
    export(&dir, &out, &["--chunks", "50"]).expect(0);
    assert_eq!(files(&out), first);
}

#[test]
fn an_update_has_what_changed_and_what_was_deleted() {
    let ((server, version), folder) = (site(), Folder::new());
    let (dir, start) = (folder.crawl(), server.url("/"));
    Webloom::crawl(&dir, &start).args(["--archive", "warc"]).run().expect(0);
    version.store(1, Ordering::SeqCst);
    Webloom::go_on(&dir).args(["--again"]).run().expect(0);
    let update = folder.crawl().with_extension("update");
    export(&dir, &update, &["--since", "last"]).expect(0);
    let update = files(&update);
    let names: Vec<_> = update.keys().map(String::as_str).collect();
    assert_eq!(names, ["deleted.jsonl", "docs/guide.md", "index.jsonl"]);
    assert!(update["docs/guide.md"].contains("The guide has changed."));
    let deleted = lines(&update["deleted.jsonl"]);
    assert!(deleted.len() == 1 && deleted[0]["file"] == "gone.md", "{deleted:?}");
    let index = lines(&update["index.jsonl"]);
    assert!(index.len() == 1 && index[0]["change"] == "changed" && index[0]["file"] == "docs/guide.md", "{index:?}");
    let none = folder.crawl().with_extension("none");
    export(&dir, &none, &["--since", "1"]).expect(0);
    assert_eq!(files(&none).keys().collect::<Vec<_>>(), ["deleted.jsonl", "index.jsonl"]);
}

#[test]
fn what_is_gone_stays_gone_and_what_is_refused_is_there() {
    let version = Arc::new(AtomicUsize::new(0));
    let now = Arc::clone(&version);
    let server = serve(move |asked: &Asked| match (asked.target.as_str(), now.load(Ordering::SeqCst)) {
        ("/", _) => page("Start", "<a href=/gone>gone</a> <a href=/refused>refused</a>"),
        ("/gone", 1) => Reply::status(410),
        ("/gone", 2) => Reply::status(503),
        ("/refused", 1..) => Reply::status(403),
        ("/gone" | "/refused", _) => page("Words", "<p>ephemeral</p>"),
        _ => Reply::status(404),
    });
    let folder = Folder::new();
    let (dir, start) = (folder.crawl(), server.url("/"));
    let exported = |number: usize, flags: &[&str]| {
        let out = folder.crawl().with_extension(format!("{number}{}", flags.concat()));
        export(&dir, &out, flags).expect(0);
        files(&out).into_keys().filter(|name| !name.contains('l')).collect::<Vec<_>>()
    };
    let found =
        || Webloom::new(["search", "--json"]).args([&dir]).args(["ephemeral"]).run().expect(0).json()["total"].clone();
    let crawl = |number: usize, again: &[&str]| {
        version.store(number, Ordering::SeqCst);
        let run = Webloom::crawl(&dir, &start).args(["--archive", "warc"]).args(again);
        drop(run.env("WEBLOOM_POLITENESS_BACKOFF", "10ms").env("WEBLOOM_RETRY_BACKOFF", "10ms").run().expect(0));
    };
    crawl(0, &[]);
    assert_eq!((exported(0, &[]), found()), (vec!["gone.md".into(), "index.md".into(), "refused.md".into()], 2.into()));
    for number in [1, 2] {
        crawl(number, &["--again"]);
        // It was reported as gone; the other one is there, as far as is known.
        assert_eq!(
            (exported(number, &[]), found()),
            (vec!["index.md".into(), "refused.md".into()], 1.into()),
            "{number}"
        );
    }
    crawl(3, &["--again"]);
    assert_eq!((exported(3, &["--since", "last"]), found()), (vec!["gone.md".into()], 2.into()));
}

#[test]
fn the_markdown_of_the_site_itself_is_taken() {
    let markdown = "---\nlayout: x\n---\n# Own\n\nWritten *so*, see [the guide](other.html#a) and [x](javascript:alert(1)).\n\n\
        | a | b |\n|---|---|\n| 1 | 2 |\n\n<script>alert(1)</script><b>raw</b>\n\n```rust\nfn main() {}\n```\n";
    let is_gone = Arc::new(AtomicUsize::new(0));
    let gone = Arc::clone(&is_gone);
    let server = serve(move |asked: &Asked| {
        let offer = |own: &str| {
            Reply::html(format!(
                "<title>Page</title><link rel=alternate type='text/markdown' href={own}><main><h1>Own</h1><p>What the HTML says of it.</p></main>"
            ))
        };
        match asked.target.as_str() {
            "/" => Reply::links(["/docs/own.html", "/docs/other.html"]),
            "/docs/own.html" => offer("own.md"),
            "/docs/own.md" if gone.load(Ordering::SeqCst) > 0 => Reply::status(404),
            "/docs/own.md" => {
                Reply::Whole(200, vec!["content-type: text/markdown; charset=utf-8".to_owned()], markdown.into())
            }
            "/docs/other.html" => offer("none.md"),
            _ => Reply::status(404),
        }
    });
    let folder = Folder::new();
    let (dir, out) = (folder.crawl(), folder.crawl().with_extension("out"));
    Webloom::crawl(&dir, &server.url("/")).args(["--archive", "warc"]).run().expect(0);
    export(&dir, &out, &[]).expect(0);
    let written = files(&out);
    let content = |name: &str| written[name].splitn(3, "---\n").nth(2).expect("front matter").to_owned();
    let own = content("docs/own.html.md");
    let expected =
        ["# Own\n", "Written *so*, see [the guide](other.html.md#a) and x.", "| a | b |", "```rust\nfn main() {}\n```"];
    for expected in expected {
        assert!(own.contains(expected), "{expected} {own}");
    }
    assert!(
        !own.contains("HTML says") && !own.contains("alert") && !own.contains('<') && !own.contains("layout"),
        "{own}"
    );
    assert_eq!(own, content("docs/own.md.md"));
    assert!(content("docs/other.html.md").contains("What the HTML says of it."));
    is_gone.store(1, Ordering::SeqCst);
    Webloom::crawl(&dir, &server.url("/")).args(["--again"]).run().expect(0);
    export(&dir, &out, &[]).expect(0);
    assert!(files(&out)["docs/own.html.md"].contains("What the HTML says of it."));
}

#[test]
fn a_line_a_page_and_nothing_that_harms() {
    let ((server, _), folder) = (site(), Folder::new());
    let (dir, start) = (folder.crawl(), server.url("/"));
    Webloom::crawl(&dir, &start).args(["--archive", "warc"]).run().expect(0);
    let out = |name: &str| folder.crawl().with_extension(name);
    export(&dir, &out("jsonl"), &["--format", "jsonl", "--match", "docs"]).expect(0);
    let pages = lines(&fs::read_to_string(out("jsonl")).expect("a file"));
    assert_eq!(pages.len(), 3);
    assert!(
        pages.iter().all(|page| page["text"].is_string() && page["markdown"].is_string() && page["digest"].is_string())
    );
    export(&dir, &out("csv"), &["--format", "csv"]).expect(0);
    let table = fs::read_to_string(out("csv")).expect("a file");
    assert!(table.contains(",\"'=Code() - Site\",") && table.contains("First words of the guide.\n"), "{table}");
    export(&dir, &out("text"), &["--format", "text"]).expect(0);
    let texts = files(&out("text"));
    assert!(texts["docs/guide.txt"].starts_with("Guide\n\nFirst words of the guide.\n"), "{texts:?}");
    // The same of one page.
    let get = |flag: &str| {
        let output = Command::new(webloom_tests::webloom::program())
            .arg("get")
            .arg(&dir)
            .arg(server.url("/docs/guide"))
            .arg(flag)
            .output();
        String::from_utf8(output.expect("it starts").stdout).expect("UTF-8")
    };
    assert!(
        get("--text").starts_with("Guide\n\nFirst words") && get("--markdown").starts_with("# Guide\n\nFirst words")
    );
}

#[test]
fn what_cannot_be_exported_is_said() {
    let ((server, _), folder) = (site(), Folder::new());
    let (dir, start) = (folder.crawl(), server.url("/"));
    Webloom::crawl(&dir, &start).run().expect(0);
    let out = folder.crawl().with_extension("out");
    let bare = export(&dir, &out, &[]).expect(1);
    assert!(bare.stderr.contains("without an archived body"), "{}", bare.stderr);
    let refused = export(&dir, &dir, &[]).expect(2);
    assert!(refused.stderr.contains("it is in a crawl directory"), "{}", refused.stderr);
    export(&dir, &out, &["--chunks", "9", "--format", "csv"]).expect(2);
    export(&dir, &out, &["--since", "never"]).expect(2);
    let database = dir.join("webloom.sqlite");
    let kept = export(&dir, &database, &["--format", "jsonl"]).expect(2);
    assert!(kept.stderr.contains("it is in a crawl directory"), "{}", kept.stderr);
    assert_clean(&dir);
}

/// A page with its parts, whose paths no file system takes as they are.
fn picture_site() -> Server {
    let typed =
        |kind: &str, body: &str| Reply::Whole(200, vec![format!("content-type: {kind}")], body.as_bytes().to_vec());
    serve(move |asked: &Asked| {
        match asked.target.as_str() {
        "/" => Reply::html(
            "<base href=/d/><link rel=stylesheet href=s.css?v=1><a href=../a>a</a><a href=..>up</a><a href=../none#x>n</a>
             <a href=../a.html/>folder</a><a href=../a.html>file</a><img srcset='p.png 2x, ../logo 3x'><a href='../old?x=1#top'>old</a><a href=../%61>same</a>",
        ),
        "/d/s.css?v=1" => typed("text/css", "@import url(t.css); p { background: url('q.png') }"),
        "/d/t.css" => typed("text/css", "/* none */"),
        "/d/p.png" | "/d/q.png" | "/logo" => typed("image/png", "png"),
        "/a" => Reply::html("<style>p { background: url(/logo) }</style><script src='//other.invalid/x.js'></script><a href=/>up</a>"),
        "/a.html" | "/a.html/" => Reply::html("<a href=/a.html/>f</a><a href=/a.html>g</a><img src=/d/p.png>"),
        "/old?x=1" => Reply::redirect(301, "/a"),
        _ => Reply::status(404),
    }
    })
}

#[test]
fn a_mirror_has_no_dead_link() {
    let (server, folder) = (picture_site(), Folder::new());
    let (dir, start) = (folder.crawl(), server.url("/"));
    Webloom::crawl(&dir, &start)
        .args(["--archive", "warc", "--assets", "keep", "--exclude", "other[.]invalid"])
        .run()
        .expect(0);
    let out = dir.with_extension("out");
    let said = export(&dir, &out, &["--format", "mirror"]).expect(0).stdout;
    assert!(
        said.contains("wrote 9 pages") && said.contains("begin with") && said.trim_end().ends_with("index.html"),
        "{said}"
    );
    let first = files(&out);
    let names: Vec<_> = first.keys().filter(|name| !name.contains('-')).map(String::as_str).collect();
    let expected = [".webloom.jsonl", "a.html/index.html", "d/p.png", "d/q.png", "d/t.css", "index.html", "logo.png"];
    assert_eq!(names, expected, "{:?}", first.keys());
    let mut relative = 0;
    let references = regex::Regex::new(r#"(?:href=|src=|srcset=|url\(|png 2x, )"?([^")> ]+)"#).unwrap();
    for (name, text) in first.iter().filter(|(name, _)| !name.ends_with("jsonl")) {
        let is_page = name.ends_with("html");
        assert!(!is_page || text.contains("Content-Security-Policy") && !text.contains("<base href"), "{name}");
        for found in references.captures_iter(text) {
            let reference = found[1].replace("&quot;", "");
            if reference.contains("://") {
                assert!(
                    reference == server.url("/none#x") || reference.contains("other.invalid"),
                    "{reference} in {name}"
                );
            } else {
                relative += 1;
                let path = Path::new(name).parent().unwrap().join(reference.split('#').next().unwrap());
                assert!(out.join(&path).exists(), "{reference} in {name}");
            }
        }
    }
    assert_eq!(relative, 18);
    let start = &first["index.html"];
    assert!(start.contains("#top") && start.contains("a.html/index.html\">folder"), "{start}");
    export(&dir, &out, &["--format", "mirror"]).expect(0);
    assert_eq!(files(&out), first, "twice the same");
    let folder = dir.with_extension("foreign");
    fs::create_dir(&folder).unwrap();
    fs::write(folder.join("x"), "x").unwrap();
    let refused = export(&dir, &folder, &["--format", "mirror"]).expect(2);
    assert!(refused.stderr.contains("is not empty"), "{}", refused.stderr);
}

#[test]
fn what_is_of_another_crawl_or_of_a_crawl_itself_stays() {
    let server = picture_site();
    let (folder, other) = (Folder::new(), Folder::new());
    let (dir, out) = (folder.crawl(), folder.crawl().with_extension("out"));
    Webloom::crawl(&dir, &server.url("/")).args(["--archive", "warc", "--max-pages", "2"]).run().expect(0);
    export(&dir, &out, &["--format", "mirror"]).expect(0);
    Webloom::crawl(&other.crawl(), &server.url("/a")).args(["--archive", "warc"]).run().expect(0);
    let archive = fs::read_dir(other.crawl().join("archive")).unwrap().count();
    for (out, format) in [
        (out.clone(), "mirror"),
        (other.crawl().join("archive"), "warc"),
        (dir.join("archive"), "warc"),
        (dir.join("archive/new/deep"), "markdown"),
        (dir.join("archive/index.cdxj"), "wacz"),
    ] {
        export(&other.crawl(), &out, &["--format", format]).expect(2);
    }
    let warcs = dir.with_extension("warcs");
    export(&dir, &warcs, &["--format", "warc"]).expect(0);
    export(&other.crawl(), &warcs, &["--format", "warc"]).expect(2);
    assert_eq!(fs::read_dir(other.crawl().join("archive")).unwrap().count(), archive);
    assert_clean(&dir);
    assert_clean(&other.crawl());
}
