//! [`Siege`]: one crawl that is killed again and again, and judged after every kill and at its end.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
};

use anyhow::{Context, Result, ensure};
use rusqlite::{Connection, OpenFlags};
use rustix::process::Signal;
use tempfile::TempDir;
use webloom_tests::{
    archive,
    webloom::{Webloom, assert_clean, with_outcome},
};

use super::site::Site;

/// Requests to the one host at a time.
pub(crate) const PER_HOST: usize = 8;

/// The URLs with a visit in the last sequence.
const VISITED: &str = "SELECT url.url FROM url JOIN visit ON visit.id = url.visit
                       WHERE visit.sequence = (SELECT max(n) FROM sequence)";

/// Visits that may be sent and not committed (the design's bound).
const UNCOMMITTED: usize = 200;

/// When a crawl is killed.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Moment {
    /// At the n-th passage of a named fail point.
    At(&'static str, u64),
    /// When the server has logged so many requests of the run.
    After(u64),
}

/// A crawl under siege.
#[derive(Debug)]
pub(crate) struct Siege<'a> {
    site: &'a Site,
    pub(crate) dir: TempDir,
    pub(crate) flags: Vec<&'static str>,
    /// Lines of the server's log when the sequence began.
    began: usize,
    /// What has the next run begin another sequence, if it is to.
    next: &'static [&'static str],
    /// Kills so far.
    pub(crate) kills: usize,
    /// Those of them with leases in flight or a commit open.
    pub(crate) hits: usize,
    /// Requests for pages that had been asked for before.
    pub(crate) twice: usize,
}

