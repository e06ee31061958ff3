//! A site whose pages move by themselves at each look, and are edited at known moments. It may be redesigned, some of its pages may be
//! redirected for good, and others be behind a log-in for days. Is each edit reported once, and nothing else, whatever is killed, away,
//! offline or out of file descriptors meanwhile?
//!
//! `SEEDS=1000` runs more; `SEED=17` runs one and shows its steps.

mod page;

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    sync::{Arc, Mutex},
};

use page::{ALL, Moving, Shown};
pub(super) use page::{NoisyAnswer, NoisyPage};

use super::{
    Random,
    crawl::{NextRun, Past, SimulatedCrawl},
    faults::{HOUR, MINUTE, Outage, SECOND, Trouble},
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
const SEEDS: u64 = 24;

/// Those that have found a bug: what waits to be known to stay was forgotten where a page was in doubt, or never counted.
const FOUND: [u64; 2] = [44, 71];

const ORIGIN: &str = "http://h0.test";

const DAY: u64 = 24 * HOUR;

/// Sequences in which pages are edited, and those after them in which nothing is.
const EDITED: u64 = 10;
const QUIET: u64 = 4;

/// An edit is reported so many sequences after the one that saw it at the latest.
const LATEST: u64 = 4;

/// Pages behind a log-in, at least, and for how long.
const WALLED: u64 = 6;
const WALL: u64 = 4 * DAY;

/// Second looks that any sequence may have.
const FEWEST: usize = 10;

/// The longest time without file descriptors.
const OWN_FAULT: u64 = 30 * SECOND;

/// A moment of a day: often one at which the site is crawled.
fn moment(random: &mut Random) -> u64 {
    let most = if random.percent(30) { MINUTE } else { DAY };
    random.below(most)
}

/// A site, and how it is crawled.
struct Site {
    pages: BTreeMap<String, Arc<NoisyPage>>,
    outages: Vec<Outage>,
    /// Times in which no request can be made, from and to.
    own_faults: Vec<(u64, u64)>,
    settings: Stage,
}

impl Site {
    fn new(random: &mut Random) -> Self {
        let is_large = random.percent(5);
        let (size, sections) = if is_large { (150, 15) } else { (12 + random.below(30), 3) };
        let path = |page: u64| if page == 0 { "/0".to_owned() } else { format!("/{}/{page}", page % sections) };
        let moving: Vec<Moving> = ALL.into_iter().filter(|_| random.percent(35)).collect();
        let share = random.pick(&[5, 5, 10, 10, 60]);
        let day = |random: &mut Random| (1 + random.below(EDITED - 5)) * DAY + moment(random);
        let redesign = if random.percent(25) { day(random) } else { u64::MAX };
        // Of what fewer than five pages show at first it is not known that it is in the place of many.
        let from = (1 + random.below(EDITED - 5)) * DAY + HOUR + random.below(DAY - HOUR);
        let wall = if random.percent(25) && size > 3 * WALLED { from..from + WALL } else { 0..0 };
        let one = if random.percent(30) { 1 + random.below(size - 1) } else { 0 };
        let page = |number: u64, random: &mut Random| {
            // The first sequence has seen the page by then.
            let edit = |day: u64| (number > 0 && random.percent(share)).then(|| (day * DAY + moment(random)).max(HOUR));
            let mut edits: Vec<u64> = (0..EDITED).filter_map(edit).collect();
            let next = [2 * number + 1, 2 * number + 2].into_iter().filter(|next| *next < size);
            let links = next.map(|next| ORIGIN.to_owned() + &path(next)).collect();
            let moving_at_wall = moving.clone();
            let moving = moving.iter().copied().filter(|_| random.percent(80)).collect();
            let wall = if number % 3 == 1 { wall.clone() } else { 0..0 };
            let moves = (number > 0 && number == one && number % 3 != 1)
                .then(|| (day(random), format!("{ORIGIN}/moved/{number}")));
            if let Some((at, _)) = &moves {
                // Where a page is another from the beginning where it is now, that is no edit.
                edits.retain(|edit| edit + 2 * DAY < *at || *edit > at + 2 * DAY);
            }
            (path(number), Arc::new(NoisyPage { number, moving, edits, redesign, wall, moving_at_wall, moves, links }))
        };
        let mut pages: BTreeMap<_, _> = (0..size).map(|number| page(number, random)).collect();
        let elsewhere =
            |page: &Arc<NoisyPage>| Some((page.moves.as_ref()?.1[ORIGIN.len()..].to_owned(), Arc::clone(page)));
        let elsewhere: Vec<_> = pages.values().filter_map(elsewhere).collect();
        pages.extend(elsewhere);
        let outage = |day| {
            let from = day * DAY + random.below(20 * SECOND);
            let trouble = random.pick(&[Trouble::Refused, Trouble::Hangs, Trouble::Closed, Trouble::NoRoute]);
            let outage = Outage { from, to: from + random.pick(&[SECOND, 30 * SECOND, 10 * MINUTE]), trouble };
            random.percent(15).then_some(outage)
        };
        let outages = (1..EDITED).filter_map(outage).collect();
        let own_fault = |day| {
            let from = day * DAY + random.below(40 * SECOND);
            random.percent(10).then(|| (from, from + random.pick(&[50, 2 * SECOND, OWN_FAULT])))
        };
        let own_faults = (1..EDITED).filter_map(own_fault).collect();
        let share = random.pick(&["0.1", "0.1", "1"]);
        let mass = random.pick(&["", "mass_share = 1\n"]);
        let settings = Stage::new(&format!(
            "[politeness]\ndelay = \"{}\"\nper_host = 1\n[change]\ntext = \"on\"\n{mass}confirm_share = {share}\n",
            random.pick(&["0s", "100ms", "1s"])
        ));
        Self { pages, outages, own_faults, settings }
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

    /// The page of an address.
    fn page(&self, url: &str) -> Option<&NoisyPage> {
        self.pages.get(url.strip_prefix(ORIGIN)?).map(|page| &**page)
    }

    /// The editions of each page that sequences saw last, each with the number of its sequence.
    fn seen(&self, crawl: &SimulatedCrawl) -> BTreeMap<u64, BTreeMap<u64, usize>> {
        let mut seen = BTreeMap::<u64, BTreeMap<u64, usize>>::new();
        for request in crawl.requests.iter().filter(|request| request.is_heard && request.is_look()) {
            let sent = request.page.as_ref().and_then(|sent| sent.digest);
            if let Some((page, _)) = self.page(&request.url).zip(sent)
                && let Some(edition) = page.shown(request.from).edition
            {
                seen.entry(page.number).or_default().insert(u64::from(request.sequence), edition);
            }
        }
        seen
    }

    /// What each copy of a page shows, by the number of the page and its digest.
    fn copies(&self, crawl: &SimulatedCrawl) -> HashMap<(u64, Vec<u8>), Shown> {
        let sent = crawl.requests.iter().filter_map(|request| {
            let page = self.page(&request.url)?;
            let digest = request.page.as_ref()?.digest?;
            Some(((page.number, digest.to_vec()), page.shown(request.from)))
        });
        sent.collect()
    }
}

/// Crawls the site day by day, each sequence in as many runs as it takes.
fn crawl(site: &Site, mut random: Random) -> Result<SimulatedCrawl, String> {
    let mut crawl = SimulatedCrawl::new(site.web(), vec![site.settings.clone()], random.clone());
    crawl.world.lock().unwrap().own_faults.clone_from(&site.own_faults);
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
                looks_are_few(&crawl, day)?;
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
    let most = 2 * TIMEOUT + looks * (2 * SECOND) + OWN_FAULT;
    match last {
        Some(last) if crawl.now > last + most => Err(format!(
            "run {} ended {} ms after its last page, with {looks} second looks",
            crawl.runs,
            crawl.now - last
        )),
        _ => Ok(()),
    }
}

/// Second looks are as few as they may be, and each page has one in a run.
fn looks_are_few(crawl: &SimulatedCrawl, sequence: u64) -> Result<(), String> {
    let of_sequence = || crawl.requests.iter().filter(|request| u64::from(request.sequence) == sequence);
    let looks: Vec<_> = of_sequence().filter(|request| request.purpose == Purpose::Confirm).collect();
    let pages: BTreeSet<_> = looks.iter().filter(|look| look.is_heard).map(|look| (look.run, &look.url)).collect();
    let heard = looks.iter().filter(|look| look.is_heard).count();
    if pages.len() < heard {
        return Err(format!("sequence {sequence} looked again at a page that it had looked at twice"));
    }
    // What was killed with its run is not counted.
    let most = (of_sequence().count() / 4).max(FEWEST);
    let runs = crawl.requests.last().map_or(0, |last| last.run) - looks.first().map_or(0, |first| first.run);
    if runs == 0 && looks.len() > most {
        return Err(format!("sequence {sequence} has {} second looks, and {most} are allowed", looks.len()));
    }
    Ok(())
}

/// What is reported, in its order: sequence, URL, class, and the copies that are compared.
type Row = (u64, String, String, Option<Vec<u8>>, Option<Vec<u8>>);

fn rows(records: &Records) -> rusqlite::Result<Vec<Row>> {
    let query = "SELECT sequence, url.url, change, before, after FROM change JOIN url ON url.id = change.url ORDER BY change.id";
    let mut select = records.connection().prepare(query)?;
    let row = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?, row.get(4)?));
    select.query_map([], row)?.collect()
}

