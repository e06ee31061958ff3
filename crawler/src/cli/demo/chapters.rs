//! The five chapters of the demo.
//!
//! Owns: the commands of each chapter, which lines of their output it shows, and what it states.
//!
//! Invariants: a figure in a statement comes from the run; the figure it is compared with comes from the practice site.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::{Duration, Instant},
};

use webloom_practice::OUTAGE;

use super::{
    chapter::Chapter,
    tour::{FIRST, Tour, command_line, quoted},
};
use crate::{
    cli::{CommandFailure, directory},
    store::PageOutcome,
};

/// For one's own server: no pause, and some requests at once.
const FAST: [&str; 4] = ["--delay", "0", "--per-host", "8"];

/// Slow enough for something to happen in mid-crawl.
const SLOWER: [&str; 2] = ["--max-rate", "300"];

/// Requests after which it happens.
const MID_CRAWL: usize = 250;

/// What a kill may have fetched again: the requests in flight, and the visits that are not committed yet.
const MOST_REPEATED: usize = 208;

/// Time between two looks at a running crawl.
const LOOK: Duration = Duration::from_millis(100);

/// The chapters, with what they showed.
#[derive(Debug)]
pub(super) struct Story {
    pub(super) chapters: Vec<Chapter>,
}

impl Story {
    /// Whether every statement holds.
    pub(super) fn holds(&self) -> bool {
        self.wrong() == 0
    }

    /// How many statements do not.
    pub(super) fn wrong(&self) -> usize {
        self.chapters.iter().map(Chapter::wrong).sum()
    }

    /// How many there are.
    pub(super) fn statements(&self) -> usize {
        self.chapters.iter().map(Chapter::statements).sum()
    }

    /// How long it took.
    pub(super) fn seconds(&self) -> f64 {
        self.chapters.iter().map(Chapter::seconds).sum()
    }
}

/// All of them, one after another.
pub(super) async fn all(tour: &Tour) -> Result<Story, CommandFailure> {
    let url = tour.server().url();
    tour.screen().text(&format!("A tour of webloom in five chapters, on a practice site at {url}"))?;
    let chapters =
        vec![crawl(tour).await?, tiny_filter(tour).await?, kill(tour).await?, change(tour).await?, outage(tour).await?];
    Ok(Story { chapters })
}

/// A crawl of the site into the directory of this name.
fn crawl_of<'a>(url: &'a str, dir: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    [&["crawl", url, "-d", dir], &FAST[..], more].concat()
}

/// A whole crawl.
async fn crawl(tour: &Tour) -> Result<Chapter, CommandFailure> {
    tour.screen().heading("1. Crawl")?;
    tour.screen().text("It follows every link of the site once, obeys robots.txt, and names what is broken.")?;
    let mut chapter = Chapter::begin("crawl");
    let url = tour.server().url();
    let dir = tour.dir(FIRST);
    let output = tour.run(&mut chapter, &crawl_of(&url, &dir, &[])).await?;
    tour.excerpt(&output, &["Complete", "URLs  "])?;
    let output = tour.run(&mut chapter, &["check", &dir]).await?;
    tour.excerpt(&output, &["clean"])?;
    let truth = tour.server().site().truth();
    let log = tour.server().log();
    let asked: BTreeSet<_> = log.iter().map(|request| request.path.as_str()).collect();
    let stored = tour.paths(FIRST, PageOutcome::Stored)?;
    let broken = tour.paths(FIRST, PageOutcome::Broken)?;
    let is_whole = stored.iter().eq(truth.stored.keys()) && broken.iter().eq(truth.broken.keys());
    let text =
        format!("all {} pages of the site are stored, and its {} broken links are named", stored.len(), broken.len());
    tour.state(&mut chapter, &text, is_whole)?;
    let obeyed = truth.forbidden.iter().all(|path| !asked.contains(path.as_str()));
    let forbidden = truth.forbidden.len();
    let text = format!("no URL was asked for twice, and none of the {forbidden} URLs that robots.txt forbids");
    tour.state(&mut chapter, &text, obeyed && asked.len() == log.len())?;
    chapter.set("pages", stored.len());
    chapter.set("broken", truth.broken.len());
    chapter.set("requests", log.len());
    chapter.set("forbidden", forbidden);
    Ok(chapter.end())
}