impl<'a> Siege<'a> {
    /// Lays siege to a crawl that has not begun.
    pub(crate) fn lay(site: &'a Site, flags: &[&'static str]) -> Result<Self> {
        let (dir, began) = (tempfile::tempdir()?, site.asked()?.len());
        Ok(Self { site, dir, flags: flags.to_vec(), began, next: &[], kills: 0, hits: 0, twice: 0 })
    }

    /// Lays siege to the next sequence of a crawl that has ended, which is begun so.
    pub(crate) fn again(&mut self, how: &'static [&'static str]) -> Result<()> {
        self.began = self.site.asked()?.len();
        self.next = how;
        self.kills = 0;
        self.hits = 0;
        self.twice = 0;
        Ok(())
    }

    /// The command that begins the crawl, or goes on with it.
    pub(crate) fn crawl(&self) -> Webloom {
        let crawl = Webloom::crawl(self.dir.path(), &self.site.start).args(&self.flags);
        let crawl = crawl.args(self.next).args(["--archive", "warc"]);
        // What is fetched twice is counted.
        let crawl = crawl.env("WEBLOOM_CHANGE_CONFIRM_SHARE", "0");
        crawl.args(["--per-host", &PER_HOST.to_string()]).env("WEBLOOM_FRONTIER_HEADS_PER_HOST", "50")
    }

    /// Runs the crawl and kills it; the log is copied into the database file with nearly every commit.
    pub(crate) fn kill(&mut self, moment: Moment) -> Result<()> {
        let before = self.site.asked()?.len();
        let run = self.run_into(moment, self.crawl().env("WEBLOOM_STORE_CHECKPOINT_EVERY", "10ms"))?;
        ensure!(run.code.is_none(), "{moment:?}: it was not killed: {run:?}");
        self.next = &[];
        assert_clean(self.dir.path());
        let open = self.uncommitted(before)?;
        let most = PER_HOST + UNCOMMITTED;
        ensure!(open <= most, "{moment:?}: {open} requests were not committed, more than {most}");
        self.kills += 1;
        self.hits += usize::from(open > 0);
        println!("{moment:?}: {open} pages asked for and not committed");
        Ok(())
    }

    /// Runs until the moment has come and the process is dead; or has ended by itself.
    pub(crate) fn run_into(&self, moment: Moment, crawl: Webloom) -> Result<webloom_tests::webloom::Run> {
        match moment {
            Moment::At(name, passage) => Ok(crawl.env("WEBLOOM_FAILPOINT", &format!("{name}:{passage}")).run()),
            Moment::After(requests) => {
                let lines = self.site.asked()?.len() + usize::try_from(requests)?;
                let running = crawl.spawn();
                let came = self.site.wait_for(lines);
                running.signal(Signal::KILL);
                let run = running.wait();
                came.with_context(|| format!("{run:?}"))?;
                Ok(run)
            }
        }
    }

    /// How many pages have no visit yet.
    pub(crate) fn left(&self) -> usize {
        let visited = stored(self.dir.path()).map_or(0, |stored| stored.len());
        self.site.stored.len() - visited
    }

    /// Runs to the end: the union is the truth, and little was fetched twice.
    pub(crate) fn end(&mut self) -> Result<()> {
        self.end_after_losses()?;
        self.twice = self.repeated()?;
        let most = self.kills * (PER_HOST + UNCOMMITTED);
        ensure!(self.twice <= most, "{} pages were fetched twice, more than {most}", self.twice);
        println!("{} kills, {} hits, {} of {} pages twice", self.kills, self.hits, self.twice, self.site.stored.len());
        Ok(())
    }

    /// Runs to the end: the union is the truth.
    pub(crate) fn end_after_losses(&self) -> Result<()> {
        let summary = self.crawl().run().expect(0);
        // A crawl that was killed after its end says that nothing is left, and prints its summary too.
        ensure!(summary.json()["end"] == "drained", "{summary:?}");
        assert_clean(self.dir.path());
        archive::assert_sound(self.dir.path());
        let paths = |urls: Vec<String>| -> BTreeSet<String> { urls.iter().map(|url| self.site.path(url)).collect() };
        let shown = with_outcome(self.dir.path(), "stored");
        let rows = stored(self.dir.path())?;
        ensure!(shown.len() == rows.len(), "{} pages shown, {} rows", shown.len(), rows.len());
        let (shown, rows) = (paths(shown), paths(rows));
        ensure!(shown == rows, "`pages` shows what the rows hold");
        let missing: Vec<_> = self.site.stored.difference(&rows).take(5).collect();
        let invented: Vec<_> = rows.difference(&self.site.stored).take(5).collect();
        ensure!(missing.is_empty() && invented.is_empty(), "missing {missing:?}, invented {invented:?}");
        Ok(())
    }

    /// Pages asked for since a line of the log, and without a visit.
    fn uncommitted(&self, since: usize) -> Result<usize> {
        let visited = urls(self.dir.path(), VISITED)?;
        let visited: BTreeSet<_> = visited.iter().map(|url| self.site.path(url)).collect();
        let asked: BTreeSet<_> = self.site.asked()?.drain(since..).filter(|path| path != "/robots.txt").collect();
        Ok(asked.difference(&visited).count())
    }

    fn repeated(&self) -> Result<usize> {
        let mut times = BTreeMap::<String, usize>::new();
        for path in self.site.asked()?.drain(self.began..).filter(|path| path != "/robots.txt") {
            *times.entry(path).or_default() += 1;
        }
        Ok(times.values().map(|times| times - 1).sum())
    }
}

/// The URLs stored in the last sequence, by the rows.
fn stored(dir: &Path) -> Result<Vec<String>> {
    urls(dir, &format!("{VISITED} AND visit.outcome = 'stored'"))
}

/// The URLs that a query of the database yields.
pub(crate) fn urls(dir: &Path, query: &str) -> Result<Vec<String>> {
    // One that may not write leaves the log of a dead process as it is.
    let connection = Connection::open_with_flags(dir.join("webloom.sqlite"), OpenFlags::SQLITE_OPEN_READ_ONLY)?;
    let mut select = connection.prepare(query)?;
    let urls = select.query_map([], |row| row.get(0))?.collect::<rusqlite::Result<_>>()?;
    Ok(urls)
}
