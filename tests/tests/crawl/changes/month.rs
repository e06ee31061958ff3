//! A month of a site of 300 pages: each change is reported once and in its class, and nothing else is.

use std::collections::BTreeMap;

use super::site::{Answer, NOISE, SOON, Site, TEXT, links};

/// Sequences after the first.
const ROUNDS: usize = 21;

/// Pages of each section, its index left out.
const SECTIONS: [(&str, usize); 3] = [("docs", 120), ("news", 100), ("shop", 76)];

/// Pages behind the log-in: 15 % of the site.
const BEHIND_WALL: std::ops::RangeInclusive<usize> = 1..=45;

/// Pages of the shop that move: most of the section, and less of the site than may change at once.
const MOVED: std::ops::RangeInclusive<usize> = 1..=45;

/// A site, and what is to be reported of it.
struct Month {
    site: Site,
    /// What each page says of its own.
    texts: BTreeMap<String, String>,
    /// Addresses that answer something else than their page.
    elsewhere: BTreeMap<String, Answer>,
    /// More links of each index.
    added: BTreeMap<&'static str, Vec<String>>,
    menu: &'static str,
    footer: &'static str,
    /// What moves by itself.
    noise: &'static str,
    markup: &'static str,
    expected: Vec<String>,
    /// Lines that were to be reported so far.
    lines: usize,
    /// What is to be reported with the next sequence.
    next: Vec<String>,
}

fn text(path: &str, edition: usize) -> String {
    let line = |number: usize| format!("In edition {edition} line {number} of {path} says {}", number * (edition + 7));
    (0..8).map(line).collect::<Vec<_>>().join("\n")
}

impl Month {
    fn new(noise: &'static str) -> Self {
        let pages =
            SECTIONS.iter().flat_map(|(section, pages)| (1..=*pages).map(move |page| format!("/{section}/{page}")));
        let mut month = Self {
            site: Site::of([""; 0]),
            texts: pages.map(|path| (path.clone(), text(&path, 0))).collect(),
            elsewhere: BTreeMap::new(),
            added: BTreeMap::new(),
            menu: "Home, docs, news and shop",
            footer: "Copyright 2023",
            noise,
            markup: "p",
            expected: Vec::new(),
            lines: 0,
            next: Vec::new(),
        };
        month.publish();
        month
    }

    /// Has the server answer what the site is now.
    fn publish(&mut self) {
        for (path, text) in &self.texts {
            let page = self.page(text);
            self.site.set(path, page);
        }
        for (section, pages) in SECTIONS {
            let own = (1..=pages).map(|page| format!("/{section}/{page}"));
            let added = self.added.get(section).into_iter().flatten().cloned();
            let Answer::Page(body) = self.page(&format!("All of {section}")) else { unreachable!() };
            self.site.set(&format!("/{section}/"), Answer::Page(body + &links(own.chain(added))));
        }
        let Answer::Page(body) = self.page("The beginning") else { unreachable!() };
        self.site.set("/", Answer::Page(body + &links(SECTIONS.map(|(section, _)| format!("/{section}/")))));
        for (path, answer) in &self.elsewhere {
            self.site.set(path, answer.clone());
        }
    }

    fn page(&self, text: &str) -> Answer {
        let tag = self.markup;
        let line = |line: &str| format!("<{tag}>{line}</{tag}>\n");
        let text: String = text.lines().map(line).collect();
        Answer::Page(line(self.menu) + self.noise + &text + &line(self.footer))
    }

    /// How many pages are there.
    fn count(&self) -> usize {
        self.texts.keys().filter(|path| !self.elsewhere.contains_key(*path)).count() + SECTIONS.len() + 1
    }

    fn expect(&mut self, lines: impl IntoIterator<Item = String>) {
        self.expected.extend(lines);
    }

    fn edit(&mut self, path: &str, edition: usize) {
        self.texts.insert(path.to_owned(), text(path, edition));
        self.expect([format!("changed_text {path}")]);
    }

    /// Ten pages say something new.
    fn edit_ten(&mut self, round: usize) {
        let docs = (0..6).map(|number| format!("/docs/{}", (round * 6 + number) % 90 + 1));
        let news = (0..4).map(|number| format!("/news/{}", (round * 4 + number) % 50 + 51));
        docs.chain(news).for_each(|path| self.edit(&path, round));
    }

    fn edit_footer(&mut self, footer: &'static str) {
        self.footer = footer;
        self.expect([format!("site_wide x{}", self.count())]);
    }

    /// What moves is beside it.
    fn edit_menu(&mut self) {
        self.menu = "Home, docs, news, shop and jobs";
        self.expect([format!("site_wide x{}", self.count())]);
    }

    /// What is not found is gone at the second look.
    fn delete(&mut self, path: &str, status: u16) {
        self.elsewhere.insert(path.to_owned(), Answer::Status(status));
        let gone = format!("gone {path}");
        if status == 410 { self.expected.push(gone) } else { self.next.push(gone) }
    }

    fn bring_back(&mut self, path: &str) {
        self.elsewhere.remove(path);
        self.expect([format!("back {path}")]);
    }

    /// Docs that are elsewhere from now on, and not found where they were.
    fn rename(&mut self, page: usize) {
        let (from, to) = (format!("/docs/{page}"), format!("/docs/renamed-{page}"));
        self.texts.insert(to.clone(), self.texts[&from].clone());
        self.elsewhere.insert(from.clone(), Answer::Status(404));
        self.added.entry("docs").or_default().push(to.clone());
        self.next.push(format!("moved {from} -> {to}"));
    }

