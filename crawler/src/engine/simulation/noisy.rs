//! A site whose pages move by themselves at each look, and are edited at known moments. Is each edit reported once, and nothing else,
//! whatever is killed, full or away meanwhile?
//!
//! `SEEDS=1000` runs more; `SEED=17` runs one and shows its steps.

use std::{
    collections::{BTreeMap, HashMap},
    fmt::Write as _,
    sync::{Arc, Mutex},
};

use super::{
    Random,
    crawl::{NextRun, Past, SimulatedCrawl},
    faults::{MINUTE, Outage, SECOND, Trouble},
    for_each_seed, oracle,
    process::{Interruption, QuestionKind},
    settings::Stage,
    web::{Given, Host, SimulatedPage, SimulatedRobots, Web},
    world::TIMEOUT,
};
use crate::{
    engine::RunEnd,
    purpose::Purpose,
    store::{ReadSide, Revisit, sqlite::Records},
};

/// Seeds that are run where nothing else is said.
const SEEDS: u64 = 30;

const ORIGIN: &str = "http://h0.test";

const DAY: u64 = 86_400_000;

/// Sequences in which pages are edited, and those after them in which nothing is.
const EDITED: u64 = 10;
const QUIET: u64 = 4;

/// An edit is reported so many sequences after the one that saw it at the latest.
const LATEST: u64 = 4;

/// Lines of a page that can be edited.
const LINES: usize = 8;

/// What moves at each look.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Moving {
    /// The time, to the second.
    Clock,
    Counter,
    /// Three of twelve texts.
    Adverts,
    /// A list in any order.
    Order,
    /// The target of a link out of the scope.
    Session,
    /// What nobody sees.
    Token,
    /// The time, to the minute.
    Minutes,
    /// One of two texts, as two machines have it.
    Turns,
    /// Four items of twelve.
    List,
    /// A counter in a line that is edited.
    Beside,
}

const ALL: [Moving; 10] = [
    Moving::Clock,
    Moving::Counter,
    Moving::Adverts,
    Moving::Order,
    Moving::Session,
    Moving::Token,
    Moving::Minutes,
    Moving::Turns,
    Moving::List,
    Moving::Beside,
];

/// A page, what of it moves, and when it is edited, in milliseconds from the beginning.
#[derive(Debug)]
pub(super) struct NoisyPage {
    number: u64,
    moving: Vec<Moving>,
    edits: Vec<u64>,
    pub(super) links: Vec<String>,
}

impl NoisyPage {
    /// How often it was edited until a moment.
    fn edition(&self, at: u64) -> usize {
        self.edits.partition_point(|edit| *edit <= at)
    }

    /// What it shows at a moment.
    pub(super) fn body(&self, at: u64, random: &mut Random) -> String {
        let mut html = format!("<title>Page {0}</title><h1>Page {0}</h1>", self.number);
        let edition = self.edition(at);
        for line in 0..LINES {
            let edits = (1..=edition).filter(|edit| edit % LINES == line).count();
            let subject = WORDS[usize::try_from(self.number).unwrap() * 7 % WORDS.len()];
            let object = WORDS[(line * 5 + usize::try_from(self.number).unwrap()) % WORDS.len()];
            match line % 3 {
                0 => write!(html, "<p>The {subject} of page {} has {object}, in edition {edits}.</p>", self.number),
                1 => write!(html, "<p>{object} {} costs {} euros</p>", self.number, 20 + edits),
                _ => write!(
                    html,
                    "<div><b>{subject} {}</b> {}</div>",
                    self.number,
                    (object.to_owned() + " ").repeat(1 + edits)
                ),
            }
            .unwrap();
        }
        for moving in &self.moving {
            html.push_str(&moving.html(at, edition, random));
        }
        for link in &self.links {
            write!(html, "<a href=\"{link}\">to {link}</a>").unwrap();
        }
        html
    }
}

const WORDS: [&str; 12] = [
    "tide", "meadow", "harbor", "lantern", "copper", "sparrow", "orchard", "granite", "violin", "saddle", "thistle",
    "ember",
];

fn time_at(at: u64) -> jiff::Timestamp {
    jiff::Timestamp::from_second(1_700_000_000 + i64::try_from(at / SECOND).unwrap()).unwrap()
}

