//! What somebody sees of a watch who looks at it from outside: `healthcheck`, and the management port.

use std::{
    collections::BTreeMap,
    fs,
    io::{Read, Write},
    net::{SocketAddr, TcpListener, TcpStream},
    os::unix::fs::{MetadataExt, PermissionsExt},
    path::Path,
    process::{Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use rustix::process::Signal;
use webloom_tests::{
    server::Reply,
    webloom::{Run, Webloom, assert_clean, pages},
};

use crate::{Folder, chain, serve, star};

/// An address at which nothing listens.
pub(crate) fn free() -> SocketAddr {
    TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr()).expect("a free port")
}

/// An answer of the port.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) text: String,
}

/// Sends lines to the port, and reads what comes until it closes the connection.
pub(crate) fn send(port: SocketAddr, request: &str) -> Answer {
    let mut stream = TcpStream::connect(port).expect("it listens");
    stream.set_read_timeout(Some(Duration::from_secs(20))).expect("a time is set");
    stream.write_all(request.as_bytes()).expect("it reads");
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).expect("it answers");
    let answer = String::from_utf8(answer).expect("its answers are text");
    let (head, text) = answer.split_once("\r\n\r\n").unwrap_or((&answer, ""));
    let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0);
    Answer { status, head: head.to_owned(), text: text.to_owned() }
}

pub(crate) fn get(port: SocketAddr, path: &str, headers: &str) -> Answer {
    send(port, &format!("GET {path} HTTP/1.1\r\nhost: {port}\r\n{headers}\r\n"))
}

/// The samples of an answer with metrics, by what is before the value.
fn samples(port: SocketAddr) -> BTreeMap<String, f64> {
    let answer = get(port, "/metrics", "");
    assert_eq!(answer.status, 200, "{answer:?}");
    let lines = answer.text.lines().filter(|line| !line.starts_with('#'));
    lines
        .map(|line| line.rsplit_once(' ').expect("a value"))
        .map(|(name, value)| (name.to_owned(), value.parse().expect("a number")))
        .collect()
}

fn healthcheck(dir: &Path) -> Run {
    Webloom::new(["healthcheck"]).args([dir]).run()
}

