//! Several crawls in one process, judged by the logs of the servers that they share.

use std::{
    collections::BTreeSet,
    fs,
    path::PathBuf,
    time::{Duration, Instant},
};

use rustix::process::Signal;
use serde_json::Value;
use webloom_tests::{
    server::{Hit, Reply, Server},
    webloom::{Running, Webloom, assert_clean, pages},
};

use crate::{Folder, chain, serve, star};

/// A file of jobs, in a folder of its own with their directories.
struct Jobs(Folder);

impl Jobs {
    fn new(text: &str) -> Self {
        let jobs = Self(Folder::new());
        jobs.set(text);
        jobs
    }

    fn file(&self) -> PathBuf {
        self.0.0.path().join("jobs.toml")
    }

    fn dir(&self, name: &str) -> PathBuf {
        self.0.0.path().join(name)
    }

    /// Writes the file; `DIR` means the folder.
    fn set(&self, text: &str) {
        let folder = self.0.0.path().display().to_string();
        fs::write(self.file(), text.replace("DIR", &folder)).expect("a file can be written");
    }

    /// `watch --jobs FILE`, with the lines of both outputs on stdout, as they come.
    fn watch(&self, arguments: &[&str]) -> Webloom {
        self.apart(arguments).within("exec 2>&1")
    }

    /// The same with outputs apart.
    fn apart(&self, arguments: &[&str]) -> Webloom {
        let run = Webloom::new(["watch", "--jobs"]).args([self.file()]).args(arguments);
        run.env("WEBLOOM_CHANGE_CONFIRM_SHARE", "0")
    }
}

/// A job that crawls from `/` of a URL.
fn job(name: &str, start: &str, more: &str) -> String {
    let every = "[job.NAME.settings.schedule]\nevery = \"1h\"\n".replace("NAME", name);
    format!("[job.{name}]\ndir = \"DIR/{name}\"\nstarts = [\"{start}\"]\n{more}{every}")
}

/// The shortest time from the end of a request to the beginning of the next, over all who ask.
fn shortest_pause(log: &[Hit]) -> Duration {
    let pauses =
        log.windows(2).map(|two| two[1].began.saturating_duration_since(two[0].ended.expect("it was answered")));
    pauses.min().expect("more than one request")
}

fn stop(running: Running, code: i32) -> String {
    let began = Instant::now();
    running.signal(Signal::TERM);
    let run = running.wait().expect(code);
    assert!(began.elapsed() < Duration::from_secs(3), "it waits for nothing: {:?}", began.elapsed());
    run.stdout
}

#[test]
fn two_jobs_on_one_server_keep_the_longer_delay_together() {
    let server = serve(chain(4));
    let politeness =
        "settings.politeness.delay = \"DELAY\"\nsettings.fetch.user_agent = \"job/DELAY (+http://localhost/)\"\n";
    let jobs = Jobs::new(
        &[
            job("quick", &server.url("/"), &politeness.replace("DELAY", "50ms")),
            job("slow", &server.url("/"), &politeness.replace("DELAY", "200ms")),
        ]
        .concat(),
    );
    let run = jobs.apart(&["--json", "--runs", "1"]).env("WEBLOOM_POLITENESS_DELAY", "").run().expect(0);
    let named: BTreeSet<_> = run.json_lines().iter().map(|line| line["job"].as_str().unwrap().to_owned()).collect();
    assert_eq!((named.len(), run.json_lines().len()), (2, 2), "{}", run.stdout);
    let log = server.log();
    assert_eq!(log.len(), 12, "robots.txt and five pages of each");
    // From the moment at which the slow one is there.
    let is_slow = |hit: &Hit| hit.headers.iter().any(|line| line.contains("job/200ms"));
    let pause = shortest_pause(&log[log.iter().position(is_slow).unwrap().saturating_sub(1)..]);
    assert!(pause >= Duration::from_millis(200) && log.iter().any(|hit| !is_slow(hit)), "{pause:?}");
    for name in ["quick", "slow"] {
        assert_eq!(pages(&jobs.dir(name)).len(), 5);
        assert_clean(&jobs.dir(name));
    }
}