/// What is known of a site by what was reported.
#[derive(Default)]
struct Reported {
    /// Of each edit of each page the sequence that reported it first.
    edits: BTreeMap<(u64, usize), u64>,
    /// The pages of which it was reported that an item went from a list in which others move. That it stays away is known after other edits.
    lists: BTreeSet<u64>,
    /// The sequences in which each page had a change of another class.
    others: BTreeMap<(u64, String), Vec<u64>>,
    /// Lines for which nothing was edited: in all, and in the sequences in which nothing was.
    false_lines: [usize; 2],
}

impl Reported {
    /// Takes in a change, if it may be one.
    fn take(&mut self, page: &NoisyPage, (sequence, change): (u64, &str), copies: [Shown; 2]) -> Result<(), String> {
        let [Some(before), Some(after)] = copies.map(|copy| copy.edition) else {
            return Err(format!("{change} of page {} in sequence {sequence} shows the log-in", page.number));
        };
        tracing::info!(sequence, page.number, change, before, after, "reported");
        if after < before {
            return Err(format!("{change} of page {} in sequence {sequence} leads back to {after}", page.number));
        }
        // One line for many pages, of which this is one: nothing is edited on many.
        let edits = if change == "site_wide" { 0..0 } else { before + 1..after + 1 };
        // What appeared before the last edit may have turned out to stay: that is shown with the copy from before it.
        let known = self.edits.len();
        let is_of_list = edits.contains(&page::OF_LIST) && page.moving.contains(&Moving::List);
        let is_known = self.edits.contains_key(&(page.number, page::OF_LIST));
        let is_late = is_of_list && is_known && self.lists.insert(page.number);
        for edit in edits {
            self.edits.entry((page.number, edit)).or_insert(sequence);
        }
        let is_markup = change == "changed" && copies[0].redesigned != copies[1].redesigned;
        if self.edits.len() == known && !is_markup && !is_late {
            self.false_lines[0] += 1;
            self.false_lines[1] += usize::from(sequence >= EDITED);
        }
        Ok(())
    }

