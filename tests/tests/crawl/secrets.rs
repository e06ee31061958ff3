//! Headers and passwords: they reach the origin they were given for, and nobody else; and they are nowhere to be seen.

use std::{fs, os::unix::fs::PermissionsExt};

use webloom_tests::{
    server::{Asked, Reply, Server},
    webloom::{Webloom, assert_clean, pages},
};

use crate::{Folder, assert_asked_once, assert_counts, serve, star, starts::without_scheme};

/// `bob:s3cret`.
const LOGIN: &str = "authorization: basic Ym9iOnMzY3JldA==";

fn has(headers: &[String], line: &str) -> bool {
    headers.iter().any(|sent| sent.eq_ignore_ascii_case(line))
}

/// A site that shows itself, robots.txt included, to Bob alone.
fn of_bob() -> Server {
    serve(|asked: &Asked| match asked.target.as_str() {
        _ if !has(&asked.headers, LOGIN) => Reply::status(401),
        "/robots.txt" => Reply::text("User-agent: *\nDisallow: /private\n"),
        "/" => Reply::links(["/1", "/2", "/private"]),
        _ => Reply::links(["/"]),
    })
}

fn as_bob(server: &Server) -> String {
    server.url("/").replace("http://", "http://bob:s3cret@")
}

#[test]
fn a_password_in_a_start_goes_with_every_request_and_is_never_shown() {
    let server = of_bob();
    let folder = Folder::new();
    let first = Webloom::crawl(&folder.crawl(), &as_bob(&server)).args(["--max-pages", "1", "-vv"]).run().expect(0);
    let second = Webloom::go_on(&folder.crawl()).args(["--max-pages", "none", "-vv"]).run().expect(0);
    assert_counts(&second.json());
    assert_eq!(second.json()["pages"]["stored"], 3);
    assert_clean(&folder.crawl());
    assert!(server.log().iter().all(|hit| has(&hit.headers, LOGIN)), "{:?}", server.log());
    assert_eq!(server.count("/private"), 0, "robots.txt was read");
    let mut shown = vec![first.stdout, first.stderr, second.stdout, second.stderr];
    shown.push(fs::read_to_string(folder.crawl().join("crawl.toml")).unwrap());
    for format in ["table", "jsonl", "csv"] {
        shown.push(Webloom::new(["pages", "--format", format]).args([folder.crawl()]).run().expect(0).stdout);
    }
    let other = Webloom::crawl(&folder.crawl(), "http://eve:0ther@127.0.0.1:1/").run().expect(2);
    shown.extend([other.stderr, other.stdout]);
    for text in shown {
        for secret in ["s3cret", "0ther", "bob", &LOGIN["authorization: basic ".len()..]] {
            assert!(!text.contains(secret), "{secret} in {text}");
        }
    }
}

#[test]
fn the_start_may_be_repeated_with_another_password() {
    let server = of_bob();
    let folder = Folder::new();
    let wrong = as_bob(&server).replace("s3cret", "wr0ng");
    Webloom::crawl(&folder.crawl(), &wrong).run().expect(1);
    assert!(server.log().iter().all(|hit| !has(&hit.headers, LOGIN)));
    let again = Webloom::crawl(&folder.crawl(), &as_bob(&server)).args(["--again"]).run().expect(0).json();
    assert_eq!((&again["sequence"], &again["pages"]["stored"]), (&1.into(), &3.into()));
    let third = Webloom::go_on(&folder.crawl()).args(["--again"]).run().expect(0).json();
    assert_eq!(third["pages"]["stored"], 3, "it is remembered");
}

#[test]
fn two_passwords_for_one_origin_are_a_slip() {
    let folder = Folder::new();
    let starts = ["http://bob:s3cret@127.0.0.1:1/", "http://bob:0ther@127.0.0.1:1/a"];
    let run = Webloom::crawl(&folder.crawl(), starts[0]).args([starts[1]]).run().expect(2);
    assert!(run.stderr.contains("two passwords") && !run.stderr.contains("0ther"), "{}", run.stderr);
    assert!(!folder.crawl().exists());
}

#[test]
fn names_and_passwords_in_links_are_dropped() {
    let own = std::sync::Arc::new(std::sync::OnceLock::new());
    let known = std::sync::Arc::clone(&own);
    let server = serve(move |asked: &Asked| {
        let authority: &String = known.get_or_init(|| {
            let host = asked.headers.iter().find_map(|line| line.strip_prefix("host: ")).expect("a host");
            host.to_owned()
        });
        match asked.target.as_str() {
            "/" => Reply::links((0..50).map(|n| format!("http://{n}:x@{authority}/p"))),
            "/p" => Reply::redirect(302, format!("http://eve:0ther@{authority}/q")),
            _ => Reply::html("end"),
        }
    });
    let folder = Folder::new();
    let summary = Webloom::crawl(&folder.crawl(), &server.url("/")).run().expect(0).json();
    assert_counts(&summary);
    assert_clean(&folder.crawl());
    assert_asked_once(&server, &["/", "/p", "/q"]);
    let named = |hit: &webloom_tests::server::Hit| hit.headers.iter().any(|line| line.starts_with("authorization"));
    assert!(!server.log().iter().any(named));
    let page = &pages(&folder.crawl())[&server.url("/p")];
    assert_eq!(page["redirect"], server.url("/q"));
}

