//! Who may read a crawl directory and not write to it, reads what is committed, and leaves no trace: another user, or a read-only mount.

use std::{
    collections::BTreeMap,
    fs::{self, File, Permissions},
    os::unix::fs::{FileExt, PermissionsExt},
    path::{Path, PathBuf},
    thread,
    time::Duration,
};

use rustix::process::Signal;
use webloom_tests::{
    server::{Asked, Reply, Server},
    skip::skip,
    webloom::{Run, Webloom},
};

use crate::{Folder, serve};

/// Nobody's number on Linux. Rights do not bind root, so a test as root proves nothing without it.
const OTHER_USER: &str = "exec setpriv --reuid=65534 --regid=65534 --clear-groups \"$0\" \"$@\"";

/// What a shell says when it cannot do what was asked of it here.
const IMPOSSIBLE: [i32; 4] = [1, 99, 126, 127];

const COMMANDS: [&[&str]; 9] = [
    &["status", "--json"],
    &["status"],
    &["pages", "--format", "jsonl"],
    &["links", "--broken"],
    &["links", "--external"],
    &["links", "--redirects"],
    &["changes"],
    &["changes", "--pending"],
    &["check", "--json"],
];

/// Runs the program as somebody who may not write to a folder.
type Reader = fn(Webloom, &Path) -> Webloom;

const READERS: [Reader; 2] = [
    |run, _| run.within(OTHER_USER),
    |run, dir| {
        let dir = dir.display();
        let mount = format!("mount --bind '{dir}' '{dir}' && mount -o remount,ro,bind '{dir}' || exit 99");
        run.within(&format!("exec unshare -m sh -c \"{mount}; exec \\\"\\$0\\\" \\\"\\$@\\\"\" \"$0\" \"$@\""))
    },
];

fn newspaper(asked: &Asked) -> Reply {
    match asked.target.as_str() {
        "/" => Reply::links((1..=30).map(|page| format!("/{page}")).chain(["http://other.test/".to_owned()])),
        "/robots.txt" | "/7" => Reply::status(404),
        "/8" => Reply::redirect(301, "/9"),
        _ => Reply::links(["/", "/7", "/8"]),
    }
}

/// Everybody may read what is in this folder, and pass through the one around it.
fn open_to_all(folder: &Folder) {
    fs::set_permissions(folder.0.path(), Permissions::from_mode(0o755)).expect("the test owns it");
    fs::set_permissions(folder.crawl(), Permissions::from_mode(0o755)).expect("the test owns it");
    for file in fs::read_dir(folder.crawl()).expect("the test owns it") {
        fs::set_permissions(file.expect("the test owns it").path(), Permissions::from_mode(0o644))
            .expect("the test owns it");
    }
}

/// Whether this reader can be had here.
fn can_be_had(reader: Reader, dir: &Path) -> bool {
    let tried = reader(Webloom::new(["--version"]), dir).run();
    let can = tried.code == Some(0);
    if !can {
        assert!(tried.code.is_none_or(|code| IMPOSSIBLE.contains(&code)), "{tried:?}");
        skip("there is neither another user nor a mount for a reader here");
    }
    can
}

/// What all reading commands print.
fn read_all(dir: &Path, to: &str, by: impl Fn(Webloom) -> Webloom) -> Vec<String> {
    let links: &[&str] = &["links", "--to", to];
    let read = |command: &&[&str]| by(Webloom::new(*command).args([dir])).run().expect(0).stdout;
    let why = by(Webloom::new(["why", "--json"]).args([dir]).args([to])).run().expect(0).stdout;
    COMMANDS.iter().chain([&links]).map(read).chain([why]).collect()
}

/// Names and contents of all files.
fn files(dir: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let files = fs::read_dir(dir).expect("it can be read").map(|file| file.expect("it can be read").path());
    files.map(|file| (file.clone(), fs::read(file).expect("it can be read"))).collect()
}

/// A reader sees what the owner sees after it, and changes nothing.
fn assert_reads(server: &Server, dir: &Path, reader: Reader) {
    let before = files(dir);
    let read = read_all(dir, &server.url("/7"), |run| reader(run, dir));
    assert_eq!(files(dir), before, "nothing is written");
    assert_eq!(read, read_all(dir, &server.url("/7"), |run| run));
}

/// What the last reader has left.
const LEFT: [&str; 2] = ["webloom.sqlite-wal", "webloom.sqlite-shm"];

#[test]
fn a_finished_crawl() {
    for reader in READERS {
        let (server, folder) = (serve(newspaper), Folder::new());
        let dir = folder.crawl();
        Webloom::crawl(&dir, &server.url("/")).run().expect(0);
        for without in [&[][..], &LEFT] {
            for file in without {
                fs::remove_file(dir.join(file)).unwrap();
            }
            open_to_all(&folder);
            if can_be_had(reader, &dir) {
                assert_reads(&server, &dir, reader);
            }
        }
    }
}

