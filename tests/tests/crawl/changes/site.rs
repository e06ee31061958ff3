//! [`Site`]: pages that a test changes between two sequences, and what is reported of them.

use std::{
    collections::BTreeMap,
    hash::{DefaultHasher, Hash, Hasher},
    path::PathBuf,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::{SystemTime, UNIX_EPOCH},
};

use serde_json::Value;
use webloom_tests::{
    server::{Asked, Reply, Server},
    webloom::{Run, Webloom, assert_clean},
};

use crate::{Folder, assert_counts, serve};

/// Texts are kept.
pub(super) const TEXT: [&str; 2] = ["--text", "on"];

/// In the place of a clock, a counter, adverts, a list in another order, one of others and a token, which are others in each answer.
pub(super) const NOISE: &str = "{noise}";

/// Members of the pool of adverts, of which a page shows three.
const POOL: u64 = 30;

/// Titles of which a page shows five.
const TITLES: u64 = 100;

/// In the place of a token, which is another in each answer.
pub(super) const TOKEN: &str = "{token}";

/// In the place of the time of the day, to the second.
pub(super) const CLOCK: &str = "{clock}";

/// A page that is not found is gone at the second look.
pub(super) const SOON: [&str; 2] = ["--gone-after", "0s"];

/// Another text than that of any page; no less than a quarter of it.
pub(super) const OTHER: &str = "Another text of this page\nthat is as long as before";

/// What is answered at a path.
#[derive(Debug, Clone)]
pub(super) enum Answer {
    /// This page, with an `ETag` of its bytes.
    Page(String),
    /// No body.
    Status(u16),
    /// Redirected for good.
    Redirect(String),
}

#[derive(Debug, Default)]
struct Script {
    answers: BTreeMap<String, Answer>,
    /// Whether "not modified" is said of everything.
    lies: bool,
}

/// A site, and its crawl.
pub(super) struct Site {
    pub(super) server: Server,
    pub(super) folder: Folder,
    script: Arc<Mutex<Script>>,
}

impl Site {
    /// One whose `/` links to these pages, each with a text of its own.
    pub(super) fn of<S: AsRef<str>>(paths: impl IntoIterator<Item = S>) -> Self {
        let script = Arc::new(Mutex::new(Script::default()));
        let now = Arc::clone(&script);
        let server = serve(move |asked| answer(&locked(&now), asked));
        let site = Self { server, folder: Folder::new(), script };
        let paths: Vec<_> = paths.into_iter().map(|path| path.as_ref().to_owned()).collect();
        for path in &paths {
            site.page(path, &own_text(path));
        }
        site.set("/", Answer::Page(links(&paths)));
        site
    }

    /// `/1`, `/2` and so on.
    pub(super) fn numbered(pages: usize) -> Self {
        Self::of((1..=pages).map(|page| format!("/{page}")))
    }

    pub(super) fn set(&self, path: &str, answer: Answer) {
        locked(&self.script).answers.insert(path.to_owned(), answer);
    }

    /// Each line of a text in a paragraph.
    pub(super) fn page(&self, path: &str, text: &str) {
        self.set(path, Answer::Page(paragraphs(text)));
    }

    pub(super) fn status(&self, path: &str, status: u16) {
        self.set(path, Answer::Status(status));
    }

    /// What is answered now, to be [set](Self::set) again.
    pub(super) fn now(&self, path: &str) -> Answer {
        locked(&self.script).answers[path].clone()
    }

    /// Says of everything that it is not modified.
    pub(super) fn lie(&self) {
        locked(&self.script).lies = true;
    }

    pub(super) fn dir(&self) -> PathBuf {
        self.folder.crawl()
    }

    /// The first sequence, of which nothing is reported.
    pub(super) fn crawl(&self, arguments: &[&str]) {
        crate::crawl(&self.server, &self.dir(), arguments);
        assert!(self.reported(&[]).is_empty());
    }

    /// The same, without second looks for what moves by itself.
    pub(super) fn crawl_once(&self, arguments: &[&str]) {
        let run = Webloom::crawl(&self.dir(), &self.server.url("/")).args(arguments);
        run.env("WEBLOOM_CHANGE_CONFIRM_SHARE", "0").run().expect(0);
        assert!(self.reported(&[]).is_empty());
    }

    /// What the next sequence tells.
    pub(super) fn again(&self, arguments: &[&str]) -> Vec<String> {
        self.run(Webloom::go_on(&self.dir()).args(["--again"]).args(arguments)).1
    }

    /// The same, and whether it warned of too much at once.
    pub(super) fn guarded(&self, arguments: &[&str]) -> (Vec<String>, usize) {
        let (run, reported) = self.run(Webloom::go_on(&self.dir()).args(["--again"]).args(arguments));
        (reported, run.stderr.matches("changed or vanished at once").count())
    }

    /// A run of a sequence to its end, and what that tells.
    pub(super) fn run(&self, run: Webloom) -> (Run, Vec<String>) {
        let run = run.run().expect(0);
        let summary = run.json();
        assert_eq!(summary["end"], "drained", "{summary}");
        assert_counts(&summary);
        assert_clean(&self.dir());
        let reported = self.reported(&["--since", &summary["sequence"].to_string()]);
        (run, reported)
    }

