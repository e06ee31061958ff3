//! Pages that move by themselves: clocks, counters, adverts, lists in another order, tokens in forms. What is reported is what happened.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write as _,
    sync::{
        Arc, Mutex,
        atomic::{AtomicU64, Ordering},
    },
};

use webloom_tests::{
    server::{Reply, Server},
    webloom::{Webloom, assert_clean},
};

use super::NOTHING;
use crate::{Folder, crawl, serve};

/// Members of the pool of adverts, of which a page shows three.
const POOL: u64 = 30;

/// What the pages say, and what moves on them.
#[derive(Default)]
struct Noisy {
    texts: Mutex<BTreeMap<String, Vec<String>>>,
    /// Addresses that are not found.
    gone: Mutex<BTreeSet<String>>,
    footer: Mutex<String>,
    /// Answers by now: each page is another each time.
    answers: AtomicU64,
    /// Whether anything moves.
    still: bool,
}

impl Noisy {
    /// One with so many pages in each of two sections.
    fn new(pages: usize, still: bool) -> Self {
        let noisy = Self { still, ..Self::default() };
        *noisy.footer.lock().unwrap() = "Copyright 2024 by the owner".to_owned();
        for page in 1..=pages {
            for section in ["docs", "shop"] {
                noisy.edit(&format!("/{section}/{page}"), 0);
            }
        }
        noisy
    }

    fn edit(&self, path: &str, edition: usize) {
        let line =
            |number: usize| format!("In edition {edition} line {number} of {path} says {}", number * (edition + 7));
        self.texts.lock().unwrap().insert(path.to_owned(), (1..=6).map(line).collect());
    }

    /// The same without anything of it: in six, a number that no other page has.
    fn chance(&self, path: &str, seed: u64) -> u64 {
        let mut hash = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        for byte in path.bytes() {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3);
        }
        hash ^ (hash >> 29)
    }

    fn body(&self, path: &str) -> Option<String> {
        let texts = self.texts.lock().unwrap();
        let now = if self.still { 0 } else { self.answers.fetch_add(1, Ordering::SeqCst) };
        let mut html = format!(
            "<title>{path}</title><header><p>Home</p><p>The time is 12:{:02}:{:02}</p></header>",
            now / 60 % 60,
            now % 60
        );
        if path == "/" {
            for page in texts.keys() {
                write!(html, "<a href=\"{page}\">{page}</a> ").unwrap();
            }
        } else {
            write!(html, "<main><h1>{path}</h1>").unwrap();
            for line in texts.get(path).filter(|_| !self.gone.lock().unwrap().contains(path))? {
                write!(html, "<p>{line}</p>").unwrap();
            }
            write!(html, "</main>").unwrap();
        }
        let advert = |slot| self.chance(path, now * 3 + slot) % POOL;
        write!(html, "<aside>").unwrap();
        for slot in 0..3 {
            write!(
                html,
                "<div>Buy the thing called {} now</div>",
                ["ant", "bee", "cow", "dog", "elk"][(advert(slot) % 5) as usize].repeat(1 + advert(slot) as usize / 5)
            )
            .unwrap();
        }
        let mut related: Vec<_> = (1..=4).collect();
        related.rotate_left((self.chance(path, now) % 4) as usize);
        write!(html, "<h3>Related</h3><ul>").unwrap();
        for item in related {
            write!(html, "<li>Another page about subject {}</li>", ["one", "two", "three", "four"][item - 1]).unwrap();
        }
        write!(html, "</ul></aside><form><input type=hidden name=token value={now}></form>").unwrap();
        write!(html, "<p>{} visitors so far</p><footer><p>{}</p></footer>", 1_000 + now, self.footer.lock().unwrap())
            .unwrap();
        Some(html)
    }
}

fn served(noisy: &Arc<Noisy>) -> Server {
    let noisy = Arc::clone(noisy);
    serve(move |asked| match noisy.body(&asked.target) {
        Some(html) if asked.target != "/robots.txt" => Reply::html(&html),
        _ => Reply::status(404),
    })
}

