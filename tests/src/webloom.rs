//! The `webloom` program, run as a user runs it.
//!
//! Owns: building it once, running it with a clean environment, and reading what it leaves. A run that does not end is
//! killed after two minutes, or when a test says, so that no test waits for ever.

use std::{
    collections::BTreeMap,
    ffi::OsStr,
    io::{BufRead, BufReader, Read},
    path::{Path, PathBuf},
    process::{Child, ChildStdout, Command, Stdio},
    sync::{LazyLock, mpsc},
    thread,
    time::{Duration, Instant},
};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

static PROGRAM: LazyLock<PathBuf> = LazyLock::new(build);

/// The longest run, unless a test says otherwise.
const PATIENCE: Duration = Duration::from_mins(2);

/// Begins the next sequence, and has it found by links as if nothing were known.
pub const REDISCOVER: [&str; 3] = ["--again", "--revisit", "rediscover"];

/// Arguments and variables of a run to come.
///
/// ```no_run
/// use webloom_tests::webloom::Webloom;
/// let run = Webloom::new(["config", "default"]).run();
/// assert_eq!(run.code, Some(0));
/// ```
#[derive(Debug)]
pub struct Webloom {
    command: Command,
    patience: Duration,
}

/// A run that has begun.
#[derive(Debug)]
pub struct Running {
    child: Child,
    patience: Duration,
    lines: Option<Lines>,
    /// When it was started.
    pub began: Instant,
}

/// Its stdout, where a test reads along.
#[derive(Debug)]
struct Lines {
    rest: BufReader<ChildStdout>,
    read: String,
}

/// A run that has ended.
#[derive(Debug)]
pub struct Run {
    /// Exit code; `None` when a signal killed it.
    pub code: Option<i32>,
    /// All of stdout.
    pub stdout: String,
    /// All of stderr.
    pub stderr: String,
    /// How long it took.
    pub took: Duration,
}

impl Webloom {
    /// The program with these arguments, no `WEBLOOM_…` variables but such as make it fast on one's own server: no
    /// delay, back-offs of 20 ms and little patience with hosts that are silent; and none that leaves what is fetched to chance.
    /// Nor does it look for sitemaps: the logs of most tests are of links alone.
    pub fn new<S: AsRef<OsStr>>(arguments: impl IntoIterator<Item = S>) -> Self {
        let mut command = Command::new(&*PROGRAM);
        for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("WEBLOOM_")) {
            command.env_remove(name);
        }
        command.args(arguments).env("WEBLOOM_POLITENESS_DELAY", "0");
        command.env("WEBLOOM_RETRY_BACKOFF", "20ms").env("WEBLOOM_POLITENESS_BACKOFF", "20ms");
        command.env("WEBLOOM_POLITENESS_MAX_BACKOFF", "200ms").env("WEBLOOM_POLITENESS_GIVE_UP", "4s");
        command.env("WEBLOOM_REVISIT_AUDIT_NOT_MODIFIED", "0").env("WEBLOOM_SOURCES_SITEMAPS", "off");
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        Self { command, patience: PATIENCE }
    }

    /// `crawl START -d DIR --json`.
    pub fn crawl(dir: &Path, start: &str) -> Self {
        Self::new(["crawl", "--json", start, "-d"]).args([dir])
    }

    /// `crawl -d DIR --json`: what the directory holds goes on.
    pub fn go_on(dir: &Path) -> Self {
        Self::new(["crawl", "--json", "-d"]).args([dir])
    }

    /// More arguments.
    #[must_use]
    pub fn args<S: AsRef<OsStr>>(mut self, arguments: impl IntoIterator<Item = S>) -> Self {
        self.command.args(arguments);
        self
    }

    /// A variable.
    #[must_use]
    pub fn env(mut self, name: &str, value: &str) -> Self {
        self.command.env(name, value);
        self
    }

    /// Within a shell that has run this before: to have fewer files, less memory, or what else a shell can set.
    #[must_use]
    pub fn within(self, script: &str) -> Self {
        let mut shell = Command::new("bash");
        shell.args(["-c", &format!("{script}; exec \"$0\" \"$@\"")]).arg(self.command.get_program());
        shell.args(self.command.get_args());
        for (name, value) in self.command.get_envs() {
            match value {
                Some(value) => shell.env(name, value),
                None => shell.env_remove(name),
            };
        }
        shell.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        Self { command: shell, ..self }
    }

    /// The longest that it may run.
    #[must_use]
    pub fn patience(self, patience: Duration) -> Self {
        Self { patience, ..self }
    }

    /// Runs it to its end.
    pub fn run(self) -> Run {
        self.spawn().wait()
    }

    /// Runs it with this on its stdin.
    pub fn run_with(mut self, input: &str) -> Run {
        use std::io::Write;
        self.command.stdin(Stdio::piped());
        let mut running = self.spawn();
        let mut stdin = running.child.stdin.take().expect("stdin is piped");
        let input = input.to_owned();
        // A program that does not read it all has its reasons, and its output tells them.
        let feeding = thread::spawn(move || drop(stdin.write_all(input.as_bytes())));
        let run = running.wait();
        feeding.join().expect("feeding does not panic");
        run
    }

    /// Begins to run it.
    ///
    /// # Panics
    /// When it cannot be started.
    pub fn spawn(mut self) -> Running {
        let child = self.command.spawn().expect("the program starts");
        Running { began: Instant::now(), child, patience: self.patience, lines: None }
    }
}

