//! What a person sees: summaries compared with files that are good to read, and lines that fit a real terminal.
//!
//! Figures that differ from run to run (times, memory, ports) are replaced before the comparison. With
//! `UPDATE_GOLDEN=1` the files are written anew.

use std::{
    fs,
    io::Write,
    path::Path,
    process::{Command, Stdio},
    time::Duration,
};

use regex::Regex;
use webloom_tests::{
    server::{Asked, Reply, Server},
    webloom::{self, Webloom},
};

use crate::{Folder, serve};

/// A site with a page of each kind.
fn newspaper(asked: &Asked) -> Reply {
    match asked.target.as_str() {
        "/" => Reply::links(["/news", "/about", "/old", "/missing", "/private", "http://other.test/"]),
        "/news" => Reply::links(["/", "/about", "/news/1", "/news/2"]),
        "/about" | "/news/1" | "/news/2" => Reply::links(["/"]),
        "/old" => Reply::redirect(301, "/news"),
        "/robots.txt" => Reply::text("User-agent: *\nDisallow: /private\n"),
        _ => Reply::status(404),
    }
}

/// Replaces what differs from run to run.
fn steady(text: &str, server: &str) -> String {
    let mut text = text.replace(server, "127.0.0.1:PORT");
    for (pattern, to) in [
        (r"\d+\.\d s\b", "N s"),
        (r"since \d+ s", "since N s"),
        (r"\d+\.\d [kM]B (of|for|received)", "N MB $1"),
        (r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z", "TIME"),
        (r"(?m)^TIME +(WARN|INFO).*\n", ""),
    ] {
        text = Regex::new(pattern).expect("a pattern").replace_all(&text, to).into_owned();
    }
    text
}

#[track_caller]
fn assert_golden(name: &str, shown: &str) {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("golden").join(name);
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        fs::create_dir_all(file.parent().expect("it lies in a folder")).expect("a folder can be made");
        fs::write(&file, shown).expect("a file can be written");
    }
    let kept = fs::read_to_string(&file).unwrap_or_default();
    assert!(kept == shown, "{name} is not as it was; it is now:\n{shown}\nand was:\n{kept}");
}

/// Runs `webloom`, and compares its stdout and the errors on stderr.
#[track_caller]
fn said(name: &str, run: Webloom, server: &Server) {
    let run = run.run();
    let host = format!("127.0.0.1:{}", server.port());
    let shown = format!("{}{}", run.stderr, run.stdout);
    assert_golden(name, &steady(&shown, &host));
}

/// With a crawl directory whose name is as long wherever the test runs: lines are broken where they are too wide.
fn people(arguments: &[&str], folder: &Folder) -> Webloom {
    Webloom::new(arguments).within(&format!("cd '{}'", folder.0.path().display()))
}

#[test]
fn summaries_say_how_it_ended_and_what_to_do_next() {
    let (server, folder) = (serve(newspaper), Folder::new());
    let start = server.url("/");
    said("reached.txt", people(&["crawl", &start, "-d", "docs", "--max-pages", "2"], &folder), &server);
    said("complete.txt", people(&["crawl", "-d", "docs", "--max-pages", "unlimited"], &folder), &server);
    said("again.txt", people(&["crawl", "-d", "docs", "--again"], &folder), &server);
    said("status.txt", people(&["status", "docs"], &folder), &server);
}

#[test]
fn what_did_not_go_well_says_why_and_what_to_type() {
    let closed = serve(|asked| if asked.target == "/robots.txt" { Reply::status(404) } else { Reply::status(401) });
    let folder = Folder::new();
    said("login.txt", people(&["crawl", &closed.url("/"), "-d", "docs"], &folder), &closed);
    let gone = Server::start("127.0.0.1", newspaper).unwrap();
    let (start, port) = (gone.url("/"), gone.port());
    drop(gone);
    let shown = || {
        let folder = Folder::new();
        let run = people(&["crawl", &start, "-d", "docs"], &folder);
        let run = run.env("WEBLOOM_POLITENESS_GIVE_UP", "100ms").run().expect(4);
        format!("{}{}", run.stderr, run.stdout)
    };
    // A time whose milliseconds end with 0 is shorter, and lines are broken elsewhere.
    let is_usual = |shown: &String| !Regex::new(r"(:\d\d|\.\d\d?)Z").unwrap().is_match(shown);
    let shown = std::iter::repeat_with(shown).find(is_usual).expect("one of them");
    assert_golden("unreachable.txt", &steady(&shown, &format!("127.0.0.1:{port}")));
}