    /// Much of the shop is redirected page by page: so much at once is reported after a second look.
    fn move_shop(&mut self) {
        for page in MOVED {
            let (from, to) = (format!("/shop/{page}"), format!("/store/{page}"));
            self.texts.insert(to.clone(), self.texts[&from].clone());
            self.elsewhere.insert(from.clone(), Answer::Redirect(to.clone()));
            self.next.push(format!("moved {from} -> {to}"));
        }
    }

    /// Half of the docs is not found for a round: all changes of the host wait for the next.
    fn outage(&mut self) {
        for page in 1..=100 {
            self.elsewhere.insert(format!("/docs/{page}"), Answer::Status(404));
        }
        self.next.append(&mut self.expected);
    }

    fn outage_ends(&mut self) {
        (1..=100).for_each(|page| drop(self.elsewhere.remove(&format!("/docs/{page}"))));
    }

    fn wall(&mut self) {
        let log_in = self.page("Please log in\nwith your name and password");
        for page in BEHIND_WALL {
            self.elsewhere.insert(format!("/news/{page}"), log_in.clone());
            self.expect([format!("unreachable /news/{page}")]);
        }
    }

    fn wall_falls(&mut self) {
        for page in BEHIND_WALL {
            self.elsewhere.remove(&format!("/news/{page}"));
            self.expect([format!("reachable /news/{page}")]);
        }
    }

    /// Every page has other markup, and says what it said.
    fn redesign(&mut self) {
        self.markup = "div";
        let indices = SECTIONS.iter().map(|(section, _)| format!("/{section}/")).chain(["/".to_owned()]);
        let there = self.texts.keys().filter(|path| !self.elsewhere.contains_key(*path)).cloned();
        let edited = |path: &String| self.expected.contains(&format!("changed_text {path}"));
        let changed: Vec<_> = indices.chain(there).filter(|path| !edited(path)).collect();
        self.expect(changed.into_iter().map(|path| format!("changed {path}")));
    }

    /// One page shows three texts in turn.
    fn rotate(&mut self, round: usize) {
        let Some(turn) = round.checked_sub(13) else { return };
        self.texts.insert("/docs/111".to_owned(), text("/docs/111", (turn + 1) % 3));
        let reported = ["changed_text", "changed_text", "reverted", "reverted", "volatile"];
        self.expect(reported.get(turn).map(|change| format!("{change} /docs/111")));
    }

    fn events(&mut self, round: usize) {
        match round {
            2 | 20 => self.edit_footer(if round == 2 { "Copyright 2024" } else { "Copyright 2025" }),
            3 => [(101, 404), (102, 404), (103, 404), (104, 410)]
                .into_iter()
                .for_each(|(page, status)| self.delete(&format!("/docs/{page}"), status)),
            5 => self.outage(),
            6 => self.outage_ends(),
            7 => self.move_shop(),
            8 => [3, 20, 40].into_iter().for_each(|page| self.edit(&format!("/store/{page}"), 8)),
            4 => self.edit_menu(),
            10 => self.wall(),
            11 => drop(self.texts.insert("/news/7".to_owned(), text("/news/7", 11))),
            12 => {
                self.wall_falls();
                self.expect(["changed_text /news/7".to_owned()]);
            }
            14 => self.redesign(),
            15 => {
                for page in [105, 106, 107] {
                    self.rename(page);
                }
                self.expect(["changed /docs/".to_owned()]);
            }
            16 => self.edit("/docs/renamed-106", 16),
            17 => ["/docs/101", "/docs/104"].into_iter().for_each(|path| self.bring_back(path)),
            19 => {
                self.texts.insert("/store/3".to_owned(), text("/shop/3", 0));
                self.expect(["reverted /store/3".to_owned()]);
            }
            _ => {}
        }
    }

    /// What is reported and should not be, and what should and is not.
    fn round(&mut self, round: usize) -> Vec<String> {
        self.expected = std::mem::take(&mut self.next);
        self.edit_ten(round);
        self.rotate(round);
        self.events(round);
        self.publish();
        let mut faults = Vec::new();

        // On pages of which bytes move, no change of bytes alone is reported.
        self.expected.retain(|line| self.noise.is_empty() || !line.starts_with("changed /"));
        self.lines += self.expected.len();
        for line in self.site.again(&SOON) {
            if let Some(place) = self.expected.iter().position(|expected| *expected == line) {
                drop(self.expected.swap_remove(place));
            } else {
                println!("{}", self.site.changes(&["--diff", "--since", "last", "--format", "jsonl"]).stdout);
                faults.push(format!("round {round}: {line} is reported"));
            }
        }
        faults.extend(self.expected.drain(..).map(|line| format!("round {round}: {line} is not reported")));
        faults
    }
}

#[test]
fn a_month() {
    still_or_not("");
}

#[test]
fn a_month_of_pages_that_move_by_themselves() {
    still_or_not(NOISE);
}

fn still_or_not(noise: &'static str) {
    let mut month = Month::new(noise);
    assert_eq!(month.count(), 300);
    month.site.crawl(&TEXT);
    let faults: Vec<_> = (1..=ROUNDS).flat_map(|round| month.round(round)).collect();
    // What moves may show by chance what was there before: one line in a hundred may be false, and none missing.
    let most = if noise.is_empty() { 0 } else { month.lines / 100 };
    assert!(faults.len() <= most && faults.iter().all(|fault| fault.ends_with(" is reported")), "{faults:#?}");
}