impl Running {
    /// The number of its process.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Sends it a signal.
    ///
    /// # Panics
    /// When it has gone already.
    pub fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).expect("it still runs");
    }

    /// Waits for a line of its stdout that contains this.
    ///
    /// # Panics
    /// When it ends before, or does not come to it.
    pub fn line_with(&mut self, text: &str) -> String {
        let dog = Dog::watch(&self.child, self.patience);
        let stdout = &mut self.child.stdout;
        let lines = self.lines.get_or_insert_with(|| {
            let stdout = stdout.take().expect("stdout is piped");
            Lines { rest: BufReader::new(stdout), read: String::new() }
        });
        let mut line = String::new();
        while !line.contains(text) {
            lines.read += &line;
            line.clear();
            let length = lines.rest.read_line(&mut line).expect("its output can be read");
            assert!(length > 0, "no line with {text:?}: {}", lines.read);
        }
        lines.read += &line;
        assert!(!dog.has_bitten(), "no line with {text:?}: {}", lines.read);
        line
    }

    /// Waits for its end.
    ///
    /// # Panics
    /// When it does not end.
    pub fn wait(self) -> Run {
        let dog = Dog::watch(&self.child, self.patience);
        let lines = self
            .lines
            .map(|Lines { mut rest, mut read }| thread::spawn(move || rest.read_to_string(&mut read).map(|_| read)));
        let output = self.child.wait_with_output().expect("its output can be read");
        let bitten = dog.has_bitten();
        let read = lines.map(|lines| lines.join().expect("reading does not panic").expect("its output can be read"));
        let run = Run {
            code: output.status.code(),
            stdout: read.unwrap_or_else(|| String::from_utf8_lossy(&output.stdout).into_owned()),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
            took: self.began.elapsed(),
        };
        assert!(!bitten, "it does not end: {run:?}");
        run
    }
}

/// Kills a run when somebody has waited for it too long.
struct Dog {
    called_off: mpsc::Sender<()>,
    watching: thread::JoinHandle<bool>,
}

impl Dog {
    fn watch(child: &Child, patience: Duration) -> Self {
        let (called_off, watch) = mpsc::channel();
        let pid = Pid::from_child(child);
        let watching = thread::spawn(move || {
            let timed_out = watch.recv_timeout(patience) == Err(mpsc::RecvTimeoutError::Timeout);
            // One that has ended in this moment needs no signal.
            timed_out && kill_process(pid, Signal::KILL).is_ok()
        });
        Self { called_off, watching }
    }

