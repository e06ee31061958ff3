//! `webloom diff`.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
    process::ExitCode,
};

use clap::Args;
use regex::Regex;

use super::{
    CommandFailure, directory,
    listing::{self, FormatArg, Listing, one_of, without_login},
    outcome,
};
use crate::{
    report::Column,
    store::{ComparedPage, ReadSide, StoreError},
    url::WebUrl,
};

/// Arguments of `diff`.
#[derive(Debug, Args)]
pub(super) struct DiffArgs {
    /// One crawl directory, such as of the site
    before: PathBuf,
    /// Another one, such as of a staging site
    after: PathBuf,
    #[command(flatten)]
    format: FormatArg,
    /// Only differences of this kind
    #[arg(long, value_parser = one_of(Difference::ALL, Difference::as_str))]
    change: Option<Difference>,
    /// Only paths that match this regular expression
    #[arg(long = "match", value_name = "REGEX")]
    matching: Option<Regex>,
}

/// How two crawls differ in a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Difference {
    Added,
    Removed,
    Changed,
    ChangedText,
    Redirected,
}

impl Difference {
    const ALL: [Self; 5] = [Self::Added, Self::Removed, Self::Changed, Self::ChangedText, Self::Redirected];

    fn as_str(self) -> &'static str {
        match self {
            Self::Added => "added",
            Self::Removed => "removed",
            Self::Changed => "changed",
            Self::ChangedText => "changed_text",
            Self::Redirected => "redirected",
        }
    }
}

const COLUMNS: [Column; 4] =
    [Column::plain("change"), Column::url("path"), Column::plain("before"), Column::plain("after")];

/// What a table has on a terminal.
const SHORT: [&str; 2] = ["change", "path"];

/// What is at the paths of a crawl.
type Pages = BTreeMap<String, ComparedPage>;

pub(super) fn run(args: &DiffArgs) -> Result<ExitCode, CommandFailure> {
    let (before, after) = (pages(&args.before)?, pages(&args.after)?);
    let paths: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
    let mut listing = Listing::begin(&COLUMNS, &args.format.shown(&COLUMNS, &SHORT), &args.format);
    let mut any = false;
    for path in paths {
        let sides = [before.get(path), after.get(path)];
        let Some(change) =
            difference(sides[0], sides[1]).filter(|found| args.change.is_none_or(|wanted| *found == wanted))
        else {
            continue;
        };
        if args.matching.as_ref().is_some_and(|matching| !matching.is_match(path)) {
            continue;
        }
        any = true;
        let [before, after] = sides.map(|side| side.and_then(|page| shown(page, change)));
        if !listing.add(&[change.as_str().into(), path.as_str().into(), before.into(), after.into()]) {
            break;
        }
    }
    let ended = listing.end()?;
    if !any {
        outcome::tell("no path differs");
    }
    Ok(ended)
}

/// The pages of a crawl by their paths; those of other hosts than the one with most pages have their URLs.
fn pages(dir: &Path) -> Result<Pages, CommandFailure> {
    let records = directory::records(dir)?;
    records.last_sequence()?.ok_or_else(|| StoreError::Empty { path: dir.to_owned() })?;
    let mut found = Vec::new();
    let mut hosts: BTreeMap<String, usize> = BTreeMap::new();
    records.compared(|page| {
        if let Ok(url) = WebUrl::parse(&page.url).as_ref().map(WebUrl::origin) {
            *hosts.entry(url.to_string()).or_default() += usize::from(page.redirect.is_none());
        }
        found.push(page);
    })?;
    let own = hosts.into_iter().max_by_key(|(_, pages)| *pages).map(|(host, _)| host).unwrap_or_default();
    let keyed = found.into_iter().map(|page| {
        let redirect = page.redirect.as_deref().map(|target| path(target, &own));
        (path(&page.url, &own), ComparedPage { redirect, ..page })
    });
    Ok(keyed.collect())
}

/// Path and query of a URL of this origin; else the URL.
fn path(url: &str, own: &str) -> String {
    let url = without_login(url);
    let path = WebUrl::parse(&url).ok().filter(|parsed| parsed.origin().to_string() == own);
    path.map_or(url, |parsed| parsed.path_and_query().to_owned())
}

/// How they differ, if they do.
fn difference(before: Option<&ComparedPage>, after: Option<&ComparedPage>) -> Option<Difference> {
    let (before, after) = match (before, after) {
        (None, None) => return None,
        (None, Some(_)) => return Some(Difference::Added),
        (Some(_), None) => return Some(Difference::Removed),
        (Some(before), Some(after)) => (before, after),
    };
    let says_other = before.text.zip(after.text).is_some_and(|(before, after)| before != after);
    if before.redirect != after.redirect {
        Some(Difference::Redirected)
    } else if before.title != after.title || says_other {
        Some(Difference::ChangedText)
    } else {
        (before.digest != after.digest && before.redirect.is_none()).then_some(Difference::Changed)
    }
}

/// What is at a path: where it redirects to, or the digest of the body.
fn shown(page: &ComparedPage, change: Difference) -> Option<String> {
    let redirect = page.redirect.clone().filter(|_| change != Difference::Changed);
    redirect.or_else(|| page.digest.as_ref().map(listing::digest))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(digest: u8, title: &str, text: Option<u8>) -> ComparedPage {
        let (digest, text) = (Some([digest; 32]), text.map(|text| [text; 32]));
        ComparedPage { url: "http://h/".to_owned(), redirect: None, digest, title: Some(title.to_owned()), text }
    }

    fn redirect(to: &str) -> ComparedPage {
        ComparedPage { redirect: Some(to.to_owned()), title: None, ..page(0, "", None) }
    }

    #[test]
    fn texts_decide_before_bytes_and_redirects_before_both() {
        let differ = |before: &ComparedPage, after: &ComparedPage| difference(Some(before), Some(after));
        let one = page(1, "a", Some(1));
        assert_eq!(differ(&one, &one), None);
        assert_eq!(differ(&one, &page(2, "a", Some(1))), Some(Difference::Changed));
        assert_eq!(differ(&one, &page(2, "a", None)), Some(Difference::Changed));
        assert_eq!(differ(&one, &page(2, "a", Some(2))), Some(Difference::ChangedText));
        assert_eq!(differ(&one, &page(2, "b", Some(1))), Some(Difference::ChangedText));
        assert_eq!(differ(&one, &redirect("/x")), Some(Difference::Redirected));
        assert_eq!(differ(&redirect("/y"), &redirect("/x")), Some(Difference::Redirected));
        assert_eq!(differ(&redirect("/x"), &redirect("/x")), None);
        assert_eq!(difference(None, Some(&one)), Some(Difference::Added));
        assert_eq!(difference(Some(&one), None), Some(Difference::Removed));
    }
}