#[test]
fn so_do_two_names_of_one_address_and_a_crawl_delay_counts() {
    let site = chain(3);
    let server = serve(move |asked| match asked.target.as_str() {
        "/robots.txt" if asked.headers.iter().any(|line| line.contains("one.test")) => {
            Reply::text("User-agent: *\nCrawl-delay: 0.3\n")
        }
        _ => site(asked),
    });
    let port = server.port();
    let access = |name: &str| {
        format!(
            "settings.fetch = {{ resolve = [\"{name}.test:{port}:127.0.0.1\"], allow_private = [\"{name}.test\"] }}\n"
        )
    };
    let names = ["one", "two"];
    let jobs = names.map(|name| job(name, &format!("http://{name}.test:{port}/"), &access(name)));
    let jobs = Jobs::new(&jobs.concat());
    let run = jobs.apart(&["--json", "--runs", "1"]).env("WEBLOOM_POLITENESS_DELAY", "100ms").run().expect(0);
    assert_eq!(run.json_lines().len(), 2);
    let log = server.log();
    assert_eq!(log.len(), 10);
    assert!(shortest_pause(&log) >= Duration::from_millis(100), "{:?}", shortest_pause(&log));
    // Once the one's robots.txt was read, the other keeps its delay as well.
    let read = log.iter().position(|hit| hit.target == "/" && hit.headers.iter().any(|line| line.contains("one.test")));
    let pause = shortest_pause(&log[read.unwrap()..]);
    assert!(pause >= Duration::from_millis(300), "{pause:?}");
}

#[test]
fn a_host_that_fails_slows_no_other_at_its_address() {
    let (ill, site) = (serve(|_| Reply::status(503)), chain(60));
    let well = serve(move |asked| {
        std::thread::sleep(Duration::from_millis(40));
        site(asked)
    });
    let failing = "settings.politeness = { backoff = \"600ms\", max_backoff = \"600ms\", give_up = \"1h\" }\n";
    let jobs = Jobs::new(&[job("ill", &ill.url("/"), failing), job("well", &well.url("/"), "")].concat());
    let mut running = jobs.watch(&[]).env("WEBLOOM_POLITENESS_DELAY", "0").spawn();
    running.line_with("[well] Complete");
    stop(running, 143);
    assert!(ill.log().len() >= 3, "{}", ill.log().len());
    let log = well.log();
    assert_eq!(log.len(), 62);
    let longest =
        log.windows(2).map(|two| two[1].began.saturating_duration_since(two[0].ended.unwrap())).max().unwrap();
    assert!(longest < Duration::from_millis(400), "{longest:?}");
}

#[test]
fn what_goes_wrong_in_one_job_ends_no_other() {
    let (server, gone) = (serve(star(3)), Server::start("127.0.0.81", star(1)).unwrap());
    let dead = gone.url("/");
    drop(gone);
    let jobs = Jobs::new(
        &[
            job("dead", &dead, "settings.politeness.give_up = \"200ms\"\n"),
            job("held", &server.url("/"), ""),
            job("well", &server.url("/"), ""),
        ]
        .concat(),
    );
    let holder = Server::start("127.0.0.82", chain(400)).unwrap();
    let holding = Webloom::crawl(&jobs.dir("held"), &holder.url("/")).args(["--delay", "50ms"]).spawn();
    holder.wait_for("/2", 1);
    let run = jobs.watch(&["--runs", "1"]).env("WEBLOOM_POLITENESS_GIVE_UP", "").run().expect(2);
    let lines: Vec<_> = run.stdout.lines().collect();
    let of = |name: &str| lines.iter().filter(|line| line.starts_with(&format!("[{name}] "))).count();
    assert!(run.stdout.contains("[well] Complete: ") && of("well") > 5, "{}", run.stdout);
    assert!(run.stdout.contains("[dead] Not reachable: ") && run.stdout.contains("job=dead"), "{}", run.stdout);
    let held = "[held] error: ";
    assert_eq!(run.stdout.matches(held).count(), 1, "{}", run.stdout);
    assert!(run.stdout.contains("is in use by another webloom process") && run.stdout.contains("the next try is at 2"));
    assert_clean(&jobs.dir("well"));
    stop(holding, 143);
}

#[test]
fn a_job_that_failed_is_tried_again_when_it_is_next_due() {
    let (server, holder) = (serve(star(1)), Server::start("127.0.0.83", chain(400)).unwrap());
    let every = "[job.held]\ndir = \"DIR/held\"\nstarts = [\"START\"]\nsettings.schedule.every = \"1s\"\n";
    let jobs = Jobs::new(&every.replace("START", &holder.url("/")));
    let holding = Webloom::crawl(&jobs.dir("held"), &holder.url("/")).args(["--delay", "50ms"]).spawn();
    holder.wait_for("/2", 1);
    let mut running = jobs.watch(&["--max-pages", "1"]).spawn();
    running.line_with("[held] error: ");
    stop(holding, 143);
    running.line_with("[held] Reached");
    let said = stop(running, 143);
    assert_eq!(said.matches("in use by another").count(), 1, "it is said once: {said}");
    assert_clean(&jobs.dir("held"));
    assert!(server.log().is_empty());
}