impl Moving {
    fn html(self, at: u64, edition: usize, random: &mut Random) -> String {
        match self {
            Self::Clock => format!("<p>It is {}</p>", time_at(at).strftime("%Y-%m-%d %H:%M:%S")),
            Self::Minutes => format!("<div>Made on {}</div>", time_at(at).strftime("%d %B %Y, %H:%M")),
            Self::Turns => {
                format!("<div>Served by {}</div>", ["the first", "the second"][usize::from(random.percent(50))])
            }
            Self::List => {
                let items = (0..4).map(|part| WORDS[usize::try_from(3 * part + random.below(3)).unwrap()]);
                let items: Vec<_> = items.map(|word| format!("<li>News of {word}</li>")).collect();
                format!("<h2>News</h2><ol>{}</ol>", items.concat())
            }
            Self::Beside => format!("<p>Costs {} euros, {} were sold</p>", 50 + edition, 700 + at / 500),
            Self::Counter => format!("<p>Seen {} times</p>", 10_000 + at / 100),
            Self::Adverts => {
                let first = random.below(12);
                let shown = [first, (first + 1 + random.below(5)) % 12, (first + 6 + random.below(6)) % 12];
                let adverts =
                    shown.map(|advert| format!("<p>Buy the {} now</p>", WORDS[usize::try_from(advert).unwrap()]));
                format!("<h2>Offers</h2>{}", adverts.concat())
            }
            Self::Order => {
                let mut items: Vec<String> = WORDS[..6].iter().map(|word| format!("<li>All on {word}</li>")).collect();
                for last in (1..items.len()).rev() {
                    items.swap(last, usize::try_from(random.below(last as u64 + 1)).unwrap());
                }
                format!("<h2>Related</h2><ul>{}</ul>", items.concat())
            }
            Self::Session => format!("<a href=\"http://elsewhere.test/in?session={:x}\">Log in</a>", random.next()),
            Self::Token => format!("<input type=\"hidden\" value=\"{:x}\">", random.next()),
        }
    }
}

/// A site, and how it is crawled.
struct Site {
    pages: BTreeMap<String, Arc<NoisyPage>>,
    outages: Vec<Outage>,
    settings: Stage,
}

impl Site {
    fn new(random: &mut Random) -> Self {
        let size = 12 + random.below(30);
        let path = |page: u64| if page == 0 { "/0".to_owned() } else { format!("/{}/{page}", page % 3) };
        let moving: Vec<Moving> = ALL.into_iter().filter(|_| random.percent(35)).collect();
        let share = random.pick(&[5, 5, 10, 10, 60]);
        let page = |number: u64, random: &mut Random| {
            let edit = |day| (number > 0 && random.percent(share)).then(|| day * DAY + random.below(DAY));
            let edits = (0..EDITED).filter_map(edit).collect();
            let next = [2 * number + 1, 2 * number + 2].into_iter().filter(|next| *next < size);
            let links = next.map(|next| ORIGIN.to_owned() + &path(next)).collect();
            let moving = moving.iter().copied().filter(|_| random.percent(80)).collect();
            (path(number), Arc::new(NoisyPage { number, moving, edits, links }))
        };
        let pages = (0..size).map(|number| page(number, random)).collect();
        let outage = |day| {
            let from = day * DAY + random.below(20 * SECOND);
            let trouble = random.pick(&[Trouble::Refused, Trouble::Hangs, Trouble::Closed]);
            let outage = Outage { from, to: from + random.pick(&[SECOND, 30 * SECOND, 10 * MINUTE]), trouble };
            random.percent(15).then_some(outage)
        };
        let outages = (1..EDITED).filter_map(outage).collect();
        let share = random.pick(&["0.1", "0.1", "1"]);
        let mass = random.pick(&["", "mass_share = 1\n"]);
        let settings = Stage::new(&format!(
            "[politeness]\ndelay = \"{}\"\nper_host = 1\n[change]\ntext = \"on\"\n{mass}confirm_share = {share}\n",
            random.pick(&["0s", "100ms", "1s"])
        ));
        Self { pages, outages, settings }
    }