    /// Whether each edit of a page is reported once it was seen, and in time.
    fn is_in_time(&self, page: &NoisyPage, seen: &BTreeMap<u64, usize>) -> Result<(), String> {
        for edit in 1..=page.edits.len() {
            let mut looks = seen.iter().filter(|(_, edition)| **edition >= edit).map(|(sequence, _)| *sequence);
            let latest = looks.nth(usize::try_from(LATEST).unwrap()).unwrap_or(u64::MAX);
            let reported = self.edits.get(&(page.number, edit));
            if reported.is_none_or(|reported| *reported > latest) {
                return Err(format!(
                    "edit {edit} of page {} is reported in {reported:?}, and was to be in {latest}",
                    page.number
                ));
            }
        }
        Ok(())
    }
}

/// How many lines are reported though nothing was edited: in all, and in the sequences in which nothing was.
fn judge(site: &Site, crawl: &SimulatedCrawl) -> Result<[usize; 2], String> {
    let records = Records::open(crawl.folder.path()).map_err(|error| error.to_string())?;
    let report = records.check().map_err(|error| error.to_string())?;
    if !report.findings.is_empty() {
        return Err(format!("{:?}", report.findings));
    }
    let copies = site.copies(crawl);
    let mut reported = Reported::default();
    for (sequence, url, change, before, after) in rows(&records).map_err(|error| error.to_string())? {
        let page = site.page(&url).ok_or_else(|| format!("{url} is no page"))?;
        if matches!(&*change, "gone" | "back" | "orphaned") {
            return Err(format!("{url} is {change} in sequence {sequence}"));
        }
        if matches!(&*change, "unreachable" | "reachable" | "moved" | "new") {
            tracing::info!(sequence, page.number, change, "reported");
            reported.others.entry((page.number, change)).or_default().push(sequence);
            continue;
        }
        let (Some(before), Some(after)) = (before, after) else { return Err(format!("{change} of {url}")) };
        let [Some(before), Some(after)] = [before, after].map(|copy| copies.get(&(page.number, copy)).copied()) else {
            return Err(format!("{change} of {url} in sequence {sequence} names a copy that its server never sent"));
        };
        reported.take(page, (sequence, &change), [before, after])?;
    }
    let seen = site.seen(crawl);
    for page in site.pages.values() {
        reported.is_in_time(page, &seen[&page.number])?;
        let expected = [
            ("unreachable", (!page.wall.is_empty()).then_some(page.wall.start)),
            ("reachable", (!page.wall.is_empty()).then_some(page.wall.end)),
            ("moved", page.moves.as_ref().map(|(at, _)| *at)),
            ("new", None),
        ];
        for (change, at) in expected {
            let sequences = reported.others.get(&(page.number, change.to_owned())).map_or(&[][..], Vec::as_slice);
            // The sequence of that day may have seen it, or the next.
            let is_expected = match (at.map(|at| at / DAY), sequences) {
                (None, []) => true,
                (Some(day), [sequence]) => (day..=day + 1 + LATEST).contains(sequence),
                _ => false,
            };
            if !is_expected {
                return Err(format!("page {} is {change} in {sequences:?}, and was at {at:?}", page.number));
            }
        }
    }
    Ok(reported.false_lines)
}