#[test]
fn sighup_adds_removes_pauses_and_keeps_what_was_where_it_is_wrong() {
    let [first, second, third] = [(); 3].map(|()| serve(star(1)));
    let often = |name: &str, server: &Server, more: &str| {
        let start = server.url("/");
        format!("[job.{name}]\ndir = \"DIR/{name}\"\nstarts = [\"{start}\"]\n{more}settings.schedule.every = \"1s\"\n")
    };
    let jobs = Jobs::new(&[often("one", &first, ""), often("two", &second, "")].concat());
    let mut running = jobs.watch(&[]).spawn();
    running.line_with("[one] Complete");
    // A wrong file: nothing is another, in one line.
    jobs.set(&[often("one", &first, "colour = 1\n"), often("three", &third, "")].concat());
    running.signal(Signal::HUP);
    let line = running.line_with("have a fault");
    assert!(
        line.contains("all jobs stay as they were") && line.contains("jobs.toml:4: job.one.colour: unknown key"),
        "{line}"
    );
    running.line_with("[two] Complete: sequence 2");
    assert!(third.log().is_empty());
    // One is paused, one ends, one begins.
    jobs.set(&[often("one", &first, "paused = true\n"), often("three", &third, "")].concat());
    running.signal(Signal::HUP);
    running.line_with("[two] the job is no longer in the file: it ends");
    running.line_with("[three] Complete: ");
    running.line_with("[three] Complete: sequence 1");
    let (paused, ended) = (first.log().len(), second.log().len());
    running.line_with("[three] Complete: sequence 2");
    assert_eq!((first.log().len(), second.log().len()), (paused, ended));
    // The directory of the one that ended is free, and the paused one goes on with its starts.
    assert_eq!(Webloom::go_on(&jobs.dir("two")).run().expect(0).json()["end"], "drained");
    jobs.set(&[often("one", &first, ""), often("three", &third, "")].concat());
    running.signal(Signal::HUP);
    running.line_with("[one] Complete: sequence");
    stop(running, 143);
    assert!(first.log().len() > paused);
    for name in ["one", "two", "three"] {
        assert_clean(&jobs.dir(name));
    }
}

#[test]
fn bandwidth_and_rate_are_those_of_all_together() {
    let page = "x".repeat(20_000);
    let sites = ["127.0.0.84", "127.0.0.85"].map(|address| {
        let page = page.clone();
        Server::start(address, move |asked| match asked.target.as_str() {
            "/" => Reply::links((1..=5).map(|page| format!("/{page}"))),
            "/robots.txt" => Reply::status(404),
            _ => Reply::html(&page),
        })
        .unwrap()
    });
    for (shared, least) in [("max_bandwidth = \"100KB\"", 1_500), ("max_rate = 10", 1_200), ("concurrency = 1", 0)] {
        let jobs = [("one", &sites[0]), ("two", &sites[1])].map(|(name, site)| job(name, &site.url("/"), ""));
        let jobs = Jobs::new(&format!("[shared]\n{shared}\n{}", jobs.concat()));
        let before = sites.each_ref().map(|site| site.log().len());
        jobs.apart(&["-q", "--runs", "1"]).run().expect(0);
        let mut log: Vec<_> =
            sites.iter().zip(before).flat_map(|(site, before)| site.log().split_off(before)).collect();
        assert_eq!(log.len(), 14);
        log.sort_by_key(|hit| hit.began);
        // What the last one brings is not waited for.
        let took = log[13].began - log[0].began;
        assert!(took >= Duration::from_millis(least), "{shared}: {took:?}");
        assert!(took <= Duration::from_millis(2 * least + 5_000), "{shared}: {took:?}");
        let apart = log.windows(2).all(|two| two[1].began >= two[0].ended.unwrap());
        assert!(apart || !shared.starts_with("concurrency"), "one after the other");
    }
}

