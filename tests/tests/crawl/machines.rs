//! Hosts by name: who looks names up, what it means that one cannot be, and that the names of one machine share its pause.

use std::{net::Ipv4Addr, time::Duration};

use webloom_tests::{
    names::{NameReply, NameServer},
    server::{Hit, Reply, Server},
    webloom::{Webloom, assert_clean, pages},
};

use crate::{Folder, assert_counts, serve};

const DELAY: Duration = Duration::from_millis(100);

/// A name server that knows each name below `.test`, but for a few that it fails for.
fn name_server() -> NameServer {
    NameServer::start(|name| match name {
        "gone.test" => NameReply::NoName,
        "empty.test" => NameReply::Nothing,
        "failing.test" => NameReply::Code(2),
        "refused.test" => NameReply::Code(5),
        "silent.test" => NameReply::Silence,
        "apart.test" => NameReply::Addresses(vec![Ipv4Addr::new(127, 0, 0, 2)], 1),
        _ => NameReply::Addresses(vec![Ipv4Addr::LOCALHOST], 1),
    })
    .expect("a free port")
}

/// What a crawl of these names, and of two pages each, comes to.
fn crawled(folder: &Folder, names: &[&str], port: u16, arguments: &[&str], exit: i32) -> serde_json::Value {
    let starts: Vec<String> = names.iter().map(|name| format!("http://{name}.test:{port}/")).collect();
    let resolver = name_server();
    let run = Webloom::crawl(&folder.crawl(), &starts[0]).args(&starts[1..]).args(arguments);
    let run = run.args(["--resolver", &resolver.address(), "--allow-private", "127.0.0.0/8"]);
    let summary = run
        .env("WEBLOOM_POLITENESS_GIVE_UP", "1s")
        .env("WEBLOOM_FETCH_CONNECT_TIMEOUT", "5s")
        .run()
        .expect(exit)
        .json();
    assert_counts(&summary);
    assert_clean(&folder.crawl());
    // IPv4 and IPv6 are asked for apart. An address is good for a minute at least, whatever its server says.
    let fails = |name: &str| ["failing", "refused", "silent"].contains(&name);
    assert!(names.iter().all(|name| fails(name) || resolver.count(&format!("{name}.test")) <= 4));
    summary
}

/// A server with three pages, that is each host on its machine.
fn site(asked: &webloom_tests::server::Asked) -> Reply {
    match asked.target.as_str() {
        "/robots.txt" => Reply::status(404),
        "/" => Reply::links(["/1", "/2"]),
        _ => Reply::html("the end"),
    }
}

/// How many requests were under way at once, and the shortest time from the end of one to the beginning of the next.
fn closeness(log: &[Hit]) -> (usize, Duration) {
    let ended = |hit: &Hit| hit.ended.expect("every answer was written");
    let open = log.iter().map(|hit| log.iter().filter(|one| one.began <= hit.began && ended(one) > hit.began).count());
    let pauses = log.iter().filter_map(|hit| {
        let before = log.iter().filter(|one| ended(one) <= hit.began).map(ended).max();
        before.map(|end| hit.began - end)
    });
    (open.max().expect("it was asked"), pauses.min().expect("it was asked twice"))
}

#[test]
fn the_names_of_one_machine_share_its_pause() {
    let names = ["one", "two", "three", "four", "five"];
    for (share_by, together) in [("address", true), ("host", false)] {
        let (server, folder) = (serve(site), Folder::new());
        let arguments = ["--delay", "100ms", "--config", &share(&folder, share_by)];
        let summary = crawled(&folder, &names, server.port(), &arguments, 0);
        assert_eq!(summary["pages"]["stored"], 15);
        let log = server.log();
        assert_eq!(log.iter().filter(|hit| hit.target == "/robots.txt").count(), 5);
        let (at_once, pause) = closeness(&log);
        assert_eq!(pause >= DELAY, together, "{share_by}: {at_once} {pause:?}");
        assert!(at_once == 1 || !together);
    }
}

/// A settings file that says what hosts share by.
fn share(folder: &Folder, by: &str) -> String {
    let file = folder.0.path().join(format!("{by}.toml"));
    std::fs::write(&file, format!("[politeness]\nshare_by = \"{by}\"\n")).expect("it can be written");
    file.to_str().expect("paths of tests are text").to_owned()
}

#[test]
fn machines_do_not_wait_for_each_other() {
    let server = serve(site);
    let other = Server::start_at((Ipv4Addr::new(127, 0, 0, 2), server.port()).into(), site).unwrap();
    let folder = Folder::new();
    crawled(&folder, &["one", "two", "apart"], server.port(), &["--delay", "100ms"], 0);
    let [one, two] = [server.log(), other.log()].map(|log| (log[0].began, log.last().unwrap().began));
    assert!(one.0 < two.1 && two.0 < one.1, "they were asked at the same time");
    assert!(closeness(&server.log()).1 >= DELAY && closeness(&other.log()).1 >= DELAY);
}

#[test]
fn a_domain_may_be_one_host() {
    let server = serve(site);
    let folder = Folder::new();
    let other = Server::start_at((Ipv4Addr::new(127, 0, 0, 2), server.port()).into(), site).unwrap();
    let start = |name: &str| format!("http://{name}.example:{}/", server.port());
    let there = |name: &str, address: &str| format!("--resolve={name}.example:{}:{address}", server.port());
    let arguments = ["--delay", "100ms", "--allow-private", "127.0.0.0/8", "--config", &share(&folder, "domain")];
    let run = Webloom::crawl(&folder.crawl(), &start("a.one")).args([&start("b.one")]).args(arguments);
    run.args([&there("a.one", "127.0.0.1"), &there("b.one", "127.0.0.2")]).run().expect(0);
    let mut log = [server.log(), other.log()].concat();
    log.sort_by_key(|hit| hit.began);
    let (at_once, pause) = closeness(&log);
    assert!(at_once == 1 && pause >= DELAY, "{at_once} {pause:?}");
}

#[test]
fn each_way_in_which_a_name_cannot_be_looked_up_has_its_word() {
    for (name, outcome, reason, exit) in [
        ("gone", "abandoned", "no_name", 1),
        ("empty", "abandoned", "no_name", 1),
        ("failing", "queued", "look_up", 4),
        ("refused", "queued", "look_up", 4),
        ("silent", "queued", "look_up", 4),
    ] {
        let (server, folder) = (serve(site), Folder::new());
        // One that is there, so that each has its say beside a page.
        let summary =
            crawled(&folder, &["one", name], server.port(), &["--delay", "0"], if exit == 1 { 0 } else { exit });
        assert_eq!(summary["pages"]["stored"], 3, "{name}");
        let page = &pages(&folder.crawl())[&format!("http://{name}.test:{}/", server.port())];
        assert_eq!(page["outcome"], outcome, "{name}: {page}");
        match exit {
            1 => assert_eq!(page["reason"], reason, "{name}"),
            _ => assert_eq!(summary["hosts"][0]["cause"], reason, "{name}: {summary}"),
        }
    }
}

#[test]
fn a_resolver_must_be_an_address_with_a_port() {
    for wrong in ["", "127.0.0.1", "localhost:53", "127.0.0.1:0", "DNS"] {
        let folder = Folder::new();
        let run = Webloom::crawl(&folder.crawl(), "http://127.0.0.1:9/").args(["--resolver", wrong]).run().expect(2);
        assert!(run.stderr.contains("ADDRESS:PORT"), "{}", run.stderr);
    }
}