/// A filter that loses pages.
async fn tiny_filter(tour: &Tour) -> Result<Chapter, CommandFailure> {
    tour.screen().heading("2. A filter that is far too small")?;
    tour.screen()
        .text("A full filter takes new URLs for seen ones: these are lost. The audit counts them during the crawl,")?;
    tour.screen()
        .text("and the sweep finds them at the end. The first run only reports them, the second one fetches them.")?;
    let mut chapter = Chapter::begin("tiny filter");
    let url = tour.server().url();
    let dir = tour.dir("tiny");
    let tiny = ["--expected-urls", "200", "--max-lost-urls", "none", "--reset", "none"];
    let unaided = ["--audit-rescue", "off", "--sweep", "report"];
    let output = tour.run(&mut chapter, &crawl_of(&url, &dir, &[tiny.as_slice(), &unaided].concat())).await?;
    tour.excerpt(&output, &["Finished", "audited", "swept"])?;
    let truth = tour.server().site().truth();
    let pages = truth.stored.len();
    let before = tour.paths("tiny", PageOutcome::Stored)?;
    let missing = truth.stored.keys().filter(|path| !before.contains(*path)).count();
    let cache = tour.summary("tiny")?["cache"].take();
    let seen = cache["audit"]["false_positives"].as_u64().unwrap_or_default();
    let agree = seen > 0 && missing > 0 && cache["sweep"]["lost"] == seen;
    let text =
        format!("audit and sweep both find {seen} lost URLs; because of them {missing} of {pages} pages are missing");
    tour.state(&mut chapter, &text, agree)?;
    let output = tour.run(&mut chapter, &["crawl", "-d", &dir, "--sweep", "rescue"]).await?;
    tour.excerpt(&output, &["Complete", "swept"])?;
    let stored = tour.paths("tiny", PageOutcome::Stored)?;
    let is_whole = stored.iter().eq(truth.stored.keys());
    let swept = tour.summary("tiny")?["cache"]["sweep"].take();
    let meanwhile = swept["lost"].as_u64().unwrap_or_default().saturating_sub(seen);
    let text = format!(
        "all {missing} are fetched, although the filter lost {meanwhile} more URLs meanwhile: {} of {pages} are stored",
        stored.len()
    );
    tour.state(&mut chapter, &text, is_whole)?;
    chapter.set("pages", pages);
    chapter.set("lost", seen);
    chapter.set("missing", missing);
    chapter.set("missing_after_sweep", truth.stored.keys().filter(|path| !stored.contains(*path)).count());
    chapter.set("sweep", swept);
    Ok(chapter.end())
}

/// A crawl that is killed, and goes on.
async fn kill(tour: &Tour) -> Result<Chapter, CommandFailure> {
    tour.screen().heading("3. Kill it during the crawl")?;
    tour.screen().text("Everything that the crawl knows is in one SQLite file. The same command resumes the crawl.")?;
    let mut chapter = Chapter::begin("kill");
    let url = tour.server().url();
    let dir = tour.dir("killed");
    let begun = tour.server().log().len();
    let arguments = crawl_of(&url, &dir, &SLOWER);
    tour.show(&mut chapter, &command_line(&arguments))?;
    let killed = tour.execute_and_kill(&arguments, begun + MID_CRAWL).await?;
    tour.show(&mut chapter, &format!("kill -9 {}", killed.unwrap_or_default()))?;
    let kept = tour.paths("killed", PageOutcome::Stored)?.len();
    let resumed = tour.server().log().len();
    let is_partly = killed.is_some() && kept > 0 && kept < tour.server().site().truth().stored.len();
    tour.state(
        &mut chapter,
        &format!("it was killed after {} requests, and {kept} pages were kept", resumed - begun),
        is_partly,
    )?;
    let output = tour.run(&mut chapter, &["crawl", "-d", &dir]).await?;
    tour.excerpt(&output, &["Complete", "URLs  "])?;
    let log = tour.server().log();
    let first: BTreeSet<_> = log[begun..resumed].iter().map(|request| &request.path).collect();
    let repeated = log[resumed..].iter().filter(|request| first.contains(&request.path)).count();
    let stored = tour.paths("killed", PageOutcome::Stored)?;
    let is_whole = stored.iter().eq(tour.server().site().truth().stored.keys()) && repeated <= MOST_REPEATED;
    let again = format!(
        "all {} pages are stored; {repeated} requests were made again, as their results were not saved",
        stored.len()
    );
    tour.state(&mut chapter, &again, is_whole)?;
    chapter.set("requests_before", resumed - begun);
    chapter.set("kept", kept);
    chapter.set("requests_after", log.len() - resumed);
    chapter.set("repeated", repeated);
    chapter.set("pages", stored.len());
    Ok(chapter.end())
}

