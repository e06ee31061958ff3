//! Power loss: what was not synced is gone, or half there.

use std::{
    fs::{self, File},
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context, Result, ensure};
use tempfile::TempDir;
use webloom_practice::Shape;
use webloom_tests::webloom::assert_clean;

use super::{
    random::Random,
    siege::{Moment, Siege},
    site::Site,
};

const DATABASE: &str = "webloom.sqlite";
const LOG: &str = "webloom.sqlite-wal";

/// What is left of a database and its log.
#[derive(Debug, Clone, Copy)]
enum Left {
    /// Each as it was when it was last synced.
    Synced,
    /// Each as it is, cut to its length at its last sync.
    Cut,
    /// Each as it is, cut to some length from that on.
    CutAbove,
}

/// Watches the syncs of a process.
struct Watch {
    folder: TempDir,
    library: PathBuf,
}

impl Watch {
    fn build() -> Result<Self> {
        let folder = tempfile::tempdir()?;
        let library = folder.path().join("syncs.so");
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/kills/syncs.c");
        let built = Command::new("cc").args(["-shared", "-fPIC", "-O1", "-o"]).args([&library, &source]).output()?;
        ensure!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
        Ok(Self { folder, library })
    }

    /// The length of a file at its last sync; 0 when there was none.
    fn length(&self, name: &str) -> Result<u64> {
        let lengths = fs::read_to_string(self.folder.path().join("lengths"))?;
        let last = lengths.lines().rev().find(|line| line.split(' ').next() == Some(name));
        let place = if name == DATABASE { 1 } else { 2 };
        let field = last.map(|line| line.split(' ').nth(place).context("three fields")).transpose()?;
        Ok(field.map(str::parse).transpose()?.unwrap_or(0))
    }

    /// Takes from a crawl directory what a power loss would take.
    fn lose(&self, dir: &Path, left: Left, random: &mut Random) -> Result<()> {
        // Its shared memory never survives.
        drop(fs::remove_file(dir.join("webloom.sqlite-shm")));
        for name in [DATABASE, LOG] {
            let (file, copy) = (dir.join(name), self.folder.path().join(name));
            let (now, synced) = (fs::metadata(&file).map_or(0, |file| file.len()), self.length(name)?);
            println!("{left:?}: {name} has {now} bytes, {synced} when it was synced last");
            match left {
                Left::Synced if copy.exists() => drop(fs::copy(copy, file)?),
                Left::Synced => drop(fs::remove_file(file)),
                Left::Cut => cut(&file, synced.min(now))?,
                Left::CutAbove => cut(&file, synced.min(now) + random.up_to(now.saturating_sub(synced) + 1) - 1)?,
            }
        }
        Ok(())
    }
}

#[test]
fn a_power_loss_loses_nothing_for_good() -> Result<()> {
    let site = Site::practice(Shape { pages: 1500, hub_links: 800, ..Shape::default() })?;
    let mut random = Random(7);
    for (left, flags, last) in [
        (Left::Synced, ["--cache", "exact"].as_slice(), "after_checkpoint"),
        (Left::Cut, &[], "before_checkpoint"),
        (Left::CutAbove, &["--cache", "exact"], "before_close"),
    ] {
        let watch = Watch::build()?;
        let mut siege = Siege::lay(&site, flags)?;
        // Slow enough for a sync a second to come between; the last moment is about the checkpoint at the end.
        siege.flags.extend(["--max-rate", "400"]);
        let created = Moment::At("after_create", 1);
        let middle = [created, Moment::After(1200), Moment::At("before_commit", 8), Moment::At("after_commit", 12)];
        for moment in middle.into_iter().chain([Moment::At(last, 1)]) {
            let crawl = siege.crawl().env("LD_PRELOAD", &watch.library.display().to_string());
            let run =
                siege.run_into(moment, crawl.env("WEBLOOM_SYNCED", &watch.folder.path().display().to_string()))?;
            ensure!(run.code.is_none(), "{moment:?}: it was not killed: {run:?}");
            let least = if matches!(moment, Moment::At("after_create", _)) { 0 } else { 1 << 16 };
            ensure!(watch.length(LOG)? > least, "{moment:?}: nothing was synced since the crawl began");
            watch.lose(siege.dir.path(), left, &mut random)?;
            assert_clean(siege.dir.path());
            println!("{left:?} {moment:?}: {} pages left to fetch", siege.left());
        }
        siege.end_after_losses()?;
    }
    Ok(())
}

fn cut(file: &Path, length: u64) -> Result<()> {
    match File::options().write(true).open(file) {
        Ok(file) => Ok(file.set_len(length)?),
        Err(_) if length == 0 => Ok(()),
        Err(error) => Err(error.into()),
    }
}
