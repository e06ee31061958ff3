//! Addresses that a page cannot make the crawler ask.

use webloom_tests::{
    server::{Reply, Server},
    webloom::{Webloom, pages},
};

use crate::{Folder, assert_counts, crawl, serve, star};

#[test]
fn private_ones_behind_names_are_refused() {
    let addresses = ["10.0.0.1", "169.254.169.254", "127.0.0.1", "192.168.1.1", "::1", "::ffff:10.0.0.1"];
    let server = serve(star(1));
    let folder = Folder::new();
    let mut run = Webloom::crawl(&folder.crawl(), &server.url("/")).env("WEBLOOM_ROBOTS_RETRIES", "0");
    for (number, address) in addresses.iter().enumerate() {
        let resolve = format!("inside{number}.test:80:{address}");
        run = run.args([&*format!("http://inside{number}.test/"), "--resolve", &resolve]);
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
fn a_start_by_name_opens_neither_its_address_nor_the_way_there() {
    let neighbour = Server::start("127.0.0.2", star(1)).unwrap();
    let (by_address, port) = (neighbour.url("/"), neighbour.port());
    let by_name = format!("http://inside.test:{port}/");
    let links = [by_address, format!("{by_name}linked")];
    let server = serve(move |asked| match asked.target.as_str() {
        "/" => Reply::links(&links),
        _ => Reply::status(404),
    });
    let folder = Folder::new();
    let run = Webloom::crawl(&folder.crawl(), &server.url("/")).env("WEBLOOM_ROBOTS_RETRIES", "0");
    let resolve = format!("inside.test:{port}:127.0.0.2");
    let summary = run.args([&*by_name, "--resolve", &resolve]).run().expect(0).json();
    assert_counts(&summary);
    assert_eq!((&summary["urls"]["refused"]["scope"], &summary["pages"]["stored"]), (&1.into(), &1.into()));
    let pages = pages(&folder.crawl());
    for path in ["", "linked"] {
        assert_eq!(pages[&format!("{by_name}{path}")]["reason"], "address");
    }
    assert!(neighbour.log().is_empty());
}