#[test]
fn a_file_that_is_wrong_is_refused_as_a_whole() {
    let server = serve(star(1));
    let one = job("one", &server.url("/"), "");
    let two = job("two", &server.url("/"), "");
    for (text, named) in [
        (String::new(), "jobs.toml: job: there are no jobs"),
        (format!("{one}[job.one]\n"), "jobs.toml:6: "),
        (format!("colour = 1\n{one}"), "jobs.toml:1: colour: unknown key"),
        (format!("{one}{}", two.replace("DIR/two", "DIR/./one")), "job.two.dir: "),
        (
            format!("{one}{}", two.replace("\"1h\"", "\"soon\"")),
            "jobs.toml:6: job.two.settings.schedule.every: \"soon\"",
        ),
        (format!("{one}{}", two.replace("every = \"1h\"", "")), "jobs.toml:6: job.two: say how often"),
        (format!("{one}{}", two.replace("http://", "ftp://")), "jobs.toml:6: job.two: START: \"ftp://"),
        (format!("{one}{}", two.replace("starts", "# starts")), "job.two: "),
        (format!("{one}{}", two.replace("dir = \"DIR/two\"", "profile = \"slow\"")), "it has no directory"),
        (format!("{one}{}", two.replace("starts", "profile = \"slow\"\nstarts")), "profile slow: unknown profile"),
        (format!("[shared]\nmax_rate = 0\n{one}"), "jobs.toml:2: shared.max_rate: 0 is not allowed"),
    ] {
        let jobs = Jobs::new(&text);
        let run = jobs.apart(&["-q"]).run().expect(2);
        assert!(run.stderr.contains(named) && run.stderr.lines().count() <= 8, "{named}: {}", run.stderr);
        assert!(!jobs.dir("one").exists() && !jobs.dir("two").exists(), "{text}");
    }
    let run = Webloom::new(["watch", "--jobs", "/nowhere/jobs.toml"]).run().expect(2);
    assert!(run.stderr.contains("cannot read the jobs"), "{}", run.stderr);
    let jobs = Jobs::new(&one);
    for arguments in [&["http://h/"][..], &["-d", "x"], &["--add", "http://h/"]] {
        jobs.apart(arguments).run().expect(2);
    }
    assert!(server.log().is_empty());
}

#[test]
fn a_signal_ends_all_at_once_also_those_that_wait_for_their_turn() {
    let server = serve(star(3));
    let delay = "settings.politeness.delay = \"30s\"\n";
    let jobs = Jobs::new(&["one", "two", "three"].map(|name| job(name, &server.url("/"), delay)).concat());
    let mut running = jobs.watch(&["-v"]).env("WEBLOOM_POLITENESS_DELAY", "").spawn();
    server.wait_for("/robots.txt", 1);
    server.wait_for_silence(Duration::from_millis(300));
    assert_eq!(server.log().len(), 1, "all others wait");
    running.signal(Signal::USR1);
    running.line_with("[two] a sequence is running");
    let said = stop(running, 143);
    assert!(!said.contains("this machine can make no request"), "{said}");
    for name in ["one", "two", "three"] {
        assert_clean(&jobs.dir(name));
        let summary: Value = Webloom::new(["status", "--json"]).args([jobs.dir(name)]).run().expect(0).json();
        let sent = summary["requests"]["sent"].as_u64();
        assert_eq!((&summary["end"], sent < Some(2)), (&"signal".into(), true), "{summary}");
    }
    // Sent are those that are in the server's log.
    let sent: u64 = ["one", "two", "three"]
        .map(|name| Webloom::new(["status", "--json"]).args([jobs.dir(name)]).run().expect(0).json())
        .iter()
        .filter_map(|summary| summary["requests"]["sent"].as_u64())
        .sum();
    assert_eq!(sent, server.log().len() as u64);
}

#[test]
fn after_a_kill_each_goes_on_with_what_it_has() {
    let servers = ["127.0.0.86", "127.0.0.87"].map(|address| Server::start(address, chain(8)).unwrap());
    let jobs = [("one", &servers[0]), ("two", &servers[1])].map(|(name, server)| job(name, &server.url("/"), ""));
    let jobs = Jobs::new(&jobs.concat());
    let running = jobs.apart(&["-q", "--delay", "100ms"]).spawn();
    for server in &servers {
        server.wait_for("/5", 1);
    }
    running.signal(Signal::KILL);
    assert_eq!(running.wait().code, None);
    let run = jobs.apart(&["--json", "--delay", "0", "--runs", "1"]).run().expect(0);
    for summary in run.json_lines() {
        let went = [&summary["end"], &summary["sequence"], &summary["pages"]["stored"]];
        assert_eq!(went, [&Value::from("drained"), &0.into(), &9.into()], "{summary}");
    }
    for (server, name) in servers.iter().zip(["one", "two"]) {
        assert!(server.count("/1") == 1 && server.count("/8") == 1, "what was committed is not fetched again");
        assert_clean(&jobs.dir(name));
    }
}
