//! `webloom links`.

use std::{path::PathBuf, process::ExitCode};

use clap::Args;

use super::{
    CommandFailure, directory,
    listing::{FormatArg, Listing, without_login},
    outcome,
};
use crate::{
    report::{Column, Value},
    store::{LinkLine, LinkQuery, LinksRead, ReadSide, StoreError},
    url::WebUrl,
};

/// Arguments of `links`.
#[derive(Debug, Args)]
pub(super) struct LinksArgs {
    /// Crawl directory
    dir: PathBuf,
    #[command(flatten)]
    question: Question,
    #[command(flatten)]
    format: FormatArg,
}

/// Which links are listed: exactly one of these.
#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
#[expect(clippy::struct_excessive_bools, reason = "they are flags, of which one is given")]
struct Question {
    /// Links from all pages to this URL
    #[arg(long, value_name = "URL")]
    to: Option<String>,
    /// Links on this page
    #[arg(long, value_name = "URL")]
    from: Option<String>,
    /// Links to URLs that answer with an error
    ///
    /// An error is a 4xx, a 5xx, or no answer at all. The list includes links to redirects that end at such a URL.
    #[arg(long)]
    broken: bool,
    /// Links to URLs that redirect
    ///
    /// The list has the end of the redirects.
    #[arg(long)]
    redirects: bool,
    /// Links that leave the scope
    ///
    /// Webloom keeps them only if `store.links` is "full", the default.
    #[arg(long)]
    external: bool,
    /// Pages to which no page links
    ///
    /// A sitemap, a feed or an earlier link has led there: `from` is the URL that did.
    #[arg(long)]
    orphans: bool,
}

const COLUMNS: [Column; 13] = [
    Column::url("to"),
    Column::plain("status"),
    Column::plain("outcome"),
    Column::plain("reason"),
    Column::url("redirect"),
    Column::plain("redirect_status"),
    Column::plain("redirect_outcome"),
    Column::plain("redirect_loop"),
    Column::url("from"),
    Column::plain("element"),
    Column::plain("rel"),
    Column::plain("hreflang"),
    Column::plain("text"),
];

/// What a table has on a terminal.
const SHORT: [&str; 4] = ["status", "to", "from", "text"];

pub(super) fn run(args: &LinksArgs) -> Result<ExitCode, CommandFailure> {
    let records = directory::records(&args.dir)?;
    records.last_sequence()?.ok_or_else(|| StoreError::Empty { path: args.dir.clone() })?;
    let query = args.question.query()?;
    let begin = || Listing::begin(&COLUMNS, &args.format.shown(&COLUMNS, &SHORT), &args.format);
    let mut listing = None;
    let read = records.links(&query, |line| listing.get_or_insert_with(begin).add(&row(&line)))?;
    if !read.is_known
        && let LinkQuery::To(url) | LinkQuery::From(url) = &query
    {
        return Err(args.unknown(url, read));
    }
    if listing.is_none() {
        outcome::tell(if args.question.orphans { "each page has a link to it" } else { "no link matches" });
    }
    args.tell_what_is_not_kept(read);
    listing.unwrap_or_else(begin).end()
}

impl Question {
    fn query(&self) -> Result<LinkQuery, CommandFailure> {
        let url = |flag, text: &str| {
            let read = WebUrl::parse(text).map(WebUrl::without_credentials);
            read.map_err(|error| {
                CommandFailure::Usage(format!("{flag} {text:?}: {error}; give a URL such as https://example.org/page"))
            })
        };
        Ok(match (&self.to, &self.from) {
            (Some(to), _) => LinkQuery::To(url("--to", to)?),
            (_, Some(from)) => LinkQuery::From(url("--from", from)?),
            _ if self.broken => LinkQuery::Broken,
            _ if self.redirects => LinkQuery::Redirects,
            _ if self.orphans => LinkQuery::Orphans,
            _ => LinkQuery::External,
        })
    }
}

impl LinksArgs {
    /// A URL that the crawl does not know is a slip.
    fn unknown(&self, url: &WebUrl, read: LinksRead) -> CommandFailure {
        let flag = if self.question.to.is_some() { "--to" } else { "--from" };
        let outside = if read.unlabelled > 0 && self.question.to.is_some() {
            " Webloom keeps links that leave the scope only if store.links is \"full\"."
        } else {
            ""
        };
        CommandFailure::Usage(format!(
            "{flag} {url}: {} has no such URL. `webloom pages` lists those it has, and `webloom explain url` shows how Webloom \
             writes a URL.{outside}",
            self.dir.display()
        ))
    }

    /// Says what could not be listed.
    fn tell_what_is_not_kept(&self, read: LinksRead) {
        if read.unlabelled == 0 || !self.question.external {
            return;
        }
        outcome::tell(&format!(
            "the links that leave the scope are not kept for {} of {} pages: set store.links = \"full\" and crawl again",
            read.unlabelled, read.pages
        ));
    }
}

/// The URLs that redirect to each other, and the first once more.
fn shown_loop(circle: &[String]) -> String {
    circle.iter().chain(circle.first()).map(|url| without_login(url)).collect::<Vec<_>>().join(" -> ")
}

fn row(line: &LinkLine) -> [Value<'_>; COLUMNS.len()] {
    let LinkLine { from, to, label } = line;
    let (label, redirect) = (label.as_ref(), to.redirect.as_ref());
    let circle = redirect.filter(|to| !to.circle.is_empty()).map(|to| shown_loop(&to.circle));
    [
        to.url.as_deref().map(without_login).into(),
        to.status.into(),
        to.outcome.as_deref().into(),
        to.reason.as_deref().into(),
        redirect.map(|to| without_login(&to.url)).into(),
        redirect.and_then(|to| to.status).into(),
        redirect.and_then(|to| to.outcome.as_deref()).into(),
        circle.into(),
        without_login(from).into(),
        label.map(|label| label.element.as_str()).into(),
        label.and_then(|label| label.rel.as_deref()).into(),
        label.and_then(|label| label.language.as_deref()).into(),
        label.map(|label| &*label.text).into(),
    ]
}