    fn web(&self) -> Web {
        let pages = self.pages.iter().map(|(path, page)| (path.clone(), SimulatedPage::Noisy(Arc::clone(page))));
        let host = Host {
            pages: pages.collect(),
            robots: SimulatedRobots::Missing,
            outages: self.outages.clone(),
            robots_outages: Vec::new(),
            sitemap: None,
            strain: None,
            is_given: true,
        };
        let starts = vec![Given { url: format!("{ORIGIN}/0"), guessed: false, is_added: false }];
        Web { hosts: BTreeMap::from([(ORIGIN.to_owned(), host)]), starts, is_later: false }
    }

    /// The edition of each page that each sequence saw last.
    fn seen(&self, crawl: &SimulatedCrawl) -> BTreeMap<(String, u64), usize> {
        let seen =
            crawl.requests.iter().filter(|request| request.is_heard && request.is_look()).filter_map(|request| {
                let page = self.pages.get(request.url.strip_prefix(ORIGIN)?)?;
                request.page.as_ref()?.digest?;
                Some(((request.url.clone(), u64::from(request.sequence)), page.edition(request.from)))
            });
        seen.collect()
    }

    /// The edition that each copy shows, by URL and digest.
    fn editions(&self, crawl: &SimulatedCrawl) -> HashMap<(String, Vec<u8>), usize> {
        let sent = crawl.requests.iter().filter_map(|request| {
            let page = self.pages.get(request.url.strip_prefix(ORIGIN)?)?;
            let digest = request.page.as_ref()?.digest?;
            Some(((request.url.clone(), digest.to_vec()), page.edition(request.from)))
        });
        sent.collect()
    }
}

/// Crawls the site day by day, each sequence in as many runs as it takes.
fn crawl(site: &Site, mut random: Random) -> Result<SimulatedCrawl, String> {
    let mut crawl = SimulatedCrawl::new(site.web(), vec![site.settings.clone()], random.clone());
    crawl.runs = 0;
    crawl.interrupts_always = true;
    for day in 0..EDITED + QUIET {
        crawl.now = crawl.now.max(day * DAY);
        if day > 0 {
            (crawl.next, crawl.revisit) = (NextRun::Begins, Revisit::KnownFirst);
        }
        for _ in 0..random.below(3) * u64::from(day < EDITED && random.percent(30)) {
            let soon = random.below(3 * SECOND);
            let kill = match random.below(3) {
                0 => Interruption::Kill(random.below(20 * SECOND)),
                _ => Interruption::KillAt(QuestionKind::UnsurePages, soon),
            };
            crawl.interruptions.push(kill);
        }
        for times in 0.. {
            crawl.runs += 1;
            let began = crawl.now;
            let end = crawl.run()?;
            let delay = crawl.settings.politeness.delay;
            crawl.past.push(Past { began, end, delay });
            oracle::justify(&crawl, end)?;
            if end == Some(RunEnd::Drained) {
                ends_soon(&crawl)?;
            }
            match end {
                Some(RunEnd::Drained) => break,
                None | Some(RunEnd::Signal(_) | RunEnd::Unreachable | RunEnd::Failed) if times < 30 => {
                    crawl.now += SECOND << times.min(12);
                }
                end => return Err(format!("day {day}: it ended with {end:?}")),
            }
        }
        crawl.interruptions.clear();
    }
    Ok(crawl)
}

/// A run that has nothing left but second looks does not wait for a host that is away.
fn ends_soon(crawl: &SimulatedCrawl) -> Result<(), String> {
    let of_run = || crawl.requests.iter().filter(|request| request.run == crawl.runs);
    let looks = of_run().filter(|request| request.purpose == Purpose::Confirm).count() as u64;
    let last = of_run().filter(|request| request.purpose != Purpose::Confirm).map(|request| request.to).max();
    // Each look may wait for its turn and for the next second.
    let most = 2 * TIMEOUT + looks * (2 * SECOND);
    match last {
        Some(last) if crawl.now > last + most => Err(format!(
            "run {} ended {} ms after its last page, with {looks} second looks",
            crawl.runs,
            crawl.now - last
        )),
        _ => Ok(()),
    }
}

