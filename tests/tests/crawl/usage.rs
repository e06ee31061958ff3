//! Bad input: one clear line that says what to do, the right exit code, and nothing lost.

use std::{fs, path::Path, process::Command};

use rusqlite::Connection;
use webloom_tests::{
    skip::skip,
    webloom::{Run, Webloom, assert_clean, with_outcome},
};

use crate::{Folder, chain, crawl, serve, star};

/// Runs `crawl -q` with these arguments; it must fail with one line, which holds all of these words.
fn fails(arguments: &[&str], code: i32, words: &[&str]) {
    assert_one_line(&Webloom::new(["crawl", "-q"]).args(arguments).run().expect(code), words);
}

fn assert_one_line(run: &Run, words: &[&str]) {
    assert_eq!(run.stderr.lines().count(), 1, "{}", run.stderr);
    assert!(words.iter().all(|word| run.stderr.contains(word)), "{words:?}: {}", run.stderr);
    assert_eq!(run.stdout, "");
}

#[test]
fn starts_that_are_none() {
    let folder = Folder::new();
    let dir = folder.crawl();
    let dir = dir.to_str().unwrap();
    for start in ["ftp://h/", "mailto:me@example.org", "file:///etc/passwd", "http://", "javascript:alert(1)"] {
        fails(&[start, "-d", dir], 2, &[start, "http"]);
    }
    fails(&["@/nowhere/list", "-d", dir], 2, &["/nowhere/list"]);
    let file = folder.0.path().join("list.txt");
    fs::write(&file, "# nothing yet\n\n").unwrap();
    let name = file.to_str().unwrap();
    fails(&[&format!("@{name}"), "-d", dir], 2, &[name, "no URL"]);
    fails(&[name, "-d", dir], 2, &["is a file", &format!("@{name}")]);
    fails(&["-d", dir], 2, &["start URL"]);
    fails(&[], 2, &["start URL", "--dir"]);
    assert!(!Path::new(dir).join("webloom.sqlite").exists());
}

#[test]
fn a_start_that_cannot_be_reached() {
    let server = serve(star(1));
    let url = server.url("/");
    drop(server);
    let folder = Folder::new();
    fails(&[&url, "-d", folder.crawl().to_str().unwrap()], 4, &[url.trim_end_matches('/'), "refused"]);
    let status = Webloom::new(["status", "--json"]).args([folder.crawl()]).run().expect(0).json();
    assert_eq!((&status["end"], &status["requests"]["sent"]), (&"unreachable".into(), &0.into()));
    let broken = serve(|_| webloom_tests::server::Reply::status(404));
    let folder = Folder::new();
    fails(&[&broken.url("/"), "-d", folder.crawl().to_str().unwrap()], 1, &["404"]);
}

#[test]
fn settings_that_are_wrong() {
    let folder = Folder::new();
    let (dir, file) = (folder.crawl(), folder.0.path().join("own.toml"));
    let (dir, config) = (dir.to_str().unwrap(), file.to_str().unwrap());
    let start = ["http://127.0.0.1:1/", "-d", dir];
    for (text, words) in [
        ("[budget]\nmax_page = 3\n", ["max_page", "own.toml"]),
        ("[politeness]\nper_host = 0\n", ["per_host", "own.toml"]),
        ("[politeness\n", ["own.toml", "own.toml"]),
    ] {
        fs::write(&file, text).unwrap();
        let run = Webloom::new(["crawl", "-q", "--config", config]).args(start).run().expect(2);
        assert!(run.stderr.lines().count() <= 8, "{}", run.stderr);
        assert!(words.iter().all(|word| run.stderr.contains(word)), "{}", run.stderr);
    }
    for flag in
        [["--per-host", "0"], ["--delay", "soon"], ["--scope", "galaxy"], ["--include", "("], ["--profile", "none"]]
    {
        let run = Webloom::new(["crawl", "-q"]).args(start).args(flag).run().expect(2);
        assert!(run.stderr.contains(flag[0]) || run.stderr.contains(flag[1]), "{}", run.stderr);
        assert!(run.stderr.lines().count() <= 8, "{}", run.stderr);
    }
    let unknown = Webloom::new(["crawl", "--no-such-flag"]).run().expect(2);
    assert!(unknown.stderr.lines().count() <= 8, "{}", unknown.stderr);
    let variable = Webloom::crawl(Path::new(dir), start[0]).env("WEBLOOM_BUDGET_MAX_PAGE", "3").run().expect(2);
    assert!(variable.stderr.contains("WEBLOOM_BUDGET_MAX_PAGE"), "{}", variable.stderr);
    let short = Webloom::crawl(Path::new(dir), start[0]).env("WEBLOOM_MAX_PAGES", "3").run().expect(2);
    assert!(short.stderr.contains("WEBLOOM_BUDGET_MAX_PAGES"), "{}", short.stderr);
    assert!(!Path::new(dir).exists(), "nothing was made");
}