#[test]
fn what_a_kill_left_in_the_log() {
    for reader in READERS {
        for without in [None, Some("webloom.sqlite-shm")] {
            let (server, folder) = (serve(newspaper), Folder::new());
            let dir = folder.crawl();
            let run = Webloom::crawl(&dir, &server.url("/")).env("WEBLOOM_STORE_COMMIT_VISITS", "1");
            assert_eq!(run.env("WEBLOOM_FAILPOINT", "after_commit:10").run().code, None);
            if let Some(file) = without {
                fs::remove_file(dir.join(file)).unwrap();
            }
            open_to_all(&folder);
            if !can_be_had(reader, &dir) {
                continue;
            }
            assert!(fs::metadata(dir.join("webloom.sqlite-wal")).unwrap().len() > 0);
            assert_reads(&server, &dir, reader);
            let status = Webloom::new(["status", "--json"]).args([&dir]).run().expect(0).json();
            assert!(status["pages"]["stored"].as_u64() > Some(4), "{status}");
        }
    }
}

#[test]
fn a_crawl_that_runs() {
    for reader in READERS {
        let (server, folder) = (serve(newspaper), Folder::new());
        let dir = folder.crawl();
        let run = Webloom::crawl(&dir, &server.url("/")).args(["--delay", "30ms"]);
        let running = run.env("WEBLOOM_STORE_COMMIT_VISITS", "1").spawn();
        server.wait_for("/1", 1);
        open_to_all(&folder);
        if can_be_had(reader, &dir) {
            let mut stored = Vec::new();
            for page in ["/2", "/10", "/20", "/30"] {
                server.wait_for(page, 1);
                let read = |command: &[&str]| reader(Webloom::new(command).args([&dir]), &dir).run().expect(0);
                stored.push(read(&["status", "--json"]).json()["pages"]["stored"].as_u64().unwrap());
                read(&["check"]);
            }
            assert!(stored.is_sorted() && stored[1] > 1 && stored[3] > stored[1], "{stored:?}");
        }
        running.wait().expect(0);
    }
}

/// The place of a byte of the shared memory that both copies of the log's header have.
const OF_HEADER: u64 = 8;

/// What a writer does in an instant lasts long here: it is stopped, and one copy of the log's header differs from the other.
#[test]
fn a_header_that_is_half_written_is_waited_for() {
    for reader in READERS {
        let (server, folder) = (serve(newspaper), Folder::new());
        let dir = folder.crawl();
        let run = Webloom::crawl(&dir, &server.url("/")).args(["--delay", "100ms"]);
        let running = run.env("WEBLOOM_STORE_COMMIT_VISITS", "1").spawn();
        server.wait_for("/2", 1);
        open_to_all(&folder);
        if can_be_had(reader, &dir) {
            running.signal(Signal::STOP);
            let shared = File::options().read(true).write(true).open(dir.join("webloom.sqlite-shm")).unwrap();
            let mut byte = [0];
            shared.read_exact_at(&mut byte, OF_HEADER).unwrap();
            shared.write_all_at(&[!byte[0]], OF_HEADER).unwrap();
            let reading = reader(Webloom::new(["status", "--json"]).args([&dir]), &dir).spawn();
            thread::sleep(Duration::from_millis(300));
            shared.write_all_at(&byte, OF_HEADER).unwrap();
            assert!(reading.wait().expect(0).json()["pages"]["stored"].as_u64() > Some(0));
            running.signal(Signal::CONT);
        }
        running.wait().expect(0);
    }
}

#[test]
fn who_may_not_even_read_learns_whom_to_ask() {
    let (server, folder) = (serve(newspaper), Folder::new());
    let dir = folder.crawl();
    Webloom::crawl(&dir, &server.url("/")).run().expect(0);
    open_to_all(&folder);
    if !can_be_had(READERS[0], &dir) {
        return;
    }
    let refused = || -> Run { READERS[0](Webloom::new(["status"]).args([&dir]), &dir).run().expect(2) };
    fs::set_permissions(dir.join("webloom.sqlite"), Permissions::from_mode(0o600)).unwrap();
    assert!(
        refused().stderr.contains("Permission denied") && refused().stderr.contains("owner"),
        "{}",
        refused().stderr
    );
    fs::set_permissions(&dir, Permissions::from_mode(0o700)).unwrap();
    assert!(
        refused().stderr.contains("Permission denied") && refused().stderr.contains("owner"),
        "{}",
        refused().stderr
    );
}