/// What is reported, in its order: sequence, URL, class, and the copies that are compared.
type Row = (u64, String, String, Vec<u8>, Vec<u8>);

fn rows(records: &Records) -> rusqlite::Result<Vec<Row>> {
    let query = "SELECT sequence, url.url, change, before, after FROM change JOIN url ON url.id = change.url
                 WHERE before IS NOT NULL AND after IS NOT NULL ORDER BY change.id";
    let mut select = records.connection().prepare(query)?;
    let row = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?, row.get(4)?));
    select.query_map([], row)?.collect()
}

/// How many lines are reported though nothing was edited: in all, and in the sequences in which nothing was.
fn judge(site: &Site, crawl: &SimulatedCrawl) -> Result<[usize; 2], String> {
    let records = Records::open(crawl.folder.path()).map_err(|error| error.to_string())?;
    let report = records.check().map_err(|error| error.to_string())?;
    if !report.findings.is_empty() {
        return Err(format!("{:?}", report.findings));
    }
    let editions = site.editions(crawl);
    let mut known: BTreeMap<String, usize> = BTreeMap::new();
    let mut reported: BTreeMap<(String, u64), usize> = BTreeMap::new();
    let mut false_lines = [0, 0];
    for (sequence, url, change, before, after) in rows(&records).map_err(|error| error.to_string())? {
        let edition = |copy: Vec<u8>| editions.get(&(url.clone(), copy)).copied();
        let (Some(before), Some(after)) = (edition(before), edition(after)) else {
            return Err(format!("{change} of {url} in sequence {sequence} names a copy that its server never sent"));
        };
        tracing::info!(sequence, url, change, before, after, "reported");
        // One line for many pages, of which this is one: nothing is edited on many.
        let is_of_many = change == "site_wide";
        let last = known.get(&url).copied().unwrap_or(0);
        // What appeared before the last edit may have turned out to stay: that is shown with the copy from before it.
        let is_nothing = is_of_many || after == last && before <= last;
        if is_nothing {
            false_lines[0] += 1;
            false_lines[1] += usize::from(sequence >= EDITED);
        } else if before > last || after < last {
            return Err(format!(
                "{change} of {url} in sequence {sequence} leads from edition {before} to {after}, and {last} was reported last"
            ));
        }
        if !is_of_many {
            reported.insert((url.clone(), sequence), after);
            known.insert(url, after);
        }
    }
    for ((url, sequence), edition) in site.seen(crawl) {
        let until = (url.clone(), 0)..=(url.clone(), sequence + LATEST);
        let last = reported.range(until).next_back().map_or(0, |(_, last)| *last);
        if last < edition && sequence + LATEST < EDITED + QUIET {
            return Err(format!(
                "edition {edition} of {url} was seen in sequence {sequence}, and is reported late: {last}"
            ));
        }
    }
    for (path, page) in &site.pages {
        let last = known.get(&(ORIGIN.to_owned() + path)).copied().unwrap_or(0);
        if last != page.edits.len() {
            return Err(format!("{path} has edition {}, and {last} was reported last", page.edits.len()));
        }
    }
    Ok(false_lines)
}

#[test]
fn what_moves_by_itself_hides_no_edit() {
    let sums = Mutex::new([0, 0, 0]);
    for_each_seed(SEEDS, &[], |seed| {
        let mut random = Random::new(seed ^ 0x6E_6F69_7379);
        let site = Site::new(&mut random);
        let [all, quiet] = judge(&site, &crawl(&site, random)?)?;
        let edits: usize = site.pages.values().map(|page| page.edits.len()).sum();
        tracing::info!(all, quiet, edits, "false lines");
        let mut sums = sums.lock().unwrap();
        for (sum, one) in sums.iter_mut().zip([all, quiet, edits]) {
            *sum += one;
        }
        Ok(())
    });
    let [all, quiet, edits] = sums.into_inner().unwrap();
    println!("{edits} edits are reported, and {all} lines are false, {quiet} of them while nothing was edited");
    // Each kind of noise must be seen before it is known; a time to the minute by a change of the day.
    assert!(all <= edits / 15 && quiet <= edits / 200, "{all} and {quiet} of {edits}");
}