#[test]
fn many_faults_are_few_lines_where_it_is_quiet() {
    let folder = Folder::new();
    let file = folder.0.path().join("own.toml");
    let keys: Vec<_> = (1..=11).map(|number| format!("bad{number} = 1")).collect();
    fs::write(&file, format!("[budget]\n{}", keys.join("\n"))).unwrap();
    let list = folder.0.path().join("list");
    fs::write(&list, "ftp://h/\n".repeat(11)).unwrap();
    let (config, list) = (file.to_str().unwrap(), format!("@{}", list.display()));
    for (faulty, word) in [(["--config", config], "bad1:"), ([&list, "http://127.0.0.1:1/"], "list:1:")] {
        let run = |quiet: &[&str]| Webloom::new(["crawl"]).args(quiet).args(faulty).args(["http://127.0.0.1:1/"]).run();
        let (all, few) = (run(&[]).expect(2).stderr, run(&["-q"]).expect(2).stderr);
        assert_eq!((all.lines().count(), few.lines().count()), (11, 8), "{few}");
        assert!(few.contains(word) && few.ends_with("\nand 4 more\n"), "{few}");
        assert!(all.lines().take(7).eq(few.lines().take(7)));
    }
}

#[test]
fn directories_that_hold_no_crawl() {
    let folder = Folder::new();
    let [file, half, empty] = ["file", "half", "empty"].map(|name| folder.0.path().join(name));
    fs::write(&file, "a file").unwrap();
    fs::create_dir(&empty).unwrap();
    let server = serve(star(1));
    let killed = Webloom::crawl(&half, &server.url("/")).run().expect(0);
    assert_eq!(killed.json()["end"], "drained");
    let database = Connection::open(half.join("webloom.sqlite")).unwrap();
    let rows = "PRAGMA foreign_keys = OFF; DELETE FROM url; DELETE FROM visit; DELETE FROM sequence; DELETE FROM crawl";
    database.execute_batch(rows).unwrap();
    for command in ["status", "pages"] {
        assert_one_line(&Webloom::new([command]).args([&half]).run().expect(2), &["half", "no crawl has begun"]);
    }
    for (dir, name) in [(&file, "file"), (&empty, "empty")] {
        for command in ["status", "pages", "check"] {
            assert_one_line(&Webloom::new([command]).args([dir]).run().expect(2), &[name, "no crawl in"]);
        }
    }
}

#[test]
fn a_directory_that_holds_no_crawl_is_answered_with_those_that_do() {
    let (server, folder) = (serve(star(1)), Folder::new());
    let here = |arguments: &[&str]| {
        Webloom::new(arguments).within(&format!("cd '{}'", folder.0.path().display())).run().expect(2)
    };
    for command in ["status", "pages", "changes", "check"] {
        assert_one_line(
            &here(&[command, "docs"]),
            &["no crawl in docs", "check the name", "`webloom crawl START -d docs`"],
        );
    }
    for name in ["a", "b", "c", "d", "e", "docs"] {
        crawl(&server, &folder.0.path().join("crawls").join(name), &[]);
    }
    fs::create_dir(folder.0.path().join("crawls/none")).unwrap();
    let there = "there are crawls in crawls/docs, crawls/a, crawls/b, crawls/c, crawls/d and 1 more";
    assert_one_line(&here(&["status", "docs"]), &["no crawl in docs", there]);
    assert_one_line(&here(&["crawl", "-q", "-d", "docs"]), &["docs holds no crawl", "give a start URL", there]);
}