    /// Ends the watch; whether it was too late.
    fn has_bitten(self) -> bool {
        drop(self.called_off);
        self.watching.join().expect("the watch does not panic")
    }
}

impl Run {
    /// The one JSON document on stdout.
    ///
    /// # Panics
    /// When there is anything else.
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    /// The JSON objects on stdout, one a line.
    ///
    /// # Panics
    /// When there is anything else.
    pub fn json_lines(&self) -> Vec<Value> {
        let read = |line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"));
        self.stdout.lines().map(read).collect()
    }

    /// Itself, when it ended with this code.
    ///
    /// # Panics
    /// When it did not.
    #[expect(clippy::return_self_not_must_use, reason = "the check alone is what many tests want")]
    pub fn expect(self, code: i32) -> Self {
        assert_eq!(self.code, Some(code), "stderr: {}\nstdout: {}", self.stderr, self.stdout);
        self
    }
}

/// Where the program is.
pub fn program() -> &'static Path {
    &PROGRAM
}

/// The lines of `pages DIR --format jsonl`, by URL.
///
/// # Panics
/// When it fails, or names a URL twice.
pub fn pages(dir: &Path) -> BTreeMap<String, Value> {
    shown(Webloom::new(["pages", "--format", "jsonl"]).args([dir]))
}

/// The same with `--sequence N`.
///
/// # Panics
/// As [`pages`].
pub fn pages_of(dir: &Path, sequence: u32) -> BTreeMap<String, Value> {
    shown(Webloom::new(["pages", "--format", "jsonl", "--sequence", &sequence.to_string()]).args([dir]))
}

fn shown(pages: Webloom) -> BTreeMap<String, Value> {
    let lines = pages.run().expect(0).json_lines();
    let count = lines.len();
    let pages: BTreeMap<_, _> =
        lines.into_iter().map(|line| (line["url"].as_str().expect("a URL").to_owned(), line)).collect();
    assert_eq!(pages.len(), count, "a URL has two lines");
    pages
}

/// The URLs of a crawl whose outcome is this.
pub fn with_outcome(dir: &Path, outcome: &str) -> Vec<String> {
    pages(dir).into_iter().filter(|(_, page)| page["outcome"] == outcome).map(|(url, _)| url).collect()
}

/// What `check` counts in a crawl directory; fails unless it finds it clean.
///
/// # Panics
/// When it does not.
pub fn assert_clean(dir: &Path) -> Value {
    let run = Webloom::new(["check", "--json"]).args([dir]).run();
    assert_eq!(run.code, Some(0), "{}{}", run.stdout, run.stderr);
    run.json()
}

/// The program of this workspace, built if need be, beside the running test.
fn build() -> PathBuf {
    let test = std::env::current_exe().expect("a test has a path");
    let folder = test.parent().and_then(Path::parent).expect("tests lie in deps, below their profile's folder");
    let profile = match folder.file_name().and_then(OsStr::to_str) {
        Some("debug") | None => "dev",
        Some(name) => name,
    };
    // All members are named, so that no dependency is built twice for other features.
    let built = cargo().args(["build", "--quiet", "--locked", "--workspace", "--bins", "--profile", profile]).status();
    assert!(built.is_ok_and(|status| status.success()), "the program does not build");
    folder.join("webloom")
}

/// Cargo, run for all members of this workspace. What cargo tells a test of its package goes no further: a build script that asks for it would run
/// again, and all that depends on it would be built again, here and by whoever builds next.
pub fn cargo() -> Command {
    let mut cargo = Command::new(env!("CARGO"));
    let kept = ["CARGO_HOME", "CARGO_TARGET_DIR", "CARGO_BUILD_JOBS", "CARGO_INCREMENTAL"];
    for (name, _) in std::env::vars_os() {
        if name.to_str().is_some_and(|name| name.starts_with("CARGO_") && !kept.contains(&name)) {
            cargo.env_remove(name);
        }
    }
    cargo.current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/.."));
    cargo
}