#[test]
fn losses_that_were_not_repaired_are_named_first() {
    let (server, folder) = (serve(crate::star(300)), Folder::new());
    let tiny = ["--cache-layout", "classic", "--max-lost-urls", "5", "--expected-urls", "20", "--reset", "none"];
    let lossy = people(&["crawl", &server.url("/"), "-d", "docs"], &folder).args(tiny).args([
        "--hash-seed",
        "1",
        "--sweep",
        "report",
        "--audit-rescue",
        "off",
    ]);
    let run = lossy.run().expect(0);
    let [first, rest] = [run.stdout.lines().next().unwrap(), &*run.stdout];
    assert!(first.starts_with("Finished: ") && first.contains("lost URLs are missing"), "{first}");
    assert!(rest.contains("OVER BUDGET") && rest.contains("measured false-positive rate "), "{rest}");
    assert!(rest.contains("--sweep rescue"), "{rest}");
    let repaired = people(&["crawl", "-d", "docs", "--sweep", "rescue"], &folder).run().expect(0);
    assert!(repaired.stdout.starts_with("Complete: 301 pages"), "{}", repaired.stdout);
}

/// A run on a terminal of so many columns, on which this is typed once a text has been shown; all that was written to it.
fn on_terminal(columns: u32, arguments: &[&str], until: &str, typed: &[u8]) -> String {
    let words: Vec<_> = arguments.iter().map(|word| format!("'{word}'")).collect();
    let line = format!("stty cols {columns} rows 40; exec '{}' {}", webloom::program().display(), words.join(" "));
    let mut script = Command::new("script");
    script
        .args(["-qefc", &line, "/dev/null"])
        .env("TERM", "xterm")
        .env_remove("NO_COLOR")
        .env("WEBLOOM_POLITENESS_DELAY", "0");
    script.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = script.spawn().expect("script(1) is installed");
    let mut keys = child.stdin.take().expect("it is piped");
    let mut out = child.stdout.take().expect("it is piped");
    let mut shown = Vec::new();
    let mut sent = typed.is_empty();
    let mut piece = [0; 4096];
    while let Ok(read @ 1..) = std::io::Read::read(&mut out, &mut piece) {
        shown.extend(&piece[..read]);
        if !sent && String::from_utf8_lossy(&shown).contains(until) {
            keys.write_all(typed).expect("it still runs");
            sent = true;
        }
    }
    drop(keys);
    child.wait().expect("it ends");
    String::from_utf8(shown).expect("it is UTF-8")
}

/// Lines as they stood on the terminal, each state of one that was renewed.
fn lines(shown: &str) -> Vec<String> {
    let steering = Regex::new("\u{1b}\\[[0-9;?]*[A-Za-z]").expect("a pattern");
    // What is typed comes back from the terminal.
    let shown = shown.replace("^C", "");
    shown.split(['\r', '\n']).map(|line| steering.replace_all(line, "").trim_end().to_owned()).collect()
}

#[test]
fn progress_fits_the_terminal_and_ctrl_c_is_answered_at_once() {
    for columns in [40, 80, 160] {
        let server = serve(|asked| {
            if asked.target.len() > 1 && asked.target != "/robots.txt" {
                std::thread::sleep(Duration::from_millis(1500));
            }
            crate::star(2000)(asked)
        });
        let folder = Folder::new();
        let dir = folder.crawl().display().to_string();
        let shown = on_terminal(columns, &["crawl", &server.url("/"), "-d", &dir], "1 page  ", b"\x03");
        let (progress, rest): (Vec<_>, Vec<_>) = lines(&shown)
            .into_iter()
            .partition(|line| line.contains(" queued") || line.contains("finishing ") || line.contains(" %  "));
        assert!(!progress.is_empty(), "{shown}");
        for line in &progress {
            assert!(line.chars().count() < columns as usize, "{columns}: {line:?}");
        }
        assert!(progress.iter().any(|line| line.contains("finishing ")), "{progress:#?}");
        assert!(rest.iter().any(|line| line.starts_with("Stopped by Ctrl-C after ")), "{shown}");
        assert!(shown.contains("\u{1b}[1;33mStopped by Ctrl-C"), "it has colour: {shown:?}");
    }
}

#[test]
fn tables_fit_the_terminal_and_steer_it_nowhere() {
    let server = serve(|asked| match asked.target.as_str() {
        "/" => Reply::html(concat!(
            "<title>\u{1b}[2J\u{202e}=cmd|' /C calc'!A0\u{9b}31m and a title that goes on for longer than any terminal is wide, for ever and ever</title>",
            "<a href='/a/very/long/path/that/goes/on/and/on/and/on/and/on/and/on/and/on/and/on/and/on/and/on/page.html'>x</a>"
        )),
        _ => Reply::html("<title>Page</title>"),
    });
    let folder = Folder::new();
    let dir = folder.crawl().display().to_string();
    Webloom::crawl(&folder.crawl(), &server.url("/")).run().expect(0);
    for columns in [40, 80, 160] {
        let shown = on_terminal(columns, &["pages", &dir], "", b"");
        assert!(!shown.contains(['\u{1b}', '\u{202e}', '\u{9b}']), "{shown:?}");
        let lines: Vec<_> = lines(&shown).into_iter().filter(|line| !line.is_empty()).collect();
        assert_eq!(lines.len(), 3, "{shown}");
        assert!(lines[0].starts_with("status  outcome  title"), "{}", lines[0]);
        assert!(lines.iter().all(|line| line.chars().count() <= columns as usize), "{columns}: {lines:#?}");
        assert!(lines[2].ends_with(if columns == 40 { ".html" } else { "page.html" }), "{}", lines[2]);
    }
    let piped = Webloom::new(["pages", &dir]).run().expect(0).stdout;
    assert!(piped.lines().all(|line| line.split('\t').count() == 29), "{piped}");
}