#[test]
fn a_start_that_is_a_path() {
    let (server, folder) = (serve(star(1)), Folder::new());
    crawl(&server, &folder.0.path().join("docs"), &[]);
    let here = |start: &str| {
        let run = Webloom::new(["crawl", "-q", start]).within(&format!("cd '{}'", folder.0.path().display()));
        run.run().expect(2)
    };
    assert_one_line(&here("docs"), &["is a crawl directory", "-d docs", "http://docs"]);
    assert_one_line(&here("./site"), &["it is a path", "http://"]);
    assert!(!folder.0.path().join("crawls").exists());
}

#[test]
fn a_depth_is_not_taken_for_a_directory() {
    let (server, folder) = (serve(star(1)), Folder::new());
    let here =
        |arguments: &[&str]| Webloom::new(arguments).within(&format!("cd '{}'", folder.0.path().display())).run();
    for command in ["crawl", "watch"] {
        let refused = here(&[command, "-q", &server.url("/"), "-d", "3"]).expect(2);
        assert_one_line(&refused, &["--max-depth 3", "-d ./3"]);
    }
    assert!(!folder.0.path().join("3").exists() && server.log().is_empty());
    here(&["crawl", "-q", &server.url("/"), "-d", "./3"]).expect(0);
    here(&["crawl", "-q", "-d", "3", "--again"]).expect(0);
}

#[test]
fn no_host_names_a_folder_elsewhere() {
    for start in ["http://./", "http://../", "http://.../", "."] {
        fails(&[start], 2, &["host", "--dir"]);
    }
}

#[test]
fn directories_that_cannot_be_written_or_are_not_ours() {
    let folder = Folder::new();
    let at = |name: &str| folder.0.path().join(name).to_str().unwrap().to_owned();
    let start = "http://127.0.0.1:1/";
    fs::write(at("file"), "in the way").unwrap();
    fails(&[start, "-d", &at("file/below")], 2, &["file/below", "--dir"]);
    fails(&[start, "-d", &at("file")], 2, &["file", "--dir"]);
    fs::create_dir(at("foreign")).unwrap();
    fs::write(at("foreign/letter.txt"), "dear").unwrap();
    fails(&[start, "-d", &at("foreign")], 2, &["foreign", "--dir"]);
    fs::create_dir(at("text")).unwrap();
    fs::write(at("text/webloom.sqlite"), "no database at all, but long enough to be looked at. ".repeat(30)).unwrap();
    fails(&[start, "-d", &at("text")], 2, &["text", "--dir"]);
    assert!(fs::read_to_string(at("text/webloom.sqlite")).unwrap().starts_with("no database"));
    fs::create_dir(at("sqlite")).unwrap();
    Connection::open(at("sqlite/webloom.sqlite")).unwrap().execute_batch("CREATE TABLE mine (a)").unwrap();
    fails(&[start, "-d", &at("sqlite")], 2, &["sqlite"]);
    let own = Connection::open(at("sqlite/webloom.sqlite")).unwrap();
    let tables: u32 = own.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0)).unwrap();
    assert_eq!(tables, 1, "somebody else's database is left alone");
    for command in ["status", "pages", "check"] {
        assert_one_line(&Webloom::new([command, &at("nothing")]).run().expect(2), &["nothing"]);
        assert!(!Path::new(&at("nothing")).exists());
    }
}

#[test]
fn a_database_of_a_newer_version() {
    let server = serve(star(1));
    let folder = Folder::new();
    crawl(&server, &folder.crawl(), &[]);
    let database = folder.crawl().join("webloom.sqlite");
    Connection::open(&database).unwrap().execute_batch("PRAGMA user_version = 900").unwrap();
    let before = fs::read(&database).unwrap();
    fails(&["-d", folder.crawl().to_str().unwrap()], 2, &["newer", "900"]);
    for command in ["status", "pages", "check"] {
        assert_one_line(&Webloom::new([command]).args([folder.crawl()]).run().expect(2), &["newer"]);
    }
    assert_eq!(fs::read(&database).unwrap(), before);
}

#[test]
fn a_database_of_before_the_first_release() {
    let server = serve(star(1));
    let folder = Folder::new();
    crawl(&server, &folder.crawl(), &[]);
    let database = folder.crawl().join("webloom.sqlite");
    let older = "ALTER TABLE visit RENAME COLUMN needs_js TO scripts; PRAGMA user_version = 10";
    Connection::open(&database).unwrap().execute_batch(older).unwrap();
    let before = fs::read(&database).unwrap();
    fails(&["-d", folder.crawl().to_str().unwrap()], 2, &["before the first release"]);
    for command in ["status", "pages", "check"] {
        assert_one_line(&Webloom::new([command]).args([folder.crawl()]).run().expect(2), &["before the first release"]);
    }
    assert_eq!(fs::read(&database).unwrap(), before);
}

