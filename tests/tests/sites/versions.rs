//! A documentation site that becomes its next version: what is reported of it is what the files of both versions say.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result, ensure};
use serde_json::Value;
use webloom_tests::{
    debian::{self, Site},
    nginx::{Access, Nginx},
    webloom::{Webloom, assert_clean, pages_of},
};

/// What became of an address, by the files alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Fate {
    Equal,
    Changed,
    Removed,
}

/// Every change is reported of its page: no edits are reported together, none held back, and a second look is the next sequence's.
const EACH: [(&str, &str); 2] = [("WEBLOOM_CHANGE_SITE_WIDE_PAGES", "0"), ("WEBLOOM_CHANGE_MASS_SHARE", "1")];

#[test]
fn the_next_version_is_reported_page_by_page() -> Result<()> {
    let (Some(old), Some(new)) = (debian::site("libboost1.74-doc")?, debian::site("libboost1.81-doc")?) else {
        return Ok(());
    };
    let folder = tempfile::tempdir_in(old.root.ancestors().nth(5).context("the folder of sites")?)?;
    let served = folder.path().join("served");
    fs::create_dir(&served)?;
    let Some(nginx) = Nginx::serve(&served)? else { return Ok(()) };
    link_all(&old, &served)?;
    let dir = folder.path().join("crawl");
    let start = format!("{}{}", nginx.url(), old.start.trim_start_matches('/'));
    let flags = ["--delay", "0", "--per-host", "16", "--text", "on", "--gone-after", "0s", "--confirm", "0s"];
    round(Webloom::crawl(&dir, &start).args(flags))?;
    let before = stored(&dir, 0, &nginx.url())?;
    let fates: BTreeMap<&String, Fate> =
        before.iter().map(|path| Ok((path, fate(&old, &new, path)?))).collect::<Result<_>>()?;
    replace(&old, &new, &served)?;
    let asked = nginx.log()?.len();
    round(Webloom::go_on(&dir).args(["--again"]))?;
    asks(&nginx.log()?[asked..], &fates)?;
    // What is not found, and what has shrunk, is looked at once more.
    round(Webloom::go_on(&dir).args(["--again"]))?;
    let reported = reported(&dir, &nginx.url())?;
    let after = stored(&dir, 1, &nginx.url())?;
    tells(&reported, &fates, &after.difference(&before).collect())?;
    let lines = reported.values().map(Vec::len).sum::<usize>();
    round(Webloom::go_on(&dir).args(["--again"]))?;
    ensure!(
        self::reported(&dir, &nginx.url())?.values().map(Vec::len).sum::<usize>() == lines,
        "the third round tells more"
    );
    assert_clean(&dir);
    Ok(())
}

/// Each page with what was reported of it, and where it moved.
type Reported = BTreeMap<String, Vec<(String, Option<String>)>>;

fn tells(reported: &Reported, fates: &BTreeMap<&String, Fate>, added: &BTreeSet<&String>) -> Result<()> {
    let moved: BTreeSet<&String> = reported.values().flatten().filter_map(|(_, to)| to.as_ref()).collect();
    let mut wrong = Vec::new();
    let mut count: BTreeMap<String, usize> = BTreeMap::new();
    for (path, fate) in fates {
        // That nobody links to it any more says nothing of the page.
        let lines = reported.get(*path).into_iter().flatten().map(|(change, _)| change.as_str());
        let lines: Vec<_> = lines.filter(|change| *change != "orphaned").collect();
        let fits = match (fate, &lines[..]) {
            (Fate::Equal, []) => true,
            (Fate::Changed, [change]) => ["changed", "changed_text"].contains(change),
            (Fate::Removed, [change]) => ["gone", "moved"].contains(change),
            _ => false,
        };
        *count.entry(format!("{fate:?} {lines:?}")).or_default() += 1;
        if !fits {
            wrong.push(format!("{path}: {fate:?}, reported {lines:?}"));
        }
    }
    for path in added {
        let is_new = reported.get(*path).is_some_and(|lines| lines.iter().any(|(change, _)| change == "new"));
        *count.entry(format!("added, new: {is_new}")).or_default() += 1;
        if is_new == moved.contains(path) {
            wrong.push(format!("{path}: added, reported as new: {is_new}"));
        }
    }
    let others = reported.keys().filter(|path| !fates.contains_key(path) && !added.contains(path));
    wrong.extend(others.map(|path| format!("{path}: reported, and it was no page in either version")));
    println!("{count:#?}");
    ensure!(wrong.is_empty(), "{} are wrong: {:#?}", wrong.len(), &wrong[..wrong.len().min(20)]);
    ensure!(moved.iter().all(|path| added.contains(*path)), "{moved:?}");
    let of = |fate| fates.values().filter(|one| **one == fate).count();
    ensure!(of(Fate::Equal) > 50 && of(Fate::Changed) > 50 && of(Fate::Removed) > 50 && added.len() > 50, "{count:?}");
    Ok(())
}