/// Until this is so.
pub(crate) fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let began = Instant::now();
    while !is_so() {
        assert!(began.elapsed() < Duration::from_secs(20), "{what}");
        thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn a_process_that_hangs_or_is_gone_is_seen_within_two_intervals() {
    let (server, folder) = (serve(star(2)), Folder::new());
    let port = free();
    let dir = folder.crawl();
    let none = healthcheck(&dir).expect(1);
    assert!(none.stdout.contains("holds no crawl"), "{}", none.stdout);
    let watch = || {
        Webloom::new(["watch", "-q", &server.url("/"), "--every", "1s", "--listen", &port.to_string(), "-d"])
            .args([&dir])
            .spawn()
    };
    let running = watch();
    until("it is on time", || dir.join("watch.json").exists() && healthcheck(&dir).code == Some(0));
    assert_eq!(get(port, "/readyz", "").status, 200);
    running.signal(Signal::STOP);
    let stopped = Instant::now();
    until("it is late", || healthcheck(&dir).code == Some(1));
    // The interval in which it was stopped, and two more.
    assert!(stopped.elapsed() < Duration::from_millis(4500), "{:?}", stopped.elapsed());
    let late = healthcheck(&dir).expect(1);
    assert!(late.stdout.contains("late: a sequence "), "{}", late.stdout);
    running.signal(Signal::CONT);
    until("it is on time again", || healthcheck(&dir).code == Some(0));
    running.signal(Signal::KILL);
    running.wait();
    until("it is gone", || healthcheck(&dir).code == Some(1));
    let again = watch();
    until("another goes on", || healthcheck(&dir).code == Some(0));
    again.signal(Signal::TERM);
    again.wait().expect(143);
    assert_clean(&dir);
}

#[test]
fn a_sequence_that_outlasts_two_intervals_is_late_and_one_that_is_paused_or_done_is_not() {
    let (server, folder) = (serve(chain(40)), Folder::new());
    let (dir, port) = (folder.crawl(), free());
    let slow = ["--every", "1s", "--delay", "200ms", "--listen", &port.to_string(), "-d"];
    let running = Webloom::new(["watch", "-q", &server.url("/")]).args(slow).args([&dir]).spawn();
    until("it runs", || {
        get_if_it_listens(port, "/readyz").is_some_and(|answer| answer.text.contains("has been running since"))
    });
    assert_eq!(get(port, "/readyz", "").status, 200);
    until("it is late", || get(port, "/readyz", "").status == 503);
    let late = get(port, "/readyz", "");
    assert!(late.text.contains("for more than two intervals"), "{late:?}");
    assert_eq!(get(port, "/healthz", "").status, 200, "the process is well");
    assert_eq!(healthcheck(&dir).code, Some(1));
    running.signal(Signal::TERM);
    running.wait().expect(143);

    let (server, folder) = (serve(star(2)), Folder::new());
    let dir = folder.crawl();
    Webloom::new(["watch", "-q", &server.url("/"), "--every", "1s", "--runs", "1", "-d"]).args([&dir]).run().expect(0);
    thread::sleep(Duration::from_secs(4));
    let done = healthcheck(&dir).expect(0);
    assert!(done.stdout.contains(": done"), "{}", done.stdout);
}

fn get_if_it_listens(port: SocketAddr, path: &str) -> Option<Answer> {
    TcpStream::connect(port).is_ok().then(|| get(port, path, ""))
}

#[test]
fn a_job_that_is_wrong_is_named_and_the_others_are_on_time() {
    let server = serve(star(2));
    let (folder, port) = (Folder::new(), free());
    let file = folder.0.path().join("jobs.toml");
    let job = |name: &str, every: &str| {
        let dir = folder.0.path().join(name);
        format!(
            "[job.{name}]\ndir = {dir:?}\nstarts = [{:?}]\nsettings.schedule.every = \"{every}\"\n",
            server.url("/")
        )
    };
    fs::write(&file, job("a", "1s") + &job("b", "1h")).unwrap();
    let running = Webloom::new(["watch", "-q", "--listen", &port.to_string(), "--jobs"]).args([&file]).spawn();
    let both = |answer: &Answer| answer.text.matches("on time: the next").count() == 2;
    until("both wait", || {
        get_if_it_listens(port, "/readyz").is_some_and(|answer| both(&answer) && answer.status == 200)
    });
    fs::write(&file, job("a", "1s") + &job("b", "soon")).unwrap();
    running.signal(Signal::HUP);
    until("it is said", || get(port, "/readyz", "").status == 503);
    let answer = get(port, "/readyz", "");
    assert!(answer.text.contains("b: the new jobs have a fault: ") && answer.text.contains("soon"), "{answer:?}");
    assert!(answer.text.contains("a: on time"), "{answer:?}");
    let before = server.log().len();
    until("the other one goes on", || server.log().len() > before + 3);
    assert_eq!(["a", "b"].map(|name| healthcheck(&folder.0.path().join(name)).code), [Some(0), Some(1)]);
    fs::write(&file, job("a", "1s")).unwrap();
    running.signal(Signal::HUP);
    until("it is mended", || get(port, "/readyz", "").status == 200);
    assert!(!get(port, "/readyz", "").text.contains("b: "), "it is no longer in the file");
    running.signal(Signal::TERM);
    running.wait().expect(143);
}

#[test]
fn a_job_that_cannot_be_run_is_seen_at_once() {
    let (server, folder) = (serve(star(2)), Folder::new());
    let port = free();
    let [well, foreign] = ["well", "foreign"].map(|name| folder.0.path().join(name));
    Webloom::new(["crawl", "-q", &serve(star(1)).url("/"), "-d"]).args([&foreign]).run().expect(0);
    let job = |name: &str, dir: &Path| {
        format!("[job.{name}]\ndir = {dir:?}\nstarts = [{:?}]\nsettings.schedule.every = \"1h\"\n", server.url("/"))
    };
    let file = folder.0.path().join("jobs.toml");
    fs::write(&file, job("well", &well) + &job("foreign", &foreign)).unwrap();
    let running = Webloom::new(["watch", "-q", "--listen", &port.to_string(), "--jobs"]).args([&file]).spawn();
    until("it is seen", || get_if_it_listens(port, "/readyz").is_some_and(|answer| answer.status == 503));
    until("the other one is well", || get(port, "/readyz", "").text.contains("well: on time"));
    let answer = get(port, "/readyz", "");
    assert!(answer.text.contains("foreign: ") && answer.text.contains("holds the crawl of"), "{answer:?}");
    fs::write(&file, job("well", &well)).unwrap();
    running.signal(Signal::HUP);
    until("it has left", || get(port, "/readyz", "").status == 200);
    running.signal(Signal::TERM);
    running.wait().expect(143);
}

#[test]
fn a_crawl_that_is_paused_before_it_has_begun_says_so_and_a_list_on_stdin_is_read_once() {
    let (server, folder) = (serve(star(2)), Folder::new());
    let dir = folder.crawl();
    let paused = Webloom::new(["watch", "-q", &server.url("/"), "--every", "1s", "-d"]).args([&dir]);
    let running = paused.env("WEBLOOM_SCHEDULE_PAUSE", "on").spawn();
    until("it is paused", || healthcheck(&dir).stdout.contains(": paused"));
    assert_eq!(healthcheck(&dir).code, Some(0));
    running.signal(Signal::TERM);
    running.wait().expect(143);
    let listed = folder.0.path().join("listed");
    let watch = Webloom::new(["watch", "-", "-q", "--every", "1s", "--runs", "1", "-d"]).args([&listed]);
    watch.run_with(&server.url("/")).expect(0);
    assert_clean(&listed);
}

#[test]
fn whoever_looks_takes_no_lock_away() {
    let (server, folder) = (serve(star(2)), Folder::new());
    let (dir, port) = (folder.crawl(), free());
    let arguments = ["--every", "1h", "--listen", &port.to_string(), "-d"].map(str::to_owned);
    let running = Webloom::new(["watch", "-q", &server.url("/")]).args(arguments).args([&dir]).spawn();
    until("it waits", || {
        get_if_it_listens(port, "/readyz").is_some_and(|answer| answer.text.contains("the next sequence"))
    });
    let locks = || {
        let pid = format!(" {} ", running.id());
        let locks = fs::read_to_string("/proc/locks").unwrap();
        let inode = |name: &str| format!(":{} ", fs::metadata(dir.join(name)).unwrap().ino());
        let files = ["webloom.sqlite", "webloom.sqlite-shm"].map(inode);
        let of = |file: &String| locks.lines().filter(|line| line.contains(&pid) && line.contains(&**file)).count();
        [of(&files[0]), of(&files[1])]
    };
    let before = locks();
    assert!(before.iter().all(|locks| *locks > 0), "{before:?}");
    for _ in 0..30 {
        assert_eq!((get(port, "/readyz", "").status, get(port, "/metrics", "").status), (200, 200));
        assert_eq!(locks(), before);
        healthcheck(&dir).expect(0);
        Webloom::new(["status"]).args([&dir]).run().expect(0);
    }
    running.signal(Signal::TERM);
    running.wait().expect(143);
    assert_clean(&dir);
}

#[test]
fn metrics_equal_the_log_of_the_server_and_prometheus_reads_them() {
    let answer = |path: &str| match path {
        "/" => Reply::links(["/a", "/broken", "/gone"]),
        "/broken" => Reply::status(500),
        "/a" => Reply::html("a"),
        _ => Reply::status(404),
    };
    let server = serve(move |asked| answer(&asked.target));
    let (folder, port) = (Folder::new(), free());
    let dir = folder.crawl();
    let watch = |runs: &str| {
        let arguments = ["--every", "1s", "--runs", runs, "--listen", &port.to_string(), "-d"].map(str::to_owned);
        Webloom::new(["watch", "-q", &server.url("/")]).args(arguments).args([&dir]).spawn()
    };
    watch("2").wait().expect(0);
    // Another process counts on.
    let running = watch("99");
    until("it listens", || TcpStream::connect(port).is_ok());
    let name = |name: &str, label: &str| format!("webloom_{name}{{crawl=\"{}\"{label}}}", dir.display());
    until("it waits for the fourth", || {
        samples(port).get(&name("sequence", "")).is_some_and(|sequence| *sequence >= 2.0)
    });
    // Between two sequences nothing is asked, and all is committed.
    until("they are equal", || {
        samples(port)[&name("requests_total", "")].to_string() == server.log().len().to_string()
    });
    let samples = samples(port);
    for (sample, least) in [
        (name("responses_total", ",status=\"404\""), 3.0),
        (name("responses_total", ",status=\"500\""), 3.0),
        (name("stored_pages_total", ""), 6.0),
        (name("on_time", ""), 1.0),
        (name("hosts", ",health=\"well\""), 1.0),
        (name("file_bytes", ",file=\"database\""), 4096.0),
        (name("budget_lost_urls", ""), 0.5),
        ("process_resident_memory_bytes".to_owned(), 1e6),
    ] {
        assert!(samples.get(&sample).is_some_and(|value| *value >= least), "{sample}: {samples:#?}");
    }
    let text = get(port, "/metrics", "").text;
    let mut promtool = Command::new("promtool")
        .args(["check", "metrics"])
        .stdin(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    promtool.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
    let checked = promtool.wait_with_output().unwrap();
    assert!(checked.status.success(), "{}", String::from_utf8_lossy(&checked.stderr));
    running.signal(Signal::TERM);
    running.wait().expect(143);
}

#[test]
fn only_who_has_the_token_sees_more_than_whether_all_is_well() {
    let (server, folder) = (serve(chain(200)), Folder::new());
    let url = server.url("/");
    let crawl = |listen: &str| {
        Webloom::new(["crawl", "-q", &url, "--delay", "100ms", "--listen", listen, "-d"]).args([folder.crawl()])
    };
    let refused = crawl("0.0.0.0:0").run().expect(2);
    assert!(refused.stderr.contains("WEBLOOM_LISTEN_TOKEN") && !folder.crawl().exists(), "{}", refused.stderr);
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let used = crawl(&taken.local_addr().unwrap().to_string()).run().expect(2);
    assert!(used.stderr.contains("in use") && server.log().is_empty(), "{}", used.stderr);
    crawl("9464").run().expect(2);
    for token in ["two words", "\u{fc}", "line\n"] {
        let refused = crawl("127.0.0.1:0").env("WEBLOOM_LISTEN_TOKEN", token).run().expect(2);
        assert!(refused.stderr.contains("visible characters") && !refused.stderr.contains(token), "{}", refused.stderr);
    }
    Webloom::new(["crawl", "-q", &url, "--max-pages", "1", "-d"])
        .args([folder.0.path().join("other")])
        .env("WEBLOOM_LISTEN", "")
        .run()
        .expect(0);

    let port = free();
    let running = crawl(&format!("0.0.0.0:{}", port.port())).env("WEBLOOM_LISTEN_TOKEN", "s3cr3t").spawn();
    until("it listens", || TcpStream::connect(port).is_ok());
    assert_eq!(get(port, "/healthz", "").status, 200);
    let ready = get(port, "/readyz", "");
    assert_eq!((ready.status, &*ready.text), (200, "0 of 1 crawl late or faulty\n"));
    for path in ["/", "/events", "/page.js"] {
        assert_eq!(get(port, path, "").status, 401, "{path}");
    }
    // What a browser sends: any name, and the token as its password.
    for (headers, status) in [
        ("", 401),
        ("authorization: Bearer wrong\r\n", 401),
        ("authorization: Bearer s3cr3\r\n", 401),
        ("authorization: Bearer\r\n", 401),
        ("authorization: Basic !\r\n", 401),
        ("authorization: Bearer s3cr3t\r\n", 200),
        ("authorization: basic YW55Ym9keTpzM2NyM3Q=\r\n", 200),
    ] {
        assert_eq!(get(port, "/metrics", headers).status, status, "{headers}");
    }
    assert_eq!(get(port, "/other", "").status, 401, "nobody finds out what is there");
    running.signal(Signal::TERM);
    let run = running.wait().expect(143);
    assert!(!(run.stdout + &run.stderr).contains("s3cr3t"));
}

#[test]
fn hostile_clients_find_nothing_and_keep_nobody_away() {
    let (server, folder) = (serve(chain(300)), Folder::new());
    let port = free();
    let crawl =
        Webloom::new(["crawl", "-q", &server.url("/"), "--delay", "100ms", "--listen", &port.to_string(), "-d"]);
    let running = crawl.args([folder.crawl()]).spawn();
    until("it listens", || TcpStream::connect(port).is_ok());
    let long = "a".repeat(100_000);
    for (request, status) in [
        ("POST /metrics HTTP/1.1\r\nhost: localhost\r\ncontent-length: 5\r\n\r\nhello".to_owned(), 405),
        ("DELETE / HTTP/1.1\r\nhost: localhost\r\n\r\n".to_owned(), 405),
        ("GET /../../etc/passwd HTTP/1.1\r\nhost: localhost\r\n\r\n".to_owned(), 404),
        ("GET /%2e%2e/lock HTTP/1.1\r\nhost: localhost\r\n\r\n".to_owned(), 404),
        ("GET /metrics HTTP/1.1\r\nhost: evil.example.org\r\n\r\n".to_owned(), 401),
        ("GET /metrics HTTP/1.1\r\nhost: [::1]:80\r\n\r\n".to_owned(), 200),
        ("HEAD /metrics HTTP/1.1\r\nhost: localhost\r\n\r\n".to_owned(), 200),
        (format!("GET /{long} HTTP/1.1\r\nhost: localhost\r\n\r\n"), 431),
        (format!("GET / HTTP/1.1\r\nhost: localhost\r\nx: {long}\r\n\r\n"), 431),
        (format!("GET / HTTP/1.1\r\nhost: localhost\r\n{}\r\n", "x: y\r\n".repeat(200)), 431),
        ("\x16\x03\x01\x02\x00\x01".to_owned() + "\r\n\r\n", 400),
        ("nonsense\r\n\r\n".to_owned(), 400),
    ] {
        let began = Instant::now();
        let answer = hostile(port, &request);
        assert!(answer.is_none_or(|answer| answer == status), "{request:.60} {answer:?}");
        assert!(began.elapsed() < Duration::from_secs(7), "{request:.60}");
    }
    let head = get(port, "/metrics", "").head.to_ascii_lowercase();
    assert!(head.contains("nosniff") && head.contains("no-store"), "{head}");
    // More than may be open at once, and each says nothing.
    let idle: Vec<_> = (0..500).filter_map(|_| TcpStream::connect(port).ok()).collect();
    assert!(idle.len() > 400, "{}", idle.len());
    let began = Instant::now();
    assert_eq!(get(port, "/readyz", "").status, 200);
    assert!(began.elapsed() < Duration::from_secs(2), "{:?}", began.elapsed());
    drop(idle);
    // Those who go away at once leave no work behind that piles up.
    for _ in 0..1000 {
        let mut stream = TcpStream::connect(port).unwrap();
        stream.write_all(b"GET /readyz HTTP/1.1\r\nhost: localhost\r\n\r\n").unwrap();
    }
    let count = |what: &str| fs::read_dir(format!("/proc/{}/{what}", running.id())).unwrap().count();
    // The last of them are closed in a moment.
    while count("fd") >= 250 && began.elapsed() < Duration::from_secs(20) {
        thread::sleep(Duration::from_millis(20));
    }
    let (open, threads) = (count("fd"), count("task"));
    assert!(open < 250 && threads < 20, "{open} files are open, and there are {threads} threads");
    running.signal(Signal::TERM);
    running.wait().expect(143);
    assert_clean(&folder.crawl());
}

/// The status of an answer; `None` where the connection was closed before the request was read.
fn hostile(port: SocketAddr, request: &str) -> Option<u16> {
    let mut stream = TcpStream::connect(port).expect("it listens");
    stream.set_read_timeout(Some(Duration::from_secs(10))).expect("a time is set");
    stream.write_all(request.as_bytes()).ok()?;
    let mut answer = Vec::new();
    // A reset says no more than the end does.
    let _ = stream.read_to_end(&mut answer);
    String::from_utf8_lossy(&answer).split(' ').nth(1)?.parse().ok()
}

#[test]
fn a_backup_is_whole_while_the_crawl_runs_and_the_crawl_goes_on_from_it() {
    let (server, folder) = (serve(chain(60)), Folder::new());
    let running =
        Webloom::new(["crawl", "-q", &server.url("/"), "--delay", "50ms", "-d"]).args([folder.crawl()]).spawn();
    until("it has some pages", || server.log().len() > 10);
    let copy = folder.0.path().join("copy.sqlite");
    let backup = |file: &Path| Webloom::new(["backup"]).args([&folder.crawl(), file]).run();
    backup(&copy).expect(0);
    assert!(backup(&copy).expect(2).stderr.contains("exists"));
    let nowhere = backup(&folder.0.path().join("no/where")).expect(1);
    assert!(nowhere.stderr.contains("cannot write the copy"), "{}", nowhere.stderr);
    running.signal(Signal::KILL);
    running.wait();
    let left: Vec<_> = fs::read_dir(folder.0.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left.len(), 2, "{left:?}");
    let restored = folder.0.path().join("restored");
    fs::create_dir(&restored).unwrap();
    fs::rename(&copy, restored.join("webloom.sqlite")).unwrap();
    assert_eq!(fs::metadata(restored.join("webloom.sqlite")).unwrap().permissions().mode() & 0o777, 0o600);
    assert_clean(&restored);
    let before = pages(&restored).len();
    assert!((2..60).contains(&before), "{before}");
    Webloom::go_on(&restored).args(["--delay", "0"]).run().expect(0);
    assert_eq!(pages(&restored).len(), 61);
    assert_clean(&restored);
}