/// The site changes.
async fn change(tour: &Tour) -> Result<Chapter, CommandFailure> {
    tour.screen().heading("4. The site changes")?;
    tour.screen()
        .text("Pages are edited, removed and added. --again asks for every known page and shows what has changed.")?;
    let mut chapter = Chapter::begin("change");
    let url = tour.server().url();
    let dir = tour.dir(FIRST);
    let before = tour.server().site();
    tour.show(&mut chapter, &format!("curl -X POST {url}next-version"))?;
    tour.server().next_version();
    let output = tour.run(&mut chapter, &["crawl", "-d", &dir, "--again"]).await?;
    tour.excerpt(&output, &["changes  "])?;
    let output = tour.run(&mut chapter, &["changes", &dir, "--since", "1"]).await?;
    let listed = tour.changes(FIRST)?;
    excerpt_of_changes(tour, &output, listed.keys())?;
    let truth = tour.server().site().changes_since(&before);
    let expected = BTreeMap::from([("changed", &truth.changed), ("gone", &truth.gone), ("new", &truth.new)]);
    let [changed, gone, new] = [&truth.changed, &truth.gone, &truth.new].map(BTreeSet::len);
    let is_listed =
        listed.len() == expected.len() && listed.iter().all(|(kind, paths)| expected.get(&**kind) == Some(&paths));
    tour.state(
        &mut chapter,
        &format!("{changed} pages changed, {gone} are gone and {new} are new: these were listed, and no others"),
        is_listed,
    )?;
    chapter.set("changed", changed);
    chapter.set("gone", gone);
    chapter.set("new", new);
    Ok(chapter.end())
}

/// Shows a line for each kind of change: of a line only the kind and the URL.
fn excerpt_of_changes<'a>(
    tour: &Tour,
    output: &str,
    kinds: impl Iterator<Item = &'a String>,
) -> Result<(), CommandFailure> {
    let site = tour.server().url();
    for kind in kinds {
        let mut lines = output.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
        let line = lines.find(|words| words.contains(&&**kind));
        let url = line.and_then(|words| words.into_iter().find(|word| word.starts_with(&site)));
        tour.screen().output(&format!("{kind:<8} {}", url.unwrap_or_default()))?;
    }
    Ok(())
}

/// The server is away for a while.
async fn outage(tour: &Tour) -> Result<Chapter, CommandFailure> {
    let seconds = OUTAGE.as_secs();
    tour.screen().heading("5. An outage")?;
    tour.screen().text(&format!(
        "The server refuses every connection for {seconds} s during the crawl. The crawl waits and gives up no page."
    ))?;
    let mut chapter = Chapter::begin("outage");
    let url = tour.server().url();
    let dir = tour.dir("outage");
    let begun = tour.server().log().len();
    let arguments = crawl_of(&url, &dir, &SLOWER);
    tour.show(&mut chapter, &command_line(&arguments))?;
    tour.show(&mut chapter, &format!("curl -X POST {url}outage"))?;
    let away = async {
        tour.server().logged(begun + MID_CRAWL).await;
        tour.server().go_down(OUTAGE);
        while_away(tour, &dir).await
    };
    let (output, status) = tokio::try_join!(tour.execute(&arguments), away)?;
    tour.show(&mut chapter, &format!("webloom status {}", quoted(&dir)))?;
    tour.excerpt(&status, &["no answer"])?;
    tour.screen().output("# the crawl, after the outage:")?;
    tour.excerpt(&output, &["Complete", "URLs  "])?;
    let figures = tour.summary("outage")?;
    let failed = figures["pages"]["failed"].as_u64();
    let refused: u64 =
        figures["requests"]["errors"].as_object().into_iter().flatten().filter_map(|(_, count)| count.as_u64()).sum();
    let stored = tour.paths("outage", PageOutcome::Stored)?;
    let is_whole = stored.iter().eq(tour.server().site().truth().stored.keys()) && failed == Some(0) && refused > 0;
    let text =
        format!("{refused} requests got no answer, but all {} pages are stored and none has failed", stored.len());
    tour.state(&mut chapter, &text, is_whole)?;
    chapter.set("away_seconds", seconds);
    chapter.set("pages", stored.len());
    chapter.set("failed", failed);
    chapter.set("errors", figures["requests"]["errors"].clone());
    Ok(chapter.end())
}

/// What `webloom status` says while the server is away, as soon as the crawl has noticed.
async fn while_away(tour: &Tour, dir: &str) -> Result<String, CommandFailure> {
    let began = Instant::now();
    let has_noticed = || directory::summary(dir.as_ref()).is_ok_and(|summary| summary.unhealthy_hosts > 0);
    while began.elapsed() < OUTAGE && !has_noticed() {
        tokio::time::sleep(LOOK).await;
    }
    tour.execute(&["status", dir]).await
}