#[test]
fn keys_made_by_rules_of_a_newer_version() {
    let server = serve(star(1));
    let folder = Folder::new();
    crawl(&server, &folder.crawl(), &[]);
    let database = Connection::open(folder.crawl().join("webloom.sqlite")).unwrap();
    database.execute_batch("UPDATE crawl SET key_rules = 'merged'").unwrap();
    let dir = folder.crawl();
    for more in [&[][..], &["--again"]] {
        let args = [&["-d", dir.to_str().unwrap()], more].concat();
        fails(&args, 2, &["merged", "use the version that began the crawl"]);
    }
    let seen: u32 = database.query_row("SELECT count(*) FROM sequence", [], |row| row.get(0)).unwrap();
    assert_eq!(seen, 1);
}

#[test]
fn a_full_disk_loses_nothing() {
    let server = serve(chain(400));
    let folder = Folder::new();
    let program = folder.0.path().join("session");
    // A private mount namespace, whose small disk goes away with the shell; the crawl goes on with more room.
    let script = "mount -t tmpfs -o size=400k none \"$1\" || exit 99\n\
                  \"$0\" crawl -q \"$2\" -d \"$1/crawl\" 2> \"$3.err\"; echo $? > \"$3.code\"\n\
                  mount -o remount,size=64m \"$1\"\n\
                  \"$0\" crawl -q -d \"$1/crawl\" || exit 98\n\
                  cp -r \"$1/crawl\" \"$3.after\"\n";
    let disk = folder.0.path().join("disk");
    fs::create_dir(&disk).unwrap();
    let user = if rustix::process::geteuid().is_root() { vec!["-m"] } else { vec!["-r", "-m"] };
    let mut shell = Command::new("unshare");
    shell.args(user).args(["sh", "-c", script]).arg(webloom_tests::webloom::program());
    let ended = shell.arg(&disk).arg(server.url("/")).arg(&program).env("WEBLOOM_POLITENESS_DELAY", "0");
    let ended = ended.env("WEBLOOM_MACHINE_MIN_FREE_DISK", "none").status();
    match ended.ok().and_then(|status| status.code()) {
        None | Some(1 | 99) => return skip("no small disk can be mounted here"),
        code => assert_eq!(code, Some(0)),
    }
    let read = |end: &str| fs::read_to_string(format!("{}.{end}", program.display())).unwrap();
    assert_eq!(read("code"), "1\n", "{}", read("err"));
    assert_eq!(read("err").lines().count(), 1, "{}", read("err"));
    assert!(read("err").contains("full") && read("err").contains("make room"), "{}", read("err"));
    let after = folder.0.path().join("session.after");
    assert_clean(&after);
    assert_eq!(with_outcome(&after, "stored").len(), 401);
}

/// Where stderr cannot be written to, the work is done all the same.
#[test]
fn a_stderr_that_is_full() {
    let (server, folder) = (serve(star(3)), Folder::new());
    let refused = Webloom::new(["crawl", "nosuch://x"]).within("exec 2>/dev/full").run();
    assert_eq!(refused.code, Some(2));
    let run =
        Webloom::crawl(&folder.crawl(), &server.url("/")).args(["--delay", "400ms"]).within("exec 2>/dev/full").run();
    assert_eq!(run.expect(0).json()["pages"]["stored"], 4);
    let none = Webloom::new(["pages", "--status", "999"]).args([folder.crawl()]).within("exec 2>/dev/full").run();
    assert_eq!(none.code, Some(0));
}

#[test]
fn settings_that_no_cache_can_keep_leave_no_directory() {
    let folder = Folder::new();
    let run = Webloom::crawl(&folder.crawl(), "http://127.0.0.1:1/").args(["--expected-urls", "1000000000000"]);
    run.args(["--max-cache-memory", "unlimited", "--max-lost-urls", "0.5"]).run().expect(2);
    assert!(!folder.crawl().exists());
}