#[test]
fn columns_orders_limits_and_counts_are_as_asked_for() {
    let (server, folder) = (serve(newspaper), Folder::new());
    let dir = folder.crawl();
    Webloom::crawl(&dir, &server.url("/")).run().expect(0);
    let pages = |arguments: &[&str]| Webloom::new(["pages"]).args([&dir]).args(arguments).run();
    let shown = |arguments: &[&str]| pages(arguments).expect(0).stdout;
    let paths = shown(&["--columns", "status,url", "--sort=-url", "--limit", "2", "--format", "csv"]);
    let rest = paths.replace(&server.url(""), "");
    assert_eq!(rest, "status,url\n,/private\n301,/old\n");
    assert_eq!(shown(&["--count", "--outcome", "stored"]), "5\n");
    assert_eq!(shown(&["--count", "--change", "new"]), "5\n");
    let sorted: Vec<u64> = shown(&["--sort", "bytes", "--columns", "bytes", "--outcome", "stored"])
        .lines()
        .skip(1)
        .map(|line| line.parse().unwrap())
        .collect();
    assert!(sorted.len() == 5 && sorted.is_sorted(), "{sorted:?}");
    let object = shown(&["--columns", "title,url", "--limit", "1", "--format", "jsonl"]);
    assert!(object.starts_with("{\"title\":") && object.matches(':').count() == 4, "{object}");
    let none = pages(&["--change", "changed"]);
    assert!(none.code == Some(0) && none.stderr.contains("no URL matches"), "{}", none.stderr);
    for (arguments, tip) in [
        (["--columns", "titel"], "a similar value exists: 'title'"),
        (["--outcome", "brokn"], "a similar value exists: 'broken'"),
        (["--sort", "statu"], "'status'"),
        (["--sequence", "7"], "only sequence 0"),
    ] {
        let run = pages(&arguments).expect(2);
        assert!(run.stderr.contains(tip), "{}", run.stderr);
    }
    let json = Webloom::new(["status", "--json"]).args([&dir]).run().expect(0).stdout;
    assert!(json.starts_with("{\"end\":\"drained\",\"sequence\":0,"), "{json}");
    assert!(shown(&["--format", "jsonl"]).lines().all(|line| line.starts_with("{\"url\":")));
}

#[test]
fn a_start_that_failed_is_tried_again_with_a_login() {
    let server = serve(|asked| {
        let known = asked.headers.iter().any(|line| line.eq_ignore_ascii_case("authorization: Basic Ym9iOnA6dw=="));
        match asked.target.as_str() {
            "/robots.txt" => Reply::status(404),
            _ if !known => Reply::status(401),
            "/" => Reply::links(["/a"]),
            _ => Reply::links(["/"]),
        }
    });
    let folder = Folder::new();
    let dir = folder.crawl();
    let failed = Webloom::crawl(&dir, &server.url("/")).run().expect(1);
    assert!(failed.stderr.contains("--auth USER:PASS"), "{}", failed.stderr);
    let status = Webloom::new(["status"]).args([&dir]).run().expect(0);
    assert!(status.stderr.contains("answered 401") && status.stdout.contains(" --auth USER:PASS\n"), "{status:?}");
    let refused = Webloom::go_on(&dir).args(["--auth", "bob:wrong"]).run().expect(1);
    assert!(refused.stderr.contains("user name and password that you gave were refused"), "{}", refused.stderr);
    let summary = Webloom::go_on(&dir).env("WEBLOOM_AUTH", "bob:p:w").run().expect(0).json();
    assert_eq!((&summary["pages"]["stored"], &summary["end"]), (&2.into(), &"drained".into()), "{summary}");
    webloom::assert_clean(&dir);
    // The password is kept nowhere.
    let again = Webloom::go_on(&dir).args(["--again"]).run();
    assert!(again.json()["pages"]["broken"] == 2, "{}", again.stdout);
    let wrong = Webloom::go_on(&dir).args(["--auth", "bob"]).run().expect(2);
    assert!(wrong.stderr.contains("--auth") && !wrong.stderr.contains("bob"), "{}", wrong.stderr);
}