/// What is equal is asked for once, and costs no body.
fn asks(log: &[Access], fates: &BTreeMap<&String, Fate>) -> Result<()> {
    let mut asked: BTreeMap<&str, Vec<(u16, u64)>> = BTreeMap::new();
    for line in log {
        asked.entry(&line.uri).or_default().push((line.status, line.bytes));
    }
    for (path, fate) in fates {
        let answers = asked.get(path.as_str()).map(Vec::as_slice).unwrap_or_default();
        let fits = match fate {
            Fate::Equal => answers == [(304, 0)],
            // Some are looked at twice.
            Fate::Changed => matches!(answers, [(200, _)] | [(200, _), (200, _)]),
            Fate::Removed => matches!(answers, [(404, _)]),
        };
        ensure!(fits, "{path}: {fate:?}, answered {answers:?}");
    }
    Ok(())
}

/// Runs a sequence to its end.
fn round(mut run: Webloom) -> Result<()> {
    for (name, value) in EACH {
        run = run.env(name, value);
    }
    let summary = run.run().expect(0).json();
    ensure!(summary["end"] == "drained", "{summary}");
    println!("{} s, {} requests: {}", summary["seconds"], summary["requests"]["sent"], summary["pages"]);
    Ok(())
}

/// The paths that a sequence stored.
fn stored(dir: &Path, sequence: u32, root: &str) -> Result<BTreeSet<String>> {
    let pages = pages_of(dir, sequence).into_iter().filter(|(_, page)| page["outcome"] == "stored");
    pages.map(|(url, _)| path(&url, root)).collect()
}

fn path(url: &str, root: &str) -> Result<String> {
    Ok(format!("/{}", url.strip_prefix(root).with_context(|| format!("{url} is not of this site"))?))
}

fn reported(dir: &Path, root: &str) -> Result<Reported> {
    let mut reported = Reported::new();
    for line in Webloom::new(["changes", "--format", "jsonl"]).args([dir]).run().expect(0).json_lines() {
        let text = |name: &str| line[name].as_str().map(str::to_owned);
        let to = text("to").map(|to| path(&to, root)).transpose()?;
        let page = path(line["url"].as_str().context("a URL")?, root)?;
        reported.entry(page).or_default().push((text("change").unwrap_or_default(), to));
        ensure!(line["count"] == Value::Null, "{line}");
    }
    Ok(reported)
}

/// By the bytes of both versions.
fn fate(old: &Site, new: &Site, path: &str) -> Result<Fate> {
    let [before, after] = [old, new].map(|site| fs::read(file(&site.root, path)));
    let before = before.with_context(|| format!("{path} was stored"))?;
    Ok(match after {
        Ok(after) if after == before => Fate::Equal,
        Ok(_) => Fate::Changed,
        Err(_) => Fate::Removed,
    })
}

/// The file that is served at a path.
fn file(root: &Path, path: &str) -> PathBuf {
    let mut bytes = Vec::new();
    let mut rest = path.split(['?', '#']).next().unwrap_or_default().as_bytes();
    while let Some((first, behind)) = rest.split_first() {
        let code = behind.get(..2).and_then(|code| u8::from_str_radix(std::str::from_utf8(code).ok()?, 16).ok());
        let (byte, behind) = match (first, code) {
            (b'%', Some(code)) => (code, &behind[2..]),
            _ => (*first, behind),
        };
        bytes.push(byte);
        rest = behind;
    }
    let path = root.join(String::from_utf8_lossy(&bytes).trim_start_matches('/'));
    if path.is_dir() { path.join("index.html") } else { path }
}

/// Has the server find the files of a version.
fn link_all(site: &Site, served: &Path) -> Result<()> {
    each_file(&site.root, &site.root, &mut |relative, file| link(file, &served.join(relative)))
}

/// Has it find those of the next version. A file with the bytes that it had stays, with its time, from which its `ETag` is made.
fn replace(old: &Site, new: &Site, served: &Path) -> Result<()> {
    each_file(&old.root, &old.root, &mut |relative, file| {
        let after = fs::read(new.root.join(relative));
        if after.ok() != Some(fs::read(file)?) {
            fs::remove_file(served.join(relative))?;
        }
        Ok(())
    })?;
    each_file(&new.root, &new.root, &mut |relative, file| {
        let place = served.join(relative);
        if place.exists() { Ok(()) } else { link(file, &place) }
    })
}

fn link(file: &Path, place: &Path) -> Result<()> {
    fs::create_dir_all(place.parent().context("a file has a folder")?)?;
    std::os::unix::fs::symlink(fs::canonicalize(file)?, place)?;
    Ok(())
}

fn each_file(root: &Path, folder: &Path, each: &mut impl FnMut(&Path, &Path) -> Result<()>) -> Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            each_file(root, &path, each)?;
        } else if path.exists() {
            each(path.strip_prefix(root)?, &path)?;
        }
    }
    Ok(())
}