#[test]
fn what_moves_by_itself_hides_no_edit() {
    let sums = Mutex::new([0, 0, 0]);
    for_each_seed(SEEDS, &FOUND, |seed| {
        let mut random = Random::new(seed ^ 0x6E_6F69_7379);
        let site = Site::new(&mut random);
        let [all, quiet] = judge(&site, &crawl(&site, random)?)?;
        let edits: BTreeMap<_, _> = site.pages.values().map(|page| (page.number, page.edits.len())).collect();
        let edits: usize = edits.values().sum();
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

/// The masks of a crawl, and what is reported.
fn masks(crawl: &SimulatedCrawl) -> Vec<String> {
    let records = Records::open(crawl.folder.path()).unwrap();
    let query = "SELECT section || mask FROM mask UNION ALL SELECT url || masks FROM page_state WHERE masks IS NOT NULL
                 UNION ALL SELECT sequence || change || url FROM change";
    let mut select = records.connection().prepare(query).unwrap();
    select.query_map([], |row| row.get(0)).unwrap().collect::<rusqlite::Result<_>>().unwrap()
}

#[test]
fn masks_follow_from_what_servers_sent() {
    let once = |seed: u64| {
        let mut random = Random::new(seed);
        let site = Site::new(&mut random);
        masks(&crawl(&site, random).unwrap())
    };
    let mut any = false;
    for seed in 100..103 {
        let known = once(seed);
        any |= !known.is_empty();
        assert_eq!(known, once(seed), "{seed}");
    }
    assert!(any);
}
