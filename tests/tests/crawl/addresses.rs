//! Addresses that a page cannot make the crawler ask.

use rusqlite::Connection;
use serde_json::Value;
use webloom_tests::{
    server::{Reply, Server},
    webloom::{Webloom, pages},
};

use crate::{Folder, assert_counts, crawl, serve, star};

#[test]
fn private_ones_behind_names_are_refused() {
    let addresses = ["10.0.0.1", "169.254.169.254", "127.0.0.1", "192.168.1.1", "::1", "::ffff:10.0.0.1"];
    let server = serve(move |asked| match asked.target.as_str() {
        "/" => Reply::links((0..addresses.len()).map(|number| format!("http://inside{number}.test/"))),
        _ => Reply::status(404),
    });
    let folder = Folder::new();
    let run = Webloom::crawl(&folder.crawl(), &server.url("/")).env("WEBLOOM_ROBOTS_RETRIES", "0");
    let mut run = run.args(["--scope", "any"]);
    for (number, address) in addresses.iter().enumerate() {
        run = run.args(["--resolve", &format!("inside{number}.test:80:{address}")]);
    }
    let summary = run.run().expect(0).json();
    assert_counts(&summary);
    let pages = pages(&folder.crawl());
    for (number, address) in addresses.iter().enumerate() {
        let page = &pages[&format!("http://inside{number}.test/")];
        assert_eq!(page["outcome"], "abandoned", "{address}");
    }
    assert_eq!(summary["requests"]["errors"]["address"], addresses.len());
    assert_eq!(summary["requests"]["sent"], server.log().len(), "nothing was sent anywhere else");
}

#[test]
fn a_redirected_start_cannot_lead_to_them() {
    for target in ["http://169.254.169.254/latest/", "http://10.0.0.1/", "http://127.0.0.2:1/", "http://[::1]:1/"] {
        let server = serve(move |asked| match asked.target.as_str() {
            "/" => Reply::redirect(302, target),
            _ => Reply::status(404),
        });
        let folder = Folder::new();
        let run = Webloom::crawl(&folder.crawl(), &server.url("/")).env("WEBLOOM_ROBOTS_RETRIES", "0").run().expect(1);
        let summary = run.json();
        assert_eq!(summary["requests"]["errors"]["address"], 1, "{target}");
        assert_eq!(summary["requests"]["sent"], 2, "{target}");
        assert_eq!(pages(&folder.crawl())[target]["outcome"], "abandoned");
    }
}

#[test]
fn a_neighbour_of_a_start_is_no_start() {
    let neighbour = Server::start("127.0.0.2", star(1)).unwrap();
    let to = neighbour.url("/");
    let server = serve(move |asked| match asked.target.as_str() {
        "/" => Reply::redirect(302, &to),
        _ => Reply::status(404),
    });
    Webloom::crawl(&Folder::new().crawl(), &server.url("/")).env("WEBLOOM_ROBOTS_RETRIES", "0").run().expect(1);
    assert!(neighbour.log().is_empty());
}

#[test]
fn names_may_be_allowed_and_given_an_address() {
    let server = serve(star(2));
    let port = server.port();
    let folder = Folder::new();
    let run = Webloom::crawl(&folder.crawl(), &format!("http://docs.test:{port}/"));
    let run = run.args(["--resolve", &format!("docs.test:{port}:127.0.0.1"), "--allow-private", "docs.test"]);
    assert_eq!(run.run().expect(0).json()["pages"]["stored"], 3);
    assert!(server.log()[0].headers.iter().any(|line| line.eq_ignore_ascii_case(&format!("host: docs.test:{port}"))));
}

#[test]
fn headers_and_their_secrets() {
    let server = serve(star(1));
    let folder = Folder::new();
    crawl(&server, &folder.crawl(), &["--header", "X-Team: docs", "--header", "Authorization: Bearer s3cr3t"]);
    let sent =
        |line: &str| server.log().iter().all(|hit| hit.headers.iter().any(|sent| sent.eq_ignore_ascii_case(line)));
    assert!(sent("x-team: docs") && sent("authorization: bearer s3cr3t"));
    let copy = std::fs::read_to_string(folder.crawl().join("crawl.toml")).unwrap();
    assert!(!copy.contains("s3cr3t"), "{copy}");
}

#[test]
fn links_to_them_are_out_of_scope() {
    let neighbour = Server::start("127.0.0.2", star(1)).unwrap();
    let to = neighbour.url("/");
    let server = serve(move |asked| match asked.target.as_str() {
        "/" => Reply::links([&to, "http://169.254.169.254/", "http://169.254.169.254/latest/"]),
        _ => Reply::status(404),
    });
    let folder = Folder::new();
    let summary = crawl(&server, &folder.crawl(), &[]);
    assert_eq!((&summary["urls"]["refused"]["scope"], &summary["counts"]["admitted"]), (&3.into(), &1.into()));
    assert_eq!(summary["requests"]["errors"].as_object().map(serde_json::Map::len), Some(0));
    assert!(neighbour.log().is_empty());
}

#[test]
fn a_start_by_name_may_be_private_and_opens_neither_its_address_nor_another_name_of_it() {
    let neighbour = Server::start("127.0.0.2", star(1)).unwrap();
    let (by_address, port) = (neighbour.url("/"), neighbour.port());
    let address = by_address.clone();
    let by_name = format!("http://inside.test:{port}/");
    let other = format!("http://other.test:{port}/");
    let links = [by_address, format!("{by_name}linked"), other.clone()];
    let server = serve(move |asked| match asked.target.as_str() {
        "/" => Reply::links(&links),
        _ => Reply::status(404),
    });
    let folder = Folder::new();
    let crawl = |arguments: &[&str]| {
        let run = Webloom::crawl(&folder.crawl(), &server.url("/")).env("WEBLOOM_ROBOTS_RETRIES", "0");
        let resolve = ["inside", "other"].map(|name| format!("{name}.test:{port}:127.0.0.2"));
        let names = ["--scope", "any", "--resolve", &resolve[0], "--resolve", &resolve[1]];
        let summary = run.args([&*by_name]).args(names).args(arguments).run().expect(0).json();
        assert_counts(&summary);
        summary
    };
    let stored = |summary: &Value| summary["pages"]["stored"].as_u64();
    let found = |url: &str| pages(&folder.crawl())[url]["reason"].clone();
    assert_eq!(stored(&crawl(&[])), Some(1 + 3));
    assert_eq!([found(&address), found(&other)], ["address"; 2].map(Value::from));
    let host = format!("host: inside.test:{port}");
    let asked = neighbour.log();
    assert!(asked.iter().all(|hit| hit.headers.iter().any(|line| line.eq_ignore_ascii_case(&host))));
    assert_eq!(asked.len(), 4, "with its robots.txt");
    assert_eq!(stored(&crawl(&["--again"])), Some(4), "it is so in the next run");
    // Its address was a public one when the crawl began.
    let public = "UPDATE host SET address = '9.9.9.9' WHERE origin LIKE 'http://inside.test%'";
    Connection::open(folder.crawl().join("webloom.sqlite")).unwrap().execute(public, []).unwrap();
    let asked = neighbour.log().len();
    assert_eq!(stored(&crawl(&["--again"])), Some(1));
    assert_eq!(neighbour.log().len(), asked);
}
