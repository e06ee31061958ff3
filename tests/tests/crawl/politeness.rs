//! Delays, slots and rates, by the times in the servers' logs.

use std::{
    sync::{Arc, Condvar, Mutex},
    time::Duration,
};

use rustix::process::Signal;
use webloom_tests::{
    server::{Asked, Hit, Reply, Server},
    webloom::{Webloom, assert_clean},
};

use crate::{Folder, assert_counts, crawl, serve, star};

/// The shortest time from the end of a request to the beginning of the next.
fn shortest_pause(log: &[Hit]) -> Duration {
    let pauses =
        log.windows(2).map(|pair| pair[1].began.duration_since(pair[0].ended.expect("every answer was written")));
    pauses.min().expect("more than one request")
}

/// The most requests that were open at the same time.
fn most_at_once(log: &[Hit]) -> usize {
    let open = |at: &Hit| {
        log.iter()
            .filter(|hit| hit.began <= at.began && hit.ended.expect("every answer was written") > at.began)
            .count()
    };
    log.iter().map(open).max().unwrap_or_default()
}

#[test]
fn a_pause_between_any_two_requests() {
    let server = serve(star(4));
    crawl(&server, &Folder::new().crawl(), &["--delay", "200ms"]);
    let log = server.log();
    assert_eq!(log.len(), 6, "robots.txt, / and four pages");
    assert!(shortest_pause(&log) >= Duration::from_millis(200), "{:?}", shortest_pause(&log));
}

#[test]
fn an_automatic_pause_follows_the_response_time() {
    for (answer, least, most) in [(Duration::from_millis(60), 290, 1_500), (Duration::ZERO, 100, 290)] {
        let site = star(5);
        let server = serve(move |asked| {
            std::thread::sleep(answer);
            site(asked)
        });
        crawl(&server, &Folder::new().crawl(), &["--delay", "auto"]);
        let pauses: Vec<_> = server.log().windows(2).map(|pair| pair[1].began - pair[0].ended.unwrap()).collect();
        let [least, most] = [least, most].map(Duration::from_millis);
        assert!(pauses.iter().all(|pause| *pause >= least), "{pauses:?}");
        assert!(pauses.iter().min() < Some(&most), "{pauses:?}");
    }
}

#[test]
fn bytes_a_second_are_limited_on_average() {
    let site = |asked: &Asked| match asked.target.as_str() {
        "/" => Reply::links((1..=5).map(|page| format!("/{page}"))),
        "/robots.txt" => Reply::status(404),
        _ => Reply::text("x".repeat(20_000)),
    };
    let server = serve(site);
    crawl(&server, &Folder::new().crawl(), &["--delay", "0", "--per-host", "4", "--max-bandwidth", "50KB"]);
    let log = server.log();
    // The last page may begin when the four before it are paid for.
    let took = log[6].began.duration_since(log[1].began);
    assert!(took >= Duration::from_millis(1_200), "{took:?}");
}

#[test]
fn no_request_is_made_outside_of_the_hours() {
    let server = serve(star(2));
    let now = jiff::Timestamp::now().to_zoned(jiff::tz::TimeZone::UTC);
    let window = |from: i64, to: i64| {
        let time = |hours: i64| (&now + jiff::Span::new().hours(hours)).strftime("%H:%M").to_string();
        format!("{}-{}", time(from), time(to))
    };
    let folder = Folder::new();
    let closed = Webloom::crawl(&folder.crawl(), &server.url("/")).args(["--hours", &window(2, 4)]).spawn();
    std::thread::sleep(Duration::from_secs(2));
    closed.signal(Signal::TERM);
    let ended = closed.wait().expect(143);
    assert_eq!((ended.json()["requests"]["sent"].as_u64(), server.log().len()), (Some(0), 0));
    assert!(ended.stderr.contains("politeness.hours"), "{}", ended.stderr);
    let both = ["--hours", &window(-2, 2), "--hours", &window(6, 7)];
    assert_eq!(Webloom::crawl(&folder.crawl(), &server.url("/")).args(both).run().expect(0).json()["end"], "drained");
    assert_clean(&folder.crawl());
}

#[test]
fn a_longer_crawl_delay_wins_a_shorter_one_does_not() {
    for (crawl_delay, least) in [("0.4", 400), ("0.01", 100)] {
        let site = star(2);
        let robots = format!("User-agent: *\nCrawl-delay: {crawl_delay}\n");
        let server = serve(move |asked| match asked.target.as_str() {
            "/robots.txt" => Reply::text(&robots),
            _ => site(asked),
        });
        crawl(&server, &Folder::new().crawl(), &["--delay", "100ms"]);
        let pause = shortest_pause(&server.log());
        assert!(pause >= Duration::from_millis(least), "{pause:?} with {crawl_delay}");
    }
}

#[test]
fn no_host_may_slow_the_crawl_down_for_ever() {
    let site = star(2);
    let server = serve(move |asked| match asked.target.as_str() {
        "/robots.txt" => Reply::text("User-agent: *\nCrawl-delay: 86400\n"),
        _ => site(asked),
    });
    let run = Webloom::crawl(&Folder::new().crawl(), &server.url("/")).env("WEBLOOM_POLITENESS_MAX_DELAY", "100ms");
    assert_eq!(run.run().expect(0).json()["pages"]["stored"], 3);
}