    /// What was reported so far, each as `changed /path`, sorted.
    pub(super) fn reported(&self, arguments: &[&str]) -> Vec<String> {
        let mut reported: Vec<_> = self.lines(arguments).iter().map(|line| self.short(line)).collect();
        reported.sort_unstable();
        reported
    }

    pub(super) fn lines(&self, arguments: &[&str]) -> Vec<Value> {
        self.changes(&[&["--format", "jsonl"], arguments].concat()).expect(0).json_lines()
    }

    /// `webloom changes` with these arguments.
    pub(super) fn changes(&self, arguments: &[&str]) -> Run {
        Webloom::new(["changes"]).args(arguments).args([self.dir()]).run()
    }

    pub(super) fn short(&self, line: &Value) -> String {
        let path = |url: &str| url.trim_start_matches(&self.server.url("")).to_owned();
        let change = line["change"].as_str().expect("a change");
        let url = path(line["url"].as_str().expect("a URL"));
        match (line["count"].as_u64(), line["to"].as_str()) {
            (Some(count), _) => format!("{change} x{count}"),
            (_, Some(to)) => format!("{change} {url} -> {}", path(to)),
            _ => format!("{change} {url}"),
        }
    }
}

/// A page that links to these, without a word.
pub(super) fn links<S: AsRef<str>>(paths: impl IntoIterator<Item = S>) -> String {
    let links: Vec<_> = paths.into_iter().map(|path| format!("<a href=\"{}\"></a>\n", path.as_ref())).collect();
    links.concat()
}

/// The text of the page at a path, and of no other.
pub(super) fn own_text(path: &str) -> String {
    format!("The page {path} begins\nwith {path} in the middle\nand comes to the end of {path}")
}

fn paragraphs(text: &str) -> String {
    let lines: Vec<_> = text.lines().map(|line| format!("<p>{line}</p>\n")).collect();
    lines.concat()
}

fn locked(script: &Mutex<Script>) -> MutexGuard<'_, Script> {
    script.lock().unwrap_or_else(PoisonError::into_inner)
}

fn answer(script: &Script, asked: &Asked) -> Reply {
    match script.answers.get(&asked.target) {
        None => Reply::status(404),
        Some(Answer::Status(status)) => Reply::status(*status),
        Some(Answer::Redirect(to)) => Reply::redirect(301, to),
        Some(Answer::Page(text)) if asked.target == "/robots.txt" => Reply::text(text),
        Some(Answer::Page(page)) if page.contains(NOISE) => {
            tagged(&page.replace(NOISE, &noise(&asked.target, asked.before as u64)), script.lies, asked)
        }
        Some(Answer::Page(page)) => tagged(&page.replace(CLOCK, &clock()).replace(TOKEN, &token()), script.lies, asked),
    }
}

fn token() -> String {
    static ANSWERS: AtomicU64 = AtomicU64::new(0);
    format!("{:016x}", ANSWERS.fetch_add(1, Ordering::SeqCst).wrapping_mul(0x9e37_79b9_7f4a_7c15))
}

fn clock() -> String {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    format!("{:02}:{:02}:{:02}", now / 3600 % 24, now / 60 % 60, now % 60)
}

/// Others each time.
fn noise(path: &str, before: u64) -> String {
    let hash = |of: (&str, u64, u64)| {
        let mut hasher = DefaultHasher::new();
        of.hash(&mut hasher);
        hasher.finish()
    };
    // The same whatever else is asked for meanwhile, and no two pages have the same time.
    let now = hash((path, 0, 0)) % 10_000 + before;
    let chance = |number: u64| hash((path, now, number));
    let advert = |slot| {
        let member = chance(slot) % POOL;
        format!(
            "<div>Buy {} from house {} today</div>",
            ["apples", "bread", "cheese"][(member % 3) as usize],
            ["A", "B", "C", "D", "E", "F", "G", "H", "I", "J"][(member / 3) as usize]
        )
    };
    let adverts: String = (0..3).map(advert).collect();
    let title = |slot: u64| format!("<li>How to do task {}</li>", chance(20 + slot) % TITLES);
    let read = [0, 1, 2, 3, 4].map(title).concat();
    let mut related = ["one", "two", "three", "four", "five"];
    related.rotate_left((chance(9) % 5) as usize);
    related.swap(0, (chance(10) % 5) as usize);
    let related = related.map(|item| format!("<li><a href=\"/#{now}\">About subject {item}</a></li>")).concat();
    format!(
        "<aside>{adverts}<h3>Related</h3><ul>{related}</ul><h3>Others read</h3><ul>{read}</ul></aside><form><input name=token type=hidden value={now}></form>
         <p>Visitors so far: {}</p><p>It is {:02}:{:02}:{:02}</p>",
        now * 7,
        now / 3600 % 24,
        now / 60 % 60,
        now % 60
    )
}

/// The page, or "not modified" where the one that asks has it.
fn tagged(page: &str, lies: bool, asked: &Asked) -> Reply {
    let mut hasher = DefaultHasher::new();
    page.hash(&mut hasher);
    let tag = format!("\"{:x}\"", hasher.finish());
    let has = |start: &str| asked.headers.iter().any(|header| header.to_lowercase().starts_with(start));
    let is_known = has(&format!("if-none-match: {tag}")) || (lies && has("if-none-match"));
    if is_known { Reply::status(304) } else { Reply::html(page).header(format!("ETag: {tag}")) }
}