/// What a further sequence reports, and how many requests it takes.
fn again(server: &Server, folder: &Folder) -> (Vec<String>, u64) {
    let dir = folder.crawl();
    let summary = Webloom::go_on(&dir).args(["--again", "--gone-after", "0s"]).run().expect(0).json();
    assert_clean(&dir);
    let since = summary["sequence"].to_string();
    let lines = Webloom::new(["changes", "--diff", "--format", "jsonl", "--since", &since])
        .args([&dir])
        .run()
        .expect(0)
        .json_lines();
    // Shown where a test fails.
    lines.iter().for_each(|line| println!("{line}"));
    let mut reported: Vec<_> = lines
        .iter()
        .map(|line| {
            let path = line["url"].as_str().expect("a URL").trim_start_matches(&server.url("")).to_owned();
            match line["count"].as_u64() {
                Some(count) => format!("site_wide x{count}"),
                None => format!("{} {path}", line["change"].as_str().expect("a change")),
            }
        })
        .collect();
    reported.sort_unstable();
    (reported, summary["requests"]["sent"].as_u64().expect("a number"))
}

#[test]
fn what_moves_by_itself_is_not_reported_and_all_else_is() {
    for still in [true, false] {
        let noisy = Arc::new(Noisy::new(40, still));
        let (server, folder) = (served(&noisy), Folder::new());
        crawl(&server, &folder.crawl(), &["--text", "on"]);
        let mut requests = 0;
        let mut pages = 0;
        for round in 1..=8 {
            let mut expected = Vec::new();
            if round % 2 == 0 {
                for page in [round, round + 10, round + 20] {
                    let path = format!("/docs/{page}");
                    noisy.edit(&path, round);
                    expected.push(format!("changed_text {path}"));
                }
            }
            if round == 5 {
                "Copyright 2025 by the owner".clone_into(&mut noisy.footer.lock().unwrap());
                expected.push("site_wide x81".to_owned());
            }
            if round == 6 {
                noisy.gone.lock().unwrap().insert("/shop/7".to_owned());
            }
            if round == 7 {
                expected.push("gone /shop/7".to_owned());
            }
            expected.sort_unstable();
            let (reported, sent) = again(&server, &folder);
            assert_eq!(reported, expected, "round {round}, still: {still}");
            (requests, pages) = (requests + sent, pages + 81);
        }
        assert!(requests <= pages + pages / 10 + 16, "{requests} requests for {pages} pages");
        if still {
            continue;
        }
        let dir = folder.crawl();
        let masks = Webloom::new(["changes", "--masks", "--format", "jsonl"]).args([&dir]).run().expect(0).json_lines();
        let kinds: BTreeSet<_> = masks.iter().filter_map(|mask| mask["kind"].as_str()).collect();
        assert_eq!(kinds.into_iter().collect::<Vec<_>>(), ["reorders", "rotates", "value"]);
        let clock = masks.iter().find(|mask| mask["example"].as_str().is_some_and(|text| text.contains("The time is")));
        let clock = clock.expect("the clock");
        assert!(clock["where"].as_str().unwrap().contains("header > p after \"Home\""), "{clock}");
        assert!(clock["pages"].as_u64() >= Some(3) && clock["since"] == 0);
        let masked = Webloom::new(["changes", "--masked", "--format", "jsonl", "--match", "/docs/1$"])
            .args([&dir])
            .run()
            .expect(0);
        assert!(
            masked
                .json_lines()
                .iter()
                .any(|line| line["before"].as_str().is_some_and(|text| text.contains("visitors so far")))
        );
        let noise = Webloom::new(["status", "--json"]).args([&dir]).run().expect(0).json()["noise"].clone();
        assert!(noise["masked_lines"].as_u64() > Some(100), "{noise}");
    }
}

#[test]
fn a_page_of_nothing_but_a_counter_is_volatile() {
    let count = AtomicU64::new(0);
    let server = serve(move |asked| match &*asked.target {
        "/" => Reply::html("<a href=/counter>x</a>"),
        "/counter" => Reply::html(&format!("<p>{}</p>", count.fetch_add(1, Ordering::SeqCst))),
        _ => Reply::status(404),
    });
    let folder = Folder::new();
    crawl(&server, &folder.crawl(), &["--text", "on"]);
    assert_eq!(again(&server, &folder).0, ["volatile /counter"]);
    assert_eq!(again(&server, &folder).0, NOTHING);
    assert_eq!(again(&server, &folder).0, NOTHING);
}