#[test]
fn slots_of_a_host_are_used_and_never_exceeded() {
    for slots in [1, 3] {
        let site = star(12);
        let full = Arc::new((Mutex::new(0), Condvar::new()));
        let server = serve(move |asked| {
            if asked.target.len() > 1 && asked.target != "/robots.txt" {
                // Each answer waits until as many requests have come as there may be at once.
                let (arrived, more) = &*full;
                *arrived.lock().unwrap() += 1;
                more.notify_all();
                let few = |arrived: &mut usize| *arrived < slots;
                drop(more.wait_timeout_while(arrived.lock().unwrap(), Duration::from_secs(10), few).unwrap());
            }
            site(asked)
        });
        crawl(&server, &Folder::new().crawl(), &["--per-host", &slots.to_string()]);
        assert_eq!(most_at_once(&server.log()), slots);
    }
}

#[test]
fn hosts_are_asked_in_parallel() {
    // Each host answers its second page only when all of them have been asked for theirs.
    let met = Arc::new((Mutex::new(0), Condvar::new()));
    let start = |address: &str| {
        let (met, site) = (Arc::clone(&met), star(1));
        Server::start(address, move |asked| {
            if asked.target == "/1" {
                let (arrived, more) = &*met;
                *arrived.lock().unwrap() += 1;
                more.notify_all();
                let few = |arrived: &mut usize| *arrived < 3;
                let waited = more.wait_timeout_while(arrived.lock().unwrap(), Duration::from_secs(20), few).unwrap();
                return Reply::status(if waited.1.timed_out() { 404 } else { 200 });
            }
            site(asked)
        })
        .unwrap()
    };
    let servers = ["127.0.0.1", "127.0.0.2", "127.0.0.3"].map(start);
    let others = [servers[1].url("/"), servers[2].url("/")];
    let run = Webloom::crawl(&Folder::new().crawl(), &servers[0].url("/")).args(others).run().expect(0);
    assert_eq!(run.json()["pages"]["stored"], 6);
}

#[test]
fn a_rate_for_all_hosts() {
    let servers = ["127.0.0.1", "127.0.0.2"].map(|address| Server::start(address, star(4)).unwrap());
    let folder = Folder::new();
    let run = Webloom::crawl(&folder.crawl(), &servers[0].url("/")).args([servers[1].url("/")]);
    run.args(["--max-rate", "20"]).run().expect(0);
    let mut began: Vec<_> = servers.iter().flat_map(Server::log).map(|hit| hit.began).collect();
    began.sort_unstable();
    let took = began[began.len() - 1] - began[0];
    assert_eq!(began.len(), 12);
    assert!(took >= Duration::from_millis(11 * 50 - 20), "12 requests in {took:?}");
}

/// The requests a second that a crawl of one host makes with this rate, which it exceeds over no second.
fn reached(rate: usize) -> f64 {
    let server = serve(star(2 * rate + rate / 2));
    let run = Webloom::crawl(&Folder::new().crawl(), &server.url("/")).args(["--max-rate", &rate.to_string()]);
    run.run().expect(0);
    let began: Vec<_> = server.log().iter().map(|hit| hit.began).collect();
    let closest = began.windows(rate + 1).map(|over| over[rate] - over[0]).min().expect("more than a second");
    assert!(closest >= Duration::from_secs(1), "{rate} and one requests in {closest:?}");
    let took = began[began.len() - 1] - began[0];
    (began.len() - 1) as f64 / took.as_secs_f64()
}

#[test]
fn a_rate_is_reached_and_exceeded_over_no_second() {
    for rate in [30, 200] {
        // A machine that does much else may be too slow for it for a while.
        let tries: Vec<_> = (0..4).map(|_| reached(rate)).take_while(|reached| *reached < 0.9 * rate as f64).collect();
        assert!(tries.len() < 4, "{tries:?} of {rate}");
    }
}

#[test]
fn a_request_that_waits_for_the_rate_is_given_back_and_not_counted() {
    let (server, folder) = (serve(star(3)), Folder::new());
    let running = Webloom::crawl(&folder.crawl(), &server.url("/")).args(["--max-rate", "1"]).spawn();
    server.wait_for("/robots.txt", 1);
    running.signal(Signal::TERM);
    let summary = running.wait().expect(143).json();
    assert_eq!((&summary["requests"]["sent"], &summary["pages"]["failed"]), (&server.log().len().into(), &0.into()));
    assert_counts(&summary);
    assert_clean(&folder.crawl());
    let rest = Webloom::go_on(&folder.crawl()).args(["--max-rate", "unlimited"]).run().expect(0).json();
    assert_eq!((&rest["pages"]["stored"], &rest["requests"]["sent"]), (&4.into(), &server.log().len().into()));
}

#[test]
fn a_robots_txt_elsewhere_waits_for_its_turn_there() {
    let site = star(3);
    let there = Server::start("127.0.0.2", move |asked| match asked.target.as_str() {
        "/rules" => Reply::text("User-agent: *\nDisallow:\n"),
        _ => site(asked),
    })
    .unwrap();
    let (to, site) = (there.url("/rules"), star(3));
    let here = serve(move |asked| if asked.target == "/robots.txt" { Reply::redirect(302, &to) } else { site(asked) });
    let run = Webloom::crawl(&Folder::new().crawl(), &here.url("/")).args([&*there.url("/"), "--delay", "300ms"]);
    assert_eq!(run.run().expect(0).json()["pages"]["stored"], 8);
    let log = there.log();
    assert_eq!((log.len(), there.count("/rules")), (6, 1), "robots.txt, the other's rules and four pages");
    assert_eq!(most_at_once(&log), 1);
    assert!(shortest_pause(&log) >= Duration::from_millis(300), "{:?}", shortest_pause(&log));
}
