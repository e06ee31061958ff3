//! A machine that runs short of disk or memory: the crawl waits, or goes slower, and comes to the same end.

use std::{
    fs,
    process::{Child, Command},
    thread::sleep,
    time::{Duration, Instant},
};

use webloom_tests::{
    server::{Reply, Server},
    skip::skip,
    webloom::{Webloom, assert_clean, with_outcome},
};

use crate::{Folder, chain, serve, star};

/// Longer than the program takes to see what is left of the machine.
const SEEN: Duration = Duration::from_secs(2);

/// Crawls onto a small disk of its own, which somebody fills until a file `go` lies beside what it wrote, and frees again.
const ON_A_SMALL_DISK: &str = "mount -t tmpfs -o size=40m none \"$1\" || exit 99
    \"$0\" crawl --no-progress \"$2\" -d \"$1/crawl\" --delay 10ms --min-free-disk 8MiB > \"$3.out\" 2> \"$3.err\" & crawl=$!
    until [ -e \"$3.begun\" ]; do sleep 0.1; done
    head -c 36M /dev/zero > \"$1/full\"; \"$0\" status \"$1/crawl\" > \"$3.status\"; touch \"$3.full\"
    until [ -e \"$3.go\" ]; do sleep 0.1; done
    rm \"$1/full\"
    wait $crawl; echo $? > \"$3.code\"
    cp -r \"$1/crawl\" \"$3.after\"";

#[test]
fn a_disk_that_fills_up_has_the_crawl_wait() {
    let server = serve(chain(400));
    let folder = Folder::new();
    let (disk, files) = (folder.0.path().join("disk"), folder.0.path().join("session"));
    let file = |end: &str| files.with_extension(end);
    fs::create_dir(&disk).unwrap();
    let user = if rustix::process::geteuid().is_root() { vec!["-m"] } else { vec!["-r", "-m"] };
    let mut shell = Command::new("unshare");
    shell.args(user).args(["sh", "-c", ON_A_SMALL_DISK]).arg(webloom_tests::webloom::program());
    let mut shell = shell.arg(&disk).arg(server.url("/")).arg(&files).spawn().unwrap();
    if !goes_on_until(&mut shell, || server.targets().len() > 20) {
        return skip("no small disk can be mounted here");
    }
    fs::write(file("begun"), "").unwrap();
    assert!(goes_on_until(&mut shell, || file("full").exists()));
    sleep(SEEN);
    let before = server.targets().len();
    sleep(SEEN);
    assert_eq!(server.targets().len(), before);
    assert!(before < 400, "{before}");
    fs::write(file("go"), "").unwrap();
    assert!(shell.wait().unwrap().success());
    let read = |end: &str| fs::read_to_string(file(end)).unwrap();
    let said = read("err");
    assert_eq!(read("code"), "0\n", "{said}");
    let lines: Vec<_> = said.lines().filter(|line| line.contains("on the disk of the crawl")).collect();
    assert_eq!(lines.len(), 2, "{said}");
    assert!(
        lines[0].contains("machine.min_free_disk")
            && lines[0].contains("least=4194304")
            && lines[1].contains("it goes on"),
        "{said}"
    );
    assert!(read("status").contains("less than 4.2 MB (machine.min_free_disk)"), "{}", read("status"));
    assert_clean(&file("after"));
    assert_eq!(with_outcome(&file("after"), "stored").len(), 401);
    assert_eq!(
        server.targets().iter().filter(|target| *target != "/robots.txt" && *target != "/sitemap.xml").count(),
        401
    );
}

/// Waits until something is so; whether the process still ran by then.
fn goes_on_until(process: &mut Child, is_so: impl Fn() -> bool) -> bool {
    let began = Instant::now();
    while !is_so() {
        if process.try_wait().is_ok_and(|ended| ended.is_some()) {
            return false;
        }
        assert!(began.elapsed() < Duration::from_mins(1), "nothing happens");
        sleep(Duration::from_millis(50));
    }
    true
}

#[test]
fn a_crawl_with_too_little_memory_goes_slower_and_is_complete() {
    // Of these bodies, two at once take more than there is.
    let body = format!("<p>{}</p>", "0123456789abcdef".repeat(1 << 19));
    let server = serve(move |asked| match asked.target.as_str() {
        "/" | "/robots.txt" => star(40)(asked),
        _ => Reply::html(&body),
    });
    let folder = Folder::new();
    let arguments = ["--delay", "0", "--per-host", "64", "--max-memory", "32MiB"];
    let run = Webloom::crawl(&folder.crawl(), &server.url("/")).args(arguments).run().expect(0);
    let summary = run.json();
    assert_eq!((&summary["end"], &summary["pages"]["stored"]), (&"drained".into(), &41.into()), "{summary}");
    assert_eq!(run.stderr.matches("memory is short").count(), 1, "{}", run.stderr);
    assert!(run.stderr.contains("cache=8388608"), "{}", run.stderr);
    assert_clean(&folder.crawl());
    let refused = Webloom::crawl(&folder.crawl(), &server.url("/")).args(["--max-memory", "16MiB"]).run().expect(2);
    assert!(refused.stderr.contains("32MiB"), "{}", refused.stderr);
}

#[test]
fn a_heartbeat_follows_each_sequence() {
    let heard: Server = serve(|asked| Reply::status(if asked.before == 0 { 503 } else { 200 }));
    let server = serve(star(3));
    let folder = Folder::new();
    let url = heard.url("/ping/5ec4e7");
    let watch = |runs: &str| {
        let arguments = ["--every", "3s", "--runs", runs, "-vv", "--delay", "0", "--heartbeat", &url, "-d"];
        Webloom::new(["watch", &server.url("/")]).args(arguments).args([folder.crawl()]).run().expect(0)
    };
    let run = watch("2");
    // Once more for the answer that was no success.
    assert_eq!(heard.count("/ping/5ec4e7"), 3);
    assert!(!run.stderr.contains("5ec4e7") && !run.stderr.contains("cannot send"), "{}", run.stderr);
    let copy = fs::read_to_string(folder.crawl().join("crawl.toml")).unwrap();
    assert!(!copy.contains("5ec4e7"), "{copy}");
    drop(heard);
    let run = watch("1");
    assert!(!run.stderr.contains("5ec4e7"), "{}", run.stderr);
}