#[test]
fn a_header_does_not_follow_a_guessed_start_to_http() {
    let server = serve(star(1));
    let folder = Folder::new();
    let run = Webloom::crawl(&folder.crawl(), &without_scheme(&server)).args(["--header", "X-Key: s3cret"]);
    let run = run.run().expect(0);
    assert_eq!(run.json()["pages"]["stored"], 2);
    assert!(run.stderr.contains("are not sent to this URL"), "{}", run.stderr);
    // Nor does it when the crawl goes on.
    Webloom::go_on(&folder.crawl()).args(["--again"]).run().expect(0);
    let keyed = |hit: &webloom_tests::server::Hit| has(&hit.headers, "x-key: s3cret");
    assert!(server.log().len() == 5 && !server.log().iter().any(keyed), "{:?}", server.log());
}

#[test]
fn a_header_does_not_follow_a_redirect_to_another_port() {
    let other = serve(star(1));
    let to = other.url("/");
    let server = serve(move |asked: &Asked| match asked.target.as_str() {
        "/" => Reply::redirect(302, &to),
        _ => Reply::status(404),
    });
    let folder = Folder::new();
    let run = Webloom::crawl(&folder.crawl(), &server.url("/")).args(["--header", "X-Key: s3cret"]).run().expect(0);
    assert_eq!(run.json()["pages"]["stored"], 2);
    let keyed = |server: &Server| server.log().iter().filter(|hit| has(&hit.headers, "x-key: s3cret")).count();
    assert_eq!((keyed(&server), keyed(&other)), (2, 0));
    assert!(run.stderr.contains("are not sent to this URL"), "{}", run.stderr);
}

#[test]
fn an_origin_that_is_given_later_gets_them_from_then_on() {
    let (server, folder) = (serve(star(1)), Folder::new());
    let keyed = || server.log().iter().filter(|hit| has(&hit.headers, "x-key: s3cret")).count();
    Webloom::crawl(&folder.crawl(), &without_scheme(&server)).args(["--header", "X-Key: s3cret"]).run().expect(0);
    assert_eq!(keyed(), 0);
    Webloom::crawl(&folder.crawl(), &server.url("/")).args(["--again"]).run().expect(0);
    assert_eq!(keyed(), 2, "two pages; robots.txt is young enough");
    let third = Webloom::go_on(&folder.crawl()).args(["--again"]).run().expect(0);
    assert_eq!((keyed(), third.stderr.contains("are not sent to this URL")), (4, false), "{}", third.stderr);
    // The same where the crawl goes on.
    let (server, folder) = (serve(star(1)), Folder::new());
    let run = Webloom::crawl(&folder.crawl(), &without_scheme(&server)).args(["--header", "X-Key: s3cret"]);
    run.args(["--max-pages", "1"]).run().expect(0);
    Webloom::crawl(&folder.crawl(), &server.url("/")).run().expect(0);
    Webloom::go_on(&folder.crawl()).args(["--max-pages", "none"]).run().expect(0);
    let log = server.log();
    assert!(log.iter().rev().take(1).all(|hit| has(&hit.headers, "x-key: s3cret")), "{log:?}");
}

#[test]
fn the_files_of_a_crawl_are_their_owners_alone() {
    let server = serve(star(2));
    let folder = Folder::new();
    let modes = || {
        let files = fs::read_dir(folder.crawl()).unwrap().map(|entry| entry.unwrap());
        let mode = |file: fs::DirEntry| (file.file_name(), file.metadata().unwrap().permissions().mode() & 0o777);
        files.map(mode).collect::<Vec<_>>()
    };
    Webloom::crawl(&folder.crawl(), &server.url("/")).args(["--max-pages", "1"]).run().expect(0);
    assert!(modes().len() >= 3 && modes().iter().all(|(_, mode)| *mode == 0o600), "{:?}", modes());
    // What an earlier version left open is closed.
    for (name, _) in modes() {
        fs::set_permissions(folder.crawl().join(name), fs::Permissions::from_mode(0o644)).unwrap();
    }
    Webloom::go_on(&folder.crawl()).args(["--max-pages", "none"]).run().expect(0);
    assert!(modes().iter().all(|(_, mode)| *mode == 0o600), "{:?}", modes());
}
